"""Every number of a curve estimate as tidy rows: of the levels, of the curve, and of what zero-shot names otherwise."""

from collections.abc import Iterator

from openworld.applications.estimate.by_level.curve_estimate import (
    COMPARISONS,
    OWN_NUMBERS,
    CurveEstimate,
    CurveNumber,
    LevelPoint,
)
from openworld.applications.estimate.results import DIFFERENCE, ESTIMATED, IMAGES, TARGET, TRUE
from openworld.results import METRICS, Metric, Result, Results, Value, interval_of

CLASSES = METRICS["classes"]
NAMED_DIFFERENTLY = Metric("named_differently", "zero-shot differs", better=0)
UNLABELLED = Metric("unlabelled_accuracy", "of its own images", better=0)
BOUND = Metric("delta_auc_bound", "|ΔAUC| at most", "points", better=0, bounds=(0.0, 1.0))
NEEDS_LABELS = "a difference to zero-shot needs labels where the two name images differently: "
NO_ZERO_SHOT = "no zero-shot scores were named"


def results_of(estimate: CurveEstimate) -> Results:
    """Return all rows; `level` says which level a row is of."""
    rows = [row for point in estimate.levels for row in _level(estimate, point)]
    return Results("estimate", (*rows, *_curves(estimate), *_comparisons(estimate)))


def where(point: LevelPoint) -> dict:
    """Return the place of a level."""
    return {**TARGET, "level": point.level, "level_name": point.name}


def _level(estimate: CurveEstimate, point: LevelPoint) -> Iterator[Result]:
    place = where(point)
    yield Result("", IMAGES, Value(point.n), place)
    yield Result("", CLASSES, Value(point.classes), place)
    if point.accuracy is not None:
        yield Result("", TRUE, Value(point.accuracy), place)
    if point.differ is not None:
        yield Result("zero-shot", NAMED_DIFFERENTLY, Value(point.differ), place)
    for name, number in point.methods.items():
        yield Result(name, ESTIMATED, value_of(number), place)
        if name in point.unlabelled:
            yield Result(name, UNLABELLED, Value(point.unlabelled[name]), place)
        if point.accuracy is not None and number.value is not None and point.level > 0:
            yield Result(name, DIFFERENCE, Value(number.value - point.accuracy), place)


def _curves(estimate: CurveEstimate) -> Iterator[Result]:
    for name in estimate.methods:
        for key in OWN_NUMBERS:
            yield Result(name, METRICS[key], value_of(estimate.numbers[name][key]), TARGET)
    for key in OWN_NUMBERS if estimate.truth else ():
        yield Result("truth", METRICS[key], Value(estimate.truth[key]), TARGET)


def _comparisons(estimate: CurveEstimate) -> Iterator[Result]:
    """Yield the numbers that compare with zero-shot, none of which is given, and what bounds them."""
    compared = estimate.zero_shot
    reason = NO_ZERO_SHOT if compared is None else NEEDS_LABELS + compared.why
    for name in estimate.methods:
        for key in COMPARISONS:
            yield Result(name, METRICS[key], Value(None, reason=reason), TARGET)
    if compared is not None:
        yield Result("zero-shot", BOUND, Value(compared.bound), TARGET)
        yield Result("zero-shot", NAMED_DIFFERENTLY, Value(compared.differ), TARGET)


def value_of(number: CurveNumber) -> Value:
    """Return a number with its interval over images."""
    intervals = interval_of(number.interval, "images")
    return Value(number.value, intervals, "" if number.value is not None else number.reason or "the method tells none")
