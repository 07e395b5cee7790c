"""The results of accuracy estimation: how far every method is off, as FRAP's Table 1, and what references are like.

An error is |estimated - true| of one model on one condition. A result at {"images": ...} pools the conditions of a line
with all models, checkpoints and seeds; one at no place is the unweighted mean of the lines, or the only line. A
deviation is that of the absolute errors: it says how unequal they are, not how sure their mean is. References are told
by calibration on the targets (FRAP, Table 2 and Figure 3) and by the Semantic Alignment Score (section 5.3).
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields

import numpy as np

from openworld.estimators import FRAP
from openworld.label_free.benchmark import cards
from openworld.label_free.benchmark.arrays import NAME, NO_ESTIMATE, RunArrays, finite, value_of
from openworld.label_free.benchmark.cards import (
    ALIGNMENT,
    CALIBRATION,
    CLASSIFIERS,
    ERROR,
    EXPECTED,
    FIXED,
    FUSED,
    GIVEN,
    RAW,
    SCALED,
    TEMPERATURE,
    TRUE_ACCURACY,
    TTC,
    UNSCALED,
)
from openworld.label_free.benchmark.crossed_bootstrap import CrossedBootstrap
from openworld.results import (
    METRICS,
    Comparison,
    Metric,
    Result,
    Results,
    RunFolder,
    Value,
    join_seeds,
    over_seeds,
    standing,
    student,
)

ALL = "All conditions"
"""Where a mean is over all conditions alike, whatever their lines."""

SINGLE = (TRUE_ACCURACY, METRICS["images"], cards.ESTIMATED, cards.WARNINGS)
"""What results hold of every model under every condition; of the rest means."""

NOT_KNOWN = "no record has it"
DEFAULTS = {field.name: field.default for field in fields(FRAP)}
"""Settings of FRAP; those of RAP are among them."""

Summary = Callable[[np.ndarray], float]
"""A function of signed errors, such as `np.mean`."""


def _absolute(summary: Summary) -> Summary:
    return lambda signed: summary(np.abs(signed))


def read_results(run: RunFolder) -> tuple[Results, RunArrays]:
    """Return every number of a run with all tests, and the arrays that they rest on."""
    arrays = RunArrays(run)
    bootstrap = CrossedBootstrap(arrays)
    errors = Results(NAME, tuple(_errors(bootstrap)))
    winners = [best(errors, arrays, row) for row in arrays.rows]
    won = {label: float(sum(label in names for names in winners)) for label in arrays.labels}
    rows = [*errors, *(Result(label, cards.LINES_WON, Value(count)) for label, count in won.items())]
    rows += [*_by_shift_and_severity(arrays), *_coverage(arrays), *_thresholds(errors, arrays), *_models(arrays)]
    rows += [*_calibration(bootstrap), *_alignment(bootstrap), *_times(arrays)]
    rows += [row for _, row in arrays.single if row.metric in SINGLE]
    return Results(NAME, tuple(rows), tuple(_tests(bootstrap, errors))), arrays


def is_complete(results: Results, label: str, place: Mapping[str, str | float]) -> bool:
    """Return whether a method gave an estimate every time; only then can it be the best."""
    return results.value(label, GIVEN.key, **place).value == results.value("", EXPECTED.key, **place).value


def best(results: Results, arrays: RunArrays, line: str) -> tuple[str, ...]:
    """Return the methods of the smallest error in a line, among those that always gave an estimate; rounding aside."""
    place = arrays.place(line)
    labels = [label for label in arrays.labels if is_complete(results, label, place)]
    ranking = standing({label: results.value(label, ERROR.key, **place).value for label in labels}, better=-1)
    return ranking.names if ranking else ()


def _tests(bootstrap: CrossedBootstrap, errors: Results) -> Iterator[Comparison]:
    """Yield tests of every method against the baseline in every line, and against the best of the run."""
    # The two are families of their own, each corrected by itself, the second for the choice of the best too: the best
    # and the baseline are compared twice, once from each side.
    arrays = bootstrap.arrays
    baseline, main = arrays.baseline, arrays.lines[-1]
    leaders = best(errors, arrays, main)[:1]
    for line in arrays.lines:
        yield from bootstrap.compare_all(baseline, line, chosen=line == main and baseline in leaders)
    for name in leaders:
        if name != baseline:
            yield from bootstrap.compare_all(name, main, chosen=True)


def _errors(bootstrap: CrossedBootstrap) -> Iterator[Result]:
    """Yield error, bias, median and largest error, and the number of estimates, in every line."""
    arrays = bootstrap.arrays
    for line in arrays.lines:
        present, place = np.isfinite(arrays.accuracy) & arrays.of_line(line), arrays.place(line)
        for label, errors in zip(arrays.labels, arrays.signed_error, strict=True):
            signed = np.where(present, errors, np.nan)
            summaries = {cards.MEDIAN: _absolute(np.median), cards.WORST: _absolute(np.max)}
            yield bootstrap.result(label, ERROR, np.abs(signed), line, NO_ESTIMATE)
            yield bootstrap.result(label, cards.BIAS, signed, line, NO_ESTIMATE)
            yield from _summarise(label, signed, place, summaries)
        yield Result("", EXPECTED, Value(float(present.sum())), place)


def _by_shift_and_severity(arrays: RunArrays) -> Iterator[Result]:
    """Yield errors and true accuracy under every shift, and at every severity of all corruptions; the rest pooled."""
    of_shifts = {cards.SHIFT_ERROR: _absolute(np.mean)}
    severities = {each.severity for each in arrays.conditions if each.severity is not None}
    of_severities = {cards.SEVERITY_ERROR: _absolute(np.mean), cards.SEVERITY_BIAS: np.mean}
    groups: list[tuple[dict, dict, Mapping[Metric, Summary]]] = [
        ({"images": row, "shift": shift}, {"row": row, "shift": shift}, of_shifts) for row, shift in arrays.shifts
    ]
    groups += [({"severity": one}, {"severity": one}, of_severities) for one in sorted(severities)]
    for where, facts, summaries in groups:
        chosen = arrays.chosen(**facts)
        true = arrays.accuracy[:, chosen]
        yield Result("", TRUE_ACCURACY, value_of(np.mean, true), where)
        if "shift" in where:
            yield Result("", EXPECTED, Value(float(finite(true).size)), where)
        for label, errors in zip(arrays.labels, arrays.signed_error[:, :, chosen], strict=True):
            yield from _summarise(label, errors, where, summaries)


def _summarise(label: str, signed: np.ndarray, where: Mapping, summaries: Mapping[Metric, Summary]) -> Iterator[Result]:
    """Yield what the signed errors of a method somewhere come to, and how many there are."""
    for metric, summary in summaries.items():
        yield Result(label, metric, value_of(summary, signed), where)
    yield Result(label, GIVEN, Value(float(finite(signed).size)), where)


def _coverage(arrays: RunArrays) -> Iterator[Result]:
    """Yield how often the intervals of a method's estimates hold the true accuracy, and how wide they are."""
    held: dict[str, list[tuple[bool, float]]] = {}
    names = [condition.name for condition in arrays.conditions]
    for model, row in arrays.single:
        if row.metric.key == cards.ESTIMATED.key and row.value.intervals:
            truth, interval = arrays.accuracy[model, names.index(str(row.where["condition"]))], row.value.intervals[0]
            held.setdefault(row.entity, []).append((interval.low <= truth <= interval.high, interval.width))
    for label, pairs in held.items():
        for metric, values in zip((cards.COVERAGE, cards.WIDTH), zip(*pairs, strict=True), strict=True):
            yield Result(label, metric, Value(float(np.mean(values))))


