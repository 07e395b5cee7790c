"""The results of accuracy estimation: how far every method is off, with bias, spread and tests, as FRAP's Table 1.

An error is |estimated - true| of one model on one condition; a line of the table pools its conditions with all models,
checkpoints and seeds. The last line is the unweighted mean of the lines. A deviation is that of the absolute errors: it
says how unequal they are, not how sure their mean is.
"""

from collections.abc import Iterator

import numpy as np

from openworld.evaluations.accuracy_estimation.ablations import threshold_pairs
from openworld.evaluations.accuracy_estimation.crossed_bootstrap import CrossedBootstrap
from openworld.evaluations.accuracy_estimation.measurements import (
    NO_ESTIMATE,
    Measurements,
    finite,
    mean_of,
    read_measurements,
    value_of,
)
from openworld.evaluations.accuracy_estimation.record import RAW, SCALED
from openworld.evaluations.accuracy_estimation.reference_results import (
    CALIBRATION,
    CALIBRATIONS,
    NOT_KNOWN,
    TEMPERATURE,
    alignment,
    calibration,
    temperatures,
)
from openworld.results import METRICS, Metric, Result, Results, RunFolder, Value, interval_of, over_seeds

NAME = "accuracy-estimation"
ERROR, BIAS, ESTIMATED = (METRICS[key] for key in ("absolute_error", "bias", "estimated_accuracy"))
_UP = (0.0, None)
MEDIAN = Metric("median_absolute_error", "median", better=-1)
WORST = Metric("largest_absolute_error", "worst", better=-1)
GIVEN = Metric("estimates", "n", "count", 0, 0, _UP)
EXPECTED = Metric("estimates_expected", "expected", "count", 0, 0, _UP)
WARNINGS = Metric("warnings", "warnings", "count", 0, 0, _UP)
LINES_WON = Metric("lines_won", "best in", "count", 0, 0, _UP)
COVERAGE = Metric("interval_coverage", "intervals that hold the truth, %", digits=0, better=0)
WIDTH = Metric("interval_width", "their width", better=0)
TRUE_ACCURACY = Metric("true_accuracy", "true accuracy", better=0)
SHIFT_ERROR = Metric("absolute_error_of_shift", "mean absolute error", better=-1)
SEVERITY_ERROR = Metric("absolute_error_at_severity", "mean absolute error", better=-1)
SEVERITY_BIAS = Metric("bias_at_severity", "bias", "points", better=0, bounds=(-1.0, 1.0))
SOURCE_ACCURACY = Metric("source_accuracy", "source accuracy", better=0)
FIT, ESTIMATE = (Metric(f"{stage}_seconds", f"{title}, ms", "milliseconds", 1, 0, _UP)
                 for stage, title in (("fit", "fit"), ("estimate", "one condition")))  # fmt: skip
THRESHOLD_COST = Metric("threshold_cost", "without − with", "points", better=0, bounds=(-1.0, 1.0))
TIMES_FASTEST = Metric("times_fastest", "× fastest", "fraction", 1, 0, _UP)


def results(run: RunFolder) -> tuple[Results, Measurements]:
    """Every number of a run with all tests, and the measurements that they rest on."""
    measured = read_measurements(run)
    bootstrap = CrossedBootstrap(measured)
    errors = Results(NAME, tuple(_errors(bootstrap)))
    parts = (_lines_won(errors, measured), _shifts(measured), _severities(measured), _coverage(measured))
    parts += (
        _thresholds(errors, measured),
        _models(measured),
        calibration(bootstrap),
        temperatures(measured),
        alignment(bootstrap),
        _times(measured),
    )
    rows = (*errors, *(result for part in (*parts, _estimates(measured)) for result in part))
    baseline, first = measured.baseline, leader(errors, measured)
    comparisons = [test for line in measured.lines for test in bootstrap.compare_all(baseline, line)]
    if first not in (None, baseline):
        comparisons += bootstrap.compare_all(first, measured.main)
    return Results(NAME, rows, tuple(comparisons)), measured


