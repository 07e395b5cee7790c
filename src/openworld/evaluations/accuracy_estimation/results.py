"""The results of accuracy estimation: how far every method is off, with bias, spread and tests, as FRAP's Table 1.

An error is |estimated - true| of one model on one condition. A result at {"images": ...} pools the conditions of a line
with all models, checkpoints and seeds; one at no place is the unweighted mean of the lines, or the only line. A
deviation is that of the absolute errors: it says how unequal they are, not how sure their mean is.
"""

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from openworld.evaluations.accuracy_estimation import cards
from openworld.evaluations.accuracy_estimation.ablations import threshold_pairs
from openworld.evaluations.accuracy_estimation.cards import ERROR, EXPECTED, GIVEN, TRUE_ACCURACY
from openworld.evaluations.accuracy_estimation.crossed_bootstrap import CrossedBootstrap
from openworld.evaluations.accuracy_estimation.measurements import (
    NO_ESTIMATE,
    Measurements,
    finite,
    mean_of,
    read_measurements,
    value_of,
)
from openworld.evaluations.accuracy_estimation.reference_results import NOT_KNOWN, alignment, calibration, temperatures
from openworld.results import (
    METRICS,
    Comparison,
    Interval,
    Metric,
    Result,
    Results,
    RunFolder,
    Value,
    join_seeds,
    over_seeds,
    standing,
)

NAME = "accuracy-estimation"
SINGLE = (TRUE_ACCURACY, METRICS["images"], cards.ESTIMATED, cards.WARNINGS)
"""What results hold of every model under every condition; of the rest means."""

Summary = Callable[[np.ndarray], float]
"""A function such as `np.median`."""


def read_results(run: RunFolder) -> tuple[Results, Measurements]:
    """Return every number of a run with all tests, and the measurements that they rest on."""
    measured = read_measurements(run)
    bootstrap = CrossedBootstrap(measured)
    errors = Results(NAME, tuple(_errors(bootstrap)))
    rows = [*errors, *_lines_won(errors, measured), *_shifts(measured), *_severities(measured), *_coverage(measured)]
    rows += [*_thresholds(errors, measured), *_models(measured)]
    rows += [*calibration(bootstrap), *temperatures(measured), *alignment(bootstrap)]
    rows += [*_times(measured), *(row for _, row in measured.single if row.metric in SINGLE)]
    return Results(NAME, tuple(rows), tuple(_tests(bootstrap, errors))), measured


def is_complete(results: Results, label: str, place: Mapping[str, str]) -> bool:
    """Return whether a method gave an estimate every time; only then can it be the best."""
    return results.value(label, GIVEN.key, **place).value == results.value("", EXPECTED.key, **place).value


def best(results: Results, measured: Measurements, line: str) -> tuple[str, ...]:
    """Return the methods of the smallest error in a line, among those that always gave an estimate; rounding aside."""
    place = measured.place(line)
    labels = [label for label in measured.labels if is_complete(results, label, place)]
    found = standing({label: results.value(label, ERROR.key, **place).value for label in labels}, better=ERROR.better)
    return found.names if found else ()


def _tests(bootstrap: CrossedBootstrap, errors: Results) -> Iterator[Comparison]:
    """Every method against the baseline in every line, and against the best of the run, corrected for its choice.

    The two are families of their own, so that the best and the baseline are compared twice, once from each side.
    """
    measured = bootstrap.measured
    baseline, leaders = measured.baseline, best(errors, measured, measured.main)[:1]
    for line in measured.lines:
        yield from bootstrap.compare_all(baseline, line, chosen=line == measured.main and baseline in leaders)
    for name in leaders:
        if name != baseline:
            yield from bootstrap.compare_all(name, measured.main, chosen=True)


def _errors(bootstrap: CrossedBootstrap) -> Iterator[Result]:
    """Error, bias, median and largest error, and the number of estimates, in every line."""
    measured = bootstrap.measured
    for line in measured.lines:
        known, place = np.isfinite(measured.accuracy) & measured.of_line(line), measured.place(line)
        for label, errors in zip(measured.labels, measured.signed_error, strict=True):
            signed = np.where(known, errors, np.nan)
            summaries = {cards.MEDIAN: _of_sizes(np.median), cards.WORST: _of_sizes(np.max)}
            yield bootstrap.result(label, ERROR, np.abs(signed), line, NO_ESTIMATE)
            yield bootstrap.result(label, cards.BIAS, signed, line, NO_ESTIMATE)
            yield from _summarise(label, signed, place, summaries)
        yield Result("", EXPECTED, Value(float(known.sum())), place)


def _lines_won(errors: Results, measured: Measurements) -> Iterator[Result]:
    winners = [best(errors, measured, row) for row in measured.rows]
    for label in measured.labels:
        yield Result(label, cards.LINES_WON, Value(float(sum(label in names for names in winners))))