def _models(arrays: RunArrays) -> Iterator[Result]:
    """Yield what was judged: on the source set, and truly in every line; means over seeds."""
    yield from join_seeds([row for row in unit if "condition" not in row.where] for unit in arrays.units)
    for title, where in {model.title: model.place for model in arrays.models}.items():
        places = [place for place, model in enumerate(arrays.models) if model.title == title]
        seeds = tuple(arrays.models[place].seed for place in places)
        for row in arrays.rows:
            true = [value_of(np.mean, arrays.accuracy[place, arrays.chosen(row=row)]).value for place in places]
            value = over_seeds(true, TRUE_ACCURACY, reason=NOT_KNOWN)
            yield Result("", TRUE_ACCURACY, value, where | {"images": row}, seeds, tuple(true))


def _thresholds(errors: Results, arrays: RunArrays) -> Iterator[Result]:
    """Yield what leaving the threshold out costs in mean absolute error (FRAP, Table 6)."""
    for twin, bare in threshold_pairs(arrays.methods):
        for line in arrays.lines:
            place = arrays.place(line)
            without, with_it = (errors.value(label, ERROR.key, **place).value for label in (bare, twin))
            unknown = without is None or with_it is None
            cost = Value(None, reason=NO_ESTIMATE) if unknown else Value(without - with_it)
            yield Result(bare, cards.THRESHOLD_COST, cost, place | {"baseline": twin})