def is_complete(found: Results, label: str, line: str) -> bool:
    """Whether a method gave an estimate every time; only then can it be the best."""
    return found.value(label, GIVEN.key, images=line).value == found.value("", EXPECTED.key, images=line).value


def best(found: Results, measured: Measurements, line: str) -> tuple[str, ...]:
    """The methods of the smallest error in a line, among those that always gave an estimate; rounding aside."""
    labels = [label for label in measured.labels if is_complete(found, label, line)]
    errors = {label: found.value(label, ERROR.key, images=line).value for label in labels}
    known = {label: round(error, 12) for label, error in errors.items() if error is not None}
    return tuple(label for label, error in known.items() if error == min(known.values()))


def leader(found: Results, measured: Measurements) -> str | None:
    """The method of the smallest error on average, of several the first; None where none is complete."""
    return next(iter(best(found, measured, measured.main)), None)


def _errors(bootstrap: CrossedBootstrap) -> Iterator[Result]:
    """Error, bias, median and largest error, and the number of estimates, in every line."""
    measured = bootstrap.measured
    for line in measured.lines:
        known = np.isfinite(measured.accuracy) & measured.of_line(line)
        for place, label in enumerate(measured.labels):
            signed = np.where(known, measured.signed_error[place], np.nan)
            sizes = finite(np.abs(signed))
            yield bootstrap.result(label, ERROR, np.abs(signed), line, NO_ESTIMATE)
            yield bootstrap.result(label, BIAS, signed, line, NO_ESTIMATE)
            yield Result(label, MEDIAN, value_of(np.median, sizes), {"images": line})
            yield Result(label, WORST, value_of(np.max, sizes), {"images": line})
            yield Result(label, GIVEN, Value(float(sizes.size)), {"images": line})
        yield Result("", EXPECTED, Value(float(known.sum())), {"images": line})


def _lines_won(errors: Results, measured: Measurements) -> Iterator[Result]:
    winners = [best(errors, measured, row) for row in measured.rows]
    for label in measured.labels:
        yield Result(label, LINES_WON, Value(float(sum(label in names for names in winners))))


def _shifts(measured: Measurements) -> Iterator[Result]:
    """Errors and true accuracy under every shift; severities, models, checkpoints and seeds pooled."""
    for row, shift in dict.fromkeys((condition.row, condition.shift) for condition in measured.conditions):
        chosen = np.array([(condition.row, condition.shift) == (row, shift) for condition in measured.conditions])
        where = {"images": row, "shift": shift}
        true = measured.accuracy[:, chosen]
        yield Result("", TRUE_ACCURACY, value_of(np.mean, finite(true)), where)
        yield Result("", EXPECTED, Value(float(np.isfinite(true).sum())), where)
        for label, errors in zip(measured.labels, measured.signed_error[:, :, chosen], strict=True):
            sizes = finite(np.abs(errors))
            yield Result(label, SHIFT_ERROR, value_of(np.mean, sizes), where)
            yield Result(label, GIVEN, Value(float(sizes.size)), where)


def _severities(measured: Measurements) -> Iterator[Result]:
    """Errors, bias and true accuracy at every severity of all corruptions."""
    for severity in sorted({condition.severity for condition in measured.conditions} - {None}):
        chosen = np.array([condition.severity == severity for condition in measured.conditions])
        where = {"severity": severity}
        yield Result("", TRUE_ACCURACY, value_of(np.mean, finite(measured.accuracy[:, chosen])), where)
        for label, errors in zip(measured.labels, measured.signed_error[:, :, chosen], strict=True):
            known = finite(errors)
            yield Result(label, SEVERITY_ERROR, value_of(np.mean, np.abs(known)), where)
            yield Result(label, SEVERITY_BIAS, value_of(np.mean, known), where)
            yield Result(label, GIVEN, Value(float(known.size)), where)