def _shifts(measured: Measurements) -> Iterator[Result]:
    """Errors and true accuracy under every shift; severities, models, checkpoints and seeds pooled."""
    for row, shift in measured.shifts:
        chosen, where = measured.chosen(row=row, shift=shift), {"images": row, "shift": shift}
        true = finite(measured.accuracy[:, chosen])
        yield Result("", TRUE_ACCURACY, value_of(np.mean, true), where)
        yield Result("", EXPECTED, Value(float(true.size)), where)
        for label, errors in zip(measured.labels, measured.signed_error[:, :, chosen], strict=True):
            yield from _summarise(label, errors, where, {cards.SHIFT_ERROR: _of_sizes(np.mean)})


def _severities(measured: Measurements) -> Iterator[Result]:
    """Errors, bias and true accuracy at every severity of all corruptions."""
    for severity in sorted({condition.severity for condition in measured.conditions} - {None}):
        chosen, where = measured.chosen(severity=severity), {"severity": severity}
        yield Result("", TRUE_ACCURACY, value_of(np.mean, finite(measured.accuracy[:, chosen])), where)
        for label, errors in zip(measured.labels, measured.signed_error[:, :, chosen], strict=True):
            summaries = {cards.SEVERITY_ERROR: _of_sizes(np.mean), cards.SEVERITY_BIAS: np.mean}
            yield from _summarise(label, errors, where, summaries)


def _summarise(label: str, signed: np.ndarray, where: Mapping, summaries: Mapping[Metric, Summary]) -> Iterator[Result]:
    """What the signed errors of a method somewhere come to, and how many there are."""
    known = finite(signed)
    for metric, summary in summaries.items():
        yield Result(label, metric, value_of(summary, known), where)
    yield Result(label, GIVEN, Value(float(known.size)), where)


def _of_sizes(summary: Summary) -> Summary:
    """Return the summary of absolute errors."""
    return lambda signed: summary(np.abs(signed))


def _coverage(measured: Measurements) -> Iterator[Result]:
    """How often the intervals of a method's estimates hold the true accuracy, and how wide they are."""
    known: dict[str, list[tuple[float, Interval]]] = {}
    names = [condition.name for condition in measured.conditions]
    for model, row in measured.single:
        if row.metric.key == cards.ESTIMATED.key and row.value.intervals:
            truth = measured.accuracy[model, names.index(row.where["condition"])]
            known.setdefault(row.entity, []).append((truth, row.value.over()))
    for label, pairs in known.items():
        held = [interval.low <= truth <= interval.high for truth, interval in pairs]
        yield Result(label, cards.COVERAGE, Value(float(np.mean(held))))
        yield Result(label, cards.WIDTH, Value(float(np.mean([interval.width for _, interval in pairs]))))


def _models(measured: Measurements) -> Iterator[Result]:
    """What was judged: on the source set, and truly in every line; means over seeds."""
    yield from join_seeds([row for row in unit if "condition" not in row.where] for unit in measured.units)
    for title, where in {model.title: model.place for model in measured.models}.items():
        places = [place for place, model in enumerate(measured.models) if model.title == title]
        seeds = tuple(measured.models[place].seed for place in places)
        for row in measured.rows:
            true = [mean_of(measured.accuracy[place, measured.chosen(row=row)]) for place in places]
            value = over_seeds(true, TRUE_ACCURACY, reason=NOT_KNOWN)
            yield Result("", TRUE_ACCURACY, value, where | {"images": row}, seeds, tuple(true))


def _thresholds(errors: Results, measured: Measurements) -> Iterator[Result]:
    """What leaving the threshold out costs in mean absolute error (FRAP, Table 6)."""
    for twin, bare in threshold_pairs(measured.methods):
        for line in measured.lines:
            place = measured.place(line)
            without, with_it = (errors.value(label, ERROR.key, **place).value for label in (bare, twin))
            unknown = None in (without, with_it)
            cost = Value(None, reason=NO_ESTIMATE) if unknown else Value(without - with_it)
            yield Result(bare, cards.THRESHOLD_COST, cost, place | {"baseline": twin})


def _times(measured: Measurements) -> Iterator[Result]:
    """What the methods cost: every one timed alone, means over models; of those that were timed for every model."""
    known: dict[str, tuple[float, float]] = {}
    for label in measured.labels:
        fit, estimate = ([getattr(seconds, stage).get(label) for seconds in measured.seconds]
                         for stage in ("fit", "estimate"))  # fmt: skip
        if None not in (*fit, *estimate):
            known[label] = float(np.mean(fit)), float(np.mean(estimate))
    fastest = min((estimate for _, estimate in known.values()), default=0.0)
    for label, (fit, estimate) in known.items():
        yield Result(label, cards.FIT, Value(fit))
        yield Result(label, cards.ESTIMATE, Value(estimate))
        ratio = Value(estimate / fastest) if fastest else Value(None, reason="the fastest took no time")
        yield Result(label, cards.TIMES_FASTEST, ratio)