def _times(arrays: RunArrays) -> Iterator[Result]:
    """Yield what the methods cost: each timed alone, means over models; of those that were timed for every model."""
    clocks = [record.timing.get("seconds", {}) for record in arrays.run.records]
    seconds: dict[str, tuple[float, float]] = {}
    for label in arrays.labels:
        fit, estimate = ([clock.get(stage, {}).get(label) for clock in clocks] for stage in ("fit", "estimate"))
        if None not in (*fit, *estimate):
            seconds[label] = float(np.mean(fit)), float(np.mean(estimate))
    fastest = min((estimate for _, estimate in seconds.values()), default=0.0)
    for label, (fit, estimate) in seconds.items():
        yield Result(label, cards.FIT, Value(fit))
        yield Result(label, cards.ESTIMATE, Value(estimate))
        ratio = Value(estimate / fastest) if fastest else Value(None, reason="the fastest took no time")
        yield Result(label, cards.TIMES_FASTEST, ratio)


def _calibration(bootstrap: CrossedBootstrap) -> Iterator[Result]:
    """Yield calibration errors of all models on the targets, and the median temperature that FRAP finds there."""
    arrays = bootstrap.arrays
    kinds = [(CLASSIFIERS, RAW), (CLASSIFIERS, SCALED)]
    kinds += [(name, kind) for name in arrays.references for kind in (RAW, UNSCALED, TTC, *FIXED)]
    conditions = np.isfinite(arrays.accuracy)
    seeds = np.array([model.seed for model in arrays.models])
    for entity, kind in kinds:
        values = arrays.read(entity, CALIBRATION, kind)
        if not np.isfinite(values).any():
            continue
        for line in arrays.lines:
            yield bootstrap.result(entity, CALIBRATION, values, line, NOT_KNOWN, calibration=kind)

        place = {"images": ALL, "calibration": kind}
        if not np.isfinite(values[conditions]).all():
            yield Result(entity, CALIBRATION, Value(None, reason="it is not known for every condition"), place)
            continue
        of_seeds = (values[conditions & (seeds == seed)[:, None]] for seed in arrays.seeds)
        per_seed = tuple(value_of(np.mean, each).value for each in of_seeds)
        # The bootstrap draws within lines: of several it knows the mean of the lines' means alone.
        drawn = bootstrap.intervals(values, arrays.rows[0]) if len(arrays.rows) == 1 else ()
        value = Value(float(values[conditions].mean()), (*drawn, *student(per_seed, CALIBRATION)))
        yield Result(entity, CALIBRATION, value, place, arrays.seeds, per_seed)

    for name in arrays.references:
        values = arrays.read(name, TEMPERATURE)
        for line in arrays.lines if np.isfinite(values).any() else ():
            median = value_of(np.median, values[:, arrays.of_line(line)], NOT_KNOWN)
            yield Result(name, TEMPERATURE, median, arrays.place(line))


def alignment_values(arrays: RunArrays) -> dict[str, np.ndarray]:
    """Return {prediction: its semantic alignment, float[M, C]}, of references and of their fusions; {} without any."""
    values = {}
    for name in arrays.references:
        fused = arrays.read(f"{FUSED}{name}", ALIGNMENT)
        if np.isfinite(fused).any():
            values.setdefault(CLASSIFIERS, arrays.read(CLASSIFIERS, ALIGNMENT))
            values |= {name: arrays.read(name, ALIGNMENT), f"{FUSED}{name}": fused}
    return values


def _alignment(bootstrap: CrossedBootstrap) -> Iterator[Result]:
    """Yield semantic alignment of the judged models, of references, and of both fused, and what fusing adds."""
    arrays = bootstrap.arrays
    values = alignment_values(arrays)
    for line in arrays.lines:
        for entity, scores in values.items():
            yield bootstrap.result(entity, ALIGNMENT, scores, line, NOT_KNOWN)
        for entity in (entity for entity in values if entity.startswith(FUSED)):
            for other in (CLASSIFIERS, entity.removeprefix(FUSED)):
                gain = values[entity] - values[other]
                yield bootstrap.result(entity, cards.ALIGNMENT_GAIN, gain, line, NOT_KNOWN, baseline=other)
                share = value_of(np.mean, finite(gain[:, arrays.of_line(line)]) > 0, NOT_KNOWN)
                yield Result(entity, cards.GAINS, share, arrays.place(line) | {"baseline": other})


def threshold_pairs(methods: Mapping[str, Mapping]) -> tuple[tuple[str, str], ...]:
    """Return labels of methods that differ in having a threshold alone: with it, and without (FRAP, Tables 3 and 6)."""
    # Methods are known by their settings, whatever their labels are.

    def but_for_rule(method: Mapping) -> tuple:
        return method["estimator"], method["reference"], DEFAULTS | method["settings"] | {"rule": None}

    without = [label for label, method in methods.items() if method["settings"].get("rule", "") is None]
    return tuple(
        (twin, bare)
        for bare in without
        for twin in methods
        if twin not in without and but_for_rule(methods[twin]) == but_for_rule(methods[bare])
    )