def _coverage(measured: Measurements) -> Iterator[Result]:
    """How often the intervals of a method's estimates hold the true accuracy, and how wide they are."""
    for place, label in enumerate(measured.labels):
        low, high = measured.low[place], measured.high[place]
        known = np.isfinite(low) & np.isfinite(high) & np.isfinite(measured.accuracy)
        if known.any():
            held = (low <= measured.accuracy) & (measured.accuracy <= high)
            yield Result(label, COVERAGE, Value(float(held[known].mean())))
            yield Result(label, WIDTH, Value(float((high - low)[known].mean())))


def _models(measured: Measurements) -> Iterator[Result]:
    """What was judged: on the source set, and truly in every line; means over seeds."""
    for title, where in {model.title: model.place for model in measured.models}.items():
        places = [place for place, model in enumerate(measured.models) if model.title == title]
        sources = [measured.records[place].source for place in places]
        numbers = [(SOURCE_ACCURACY, {}, [source.accuracy for source in sources])]
        numbers += [(TEMPERATURE, {}, [source.temperature for source in sources])]
        numbers += [
            (CALIBRATION, {"calibration": CALIBRATIONS[kind]}, [source.ece.get(kind) for source in sources])
            for kind in (RAW, SCALED)
        ]
        for row in measured.rows:
            true = [mean_of(measured.accuracy[place, measured.of_row(row)]) for place in places]
            numbers.append((TRUE_ACCURACY, {"images": row}, true))
        seeds = tuple(measured.models[place].seed for place in places)
        for metric, further, values in numbers:
            value = over_seeds(values, metric, reason=NOT_KNOWN)
            yield Result("", metric, value, where | further, seeds, tuple(values))


def _thresholds(errors: Results, measured: Measurements) -> Iterator[Result]:
    """What leaving the threshold out costs in mean absolute error (FRAP, Table 6)."""
    for twin, bare in threshold_pairs(measured.methods):
        for line in measured.lines:
            error, own = (errors.value(label, ERROR.key, images=line).value for label in (bare, twin))
            cost = Value(None, reason=NO_ESTIMATE) if None in (error, own) else Value(error - own)
            yield Result(bare, THRESHOLD_COST, cost, {"images": line, "baseline": twin})


def _times(measured: Measurements) -> Iterator[Result]:
    """What the methods cost: every one timed alone, means over models; of those that were timed for every model."""
    seconds = {
        label: [[getattr(seconds, stage).get(label) for seconds in measured.seconds] for stage in ("fit", "estimate")]
        for label in measured.labels
    }
    known = {
        label: (float(np.mean(fit)), float(np.mean(estimate)))
        for label, (fit, estimate) in seconds.items()
        if None not in (*fit, *estimate)
    }
    fastest = min((estimate for _, estimate in known.values()), default=0.0)
    for label, (fit, estimate) in known.items():
        yield Result(label, FIT, Value(fit))
        yield Result(label, ESTIMATE, Value(estimate))
        ratio = Value(estimate / fastest) if fastest else Value(None, reason="the fastest took no time")
        yield Result(label, TIMES_FASTEST, ratio)


def _estimates(measured: Measurements) -> Iterator[Result]:
    """Every estimate beside the true accuracy, one by one."""
    for m, model in enumerate(measured.models):
        for c, condition in enumerate(measured.conditions):
            n = int(measured.images[m, c])
            if not n:
                continue
            where = condition.place | model.place | {"seed": model.seed}
            yield Result("", TRUE_ACCURACY, Value(float(measured.accuracy[m, c])), where)
            yield Result("", METRICS["images"], Value(float(n)), where)
            for k, label in enumerate(measured.labels):
                ends = (float(measured.low[k, m, c]), float(measured.high[k, m, c]))
                intervals = interval_of(ends, "images", n) if np.isfinite(ends).all() else ()
                error, warnings = float(measured.error[k, m, c]), int(measured.warnings[k, m, c])
                value = Value(1 - error, intervals) if np.isfinite(error) else Value(None, reason=NO_ESTIMATE)
                yield Result(label, ESTIMATED, value, where)
                if warnings:
                    yield Result(label, WARNINGS, Value(float(warnings)), where)
