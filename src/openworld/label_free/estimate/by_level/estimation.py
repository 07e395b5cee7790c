"""From saved scores of a source and of a stream by level to the rows of a dynamic robustness curve, by every method.

Accuracies are fractions in [0, 1]; None is a number that is not given, with a reason.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from openworld.core.errors import OpenworldError, unknown_name
from openworld.estimators import Outputs, find_estimator
from openworld.estimators.by_level import LevelAccuracies, accuracy_by_level
from openworld.label_free.estimate.accuracy_estimate import ScoredSet
from openworld.label_free.estimate.by_level.reading import LevelScores, StreamLevel, levels_of, names_present
from openworld.label_free.estimate.reading import Progress
from openworld.label_free.estimate.results import DIFFERENCE, ESTIMATED, IMAGES, NO_ACCURACY, SOURCE, TARGET, TRUE
from openworld.metrics import area_weights, curve_intervals, robustness
from openworld.metrics.estimate import LEVEL, share_interval
from openworld.results import METRICS, Metric, Result, Results, Value, interval_of
from openworld.tables.classes import UNKNOWN

OWN_NUMBERS = ("initial_accuracy", "auc", "worst_accuracy", "variation", "slope_variance")
COMPARISONS = ("positive_area", "negative_area", "delta_auc", "delta_pn")
USUAL = ("ATC-MC", "AC", "ATC-NE")
"""Estimated unless somebody names estimators; the first is quoted."""

CLASSES = METRICS["classes"]
NAMED_DIFFERENTLY = Metric("named_differently", "zero-shot differs", better=0)
UNLABELLED = Metric("unlabelled_accuracy", "of its own images", better=0)
BOUND = Metric("delta_auc_bound", "|ΔAUC| at most", "points", better=0, bounds=(0.0, 1.0))
BY_CONSTRUCTION = (
    "{name} takes {table} for right wherever the two part, so that zero-shot wins by construction, whatever the truth"
)
UNSEEN = (
    "where the truth was known, the difference of two estimates had the wrong sign in a quarter of the cases or more"
)
NEEDS_LABELS = "a difference to zero-shot needs labels where the two name images differently: "
NO_ZERO_SHOT = "no zero-shot scores were named"
NO_GROUPS = (
    "the stream has no column group, id, image or path: every row counts as an image of its own in intervals; name "
    "images that stand at several levels"
)


@dataclass(frozen=True)
class CurveEstimate:
    """What `openworld estimate --levels` says: rows, and what no row tells."""

    results: Results  # a row's place says its level; without one it is of the curve
    source: ScoredSet
    target: ScoredSet
    methods: tuple[str, ...]  # the first is quoted
    levels: tuple[str, ...]  # as the stream names them
    not_compared: str  # why no difference to zero-shot is quoted
    differing: int | None = None  # images that zero-shot names otherwise, each counted once; None without zero-shot
    grouped_by: str = ""  # the column that says which rows are not independent; "" where all are
    warnings: tuple[str, ...] = ()
    made: Mapping[str, str] = field(default_factory=dict)

    @property
    def quoted(self) -> str:
        return self.methods[0]

    @property
    def area(self) -> Value:
        return self.results.value(self.quoted, "auc", **TARGET)

    @property
    def unknown(self) -> tuple[str, ...]:
        return () if self.area.value is not None else (self.target.name,)


def estimate_curve(
    source: LevelScores,
    stream: LevelScores,
    estimators: Sequence[str] = (),
    zero_shot: str = "",
    progress: Progress | None = None,
) -> CurveEstimate:
    """Estimate the dynamic robustness curve of a stream without labels; the first of `estimators` is quoted."""
    # `zero_shot` is the table of zero-shot's scores in the stream, to say where the two part.
    source = source.take(np.flatnonzero(source.labels != UNKNOWN))
    _require_alike(source, stream, zero_shot)
    levels, methods = levels_of(stream, zero_shot), tuple(estimators) or USUAL
    home_names, home_rows = _home(source, levels)
    labelled, at_home = source.outputs(), source.take(home_rows).outputs(home_names)
    behind = [level for level in levels if level.level > 0]
    views = [_unlabelled(stream, level) for level in behind]
    groups = [stream.groups[level.rows] for level in behind]
    curves: dict[str, LevelAccuracies] = {}
    for done, name in enumerate(methods):
        if progress:
            progress(f"reading {len(levels)} levels", done)
        _require(name, (labelled, *views))
        curves[name] = accuracy_by_level(find_estimator(name)(), labelled, at_home, views, groups, home_rows=home_rows)

    # Level 0 is the labelled source; of the stream's own images there only what was not looked at, and what differs.
    right, rows = float((~at_home.wrong).mean()), []
    if levels[0] is behind[0]:
        first = source.level("source", 0.0, home_rows, home_names, zero_shot)
        first = replace(first, truth=None if (stream.labels == UNKNOWN).all() else right)
    else:
        first, unlabelled = replace(levels[0], rows=home_rows, classes=home_names), _unlabelled(stream, levels[0])
        for name in methods:
            said = find_estimator(name)().fit(labelled).estimate(unlabelled, interval=False).accuracy
            rows += [] if said is None else [Result(name, UNLABELLED, Value(said), first.place)]
    not_compared = _not_compared(methods, zero_shot)
    rows += [Result("", IMAGES, Value(len(side)), place) for side, place in ((source, SOURCE), (stream, TARGET))]
    rows = [*_of_levels((first, *behind), curves), *rows, *_of_curve((first, *behind), curves, not_compared)]
    otherwise = stream.named_otherwise(zero_shot) if zero_shot else None
    if otherwise is not None:
        rows.append(Result("zero-shot", NAMED_DIFFERENTLY, Value(float(otherwise.mean())), TARGET))
    return CurveEstimate(
        results=Results("estimate", tuple(rows)),
        source=ScoredSet(source.name, len(source), source.logits.shape[1], right),
        target=ScoredSet(stream.name, len(stream), stream.logits.shape[1]),
        methods=methods,
        levels=tuple(level.name for level in (first, *behind)),
        not_compared=not_compared,
        differing=None if otherwise is None else len(np.unique(stream.groups[otherwise])),
        grouped_by=stream.grouped_by,
        warnings=tuple(dict.fromkeys(_warnings(curves, stream, first, levels))),
    )


def _require_alike(source: LevelScores, stream: LevelScores, zero_shot: str) -> None:
    """Refuse a source without labels, scores for other classes, and a table of zero-shot's that the stream lacks."""
    if not len(source):
        raise OpenworldError(f"{source.name} has no labels; the source must say what its images are: add `labels`.")
    if source.logits.shape[1] != stream.logits.shape[1]:
        raise OpenworldError(
            f"{stream.name} has {stream.logits.shape[1]} classes and {source.name} {source.logits.shape[1]}; score "
            "both for all names of all levels, and write -inf for those that stand nowhere in one of them."
        )
    if zero_shot and zero_shot not in stream.tables:
        raise unknown_name(f"table of scores in {stream.name}:", zero_shot, stream.tables)


def _warnings(
    curves: Mapping[str, LevelAccuracies], stream: LevelScores, first: StreamLevel, levels: Sequence[StreamLevel]
) -> Iterator[str]:
    """Yield what is to be said against a curve; `first` is that of level 0, in the stream or in the source."""
    for name, accuracies in curves.items():
        yield from (f"{name}: {warning}" for warning in accuracies.warnings)
    if not stream.grouped_by:
        yield NO_GROUPS
    if levels[0].level > 0 and len(first.classes) > len(levels[0].classes):
        yield (
            f"level 0 stands among {len(first.classes)} names and level {levels[0].name} among "
            f"{len(levels[0].classes)}: write -inf in the source for names that have not come at level 0, or give the "
            "stream images of level 0"
        )


def _of_levels(levels: Sequence[StreamLevel], curves: Mapping[str, LevelAccuracies]) -> Iterator[Result]:
    """Yield the rows of every level."""
    for place, level in enumerate(levels):
        yield Result("", IMAGES, Value(len(level.rows)), level.place)
        yield Result("", CLASSES, Value(len(level.classes)), level.place)
        if level.truth is not None:
            yield Result("", TRUE, Value(level.truth), level.place)
        if level.differs is not None:
            yield Result("zero-shot", NAMED_DIFFERENTLY, Value(level.differs), level.place)
        for name, accuracies in curves.items():
            value = _point(accuracies, place)
            yield Result(name, ESTIMATED, value, level.place)
            if place and level.truth is not None and value.value is not None:
                yield Result(name, DIFFERENCE, Value(value.value - level.truth), level.place)


def _of_curve(
    levels: Sequence[StreamLevel], curves: Mapping[str, LevelAccuracies], not_compared: str
) -> Iterator[Result]:
    """Yield the rows of the whole curve, by every method and by labels, and between what a difference lies."""
    at = np.array([level.level for level in levels])
    for name, accuracies in curves.items():
        yield from _numbers(name, accuracies, at)
        yield from (Result(name, METRICS[key], Value(None, reason=not_compared), TARGET) for key in COMPARISONS)
    truth, differs = [level.truth for level in levels], [level.differs for level in levels]
    if None not in truth:
        curve = robustness(at, truth)
        yield from (Result("truth", METRICS[key], Value(float(getattr(curve, key))), TARGET) for key in OWN_NUMBERS)
    if any(share is not None for share in differs):  # names that part are all that a difference of the areas comes from
        bound = area_weights(at) @ np.array([1.0 if share is None else share for share in differs])
        yield Result("zero-shot", BOUND, Value(float(bound)), TARGET)


def _not_compared(methods: Sequence[str], zero_shot: str) -> str:
    """Return why no difference to zero-shot is quoted."""
    if not zero_shot:
        return NO_ZERO_SHOT
    resting = [name for name in methods if "reference" in find_estimator(name).needs]
    if resting and zero_shot == "reference":
        return NEEDS_LABELS + BY_CONSTRUCTION.format(name=" and ".join(resting), table=zero_shot)
    return NEEDS_LABELS + UNSEEN


def _home(source: LevelScores, levels: Sequence[StreamLevel]) -> tuple[np.ndarray, np.ndarray]:
    """Return the names of level 0, those of the stream's own level 0 or else all of the source's; and its images."""
    names = names_present(source.logits, source.name)
    if levels[0].level == 0:
        names = np.intersect1d(levels[0].classes, names)
    rows = np.flatnonzero(np.isin(source.labels, names))
    if len(names) < 2 or len(rows) < 2:
        raise OpenworldError(
            f"{len(rows)} labelled images of {source.name} are of the {len(names)} names that stand at level 0, "
            "expected two or more: the curve begins with the accuracy on labelled images of level 0."
        )
    return names, rows


def _unlabelled(stream: LevelScores, level: StreamLevel) -> Outputs:
    part = stream.take(level.rows)
    part.labels[:] = UNKNOWN
    return part.outputs(level.classes)


def _require(name: str, every: Sequence[Outputs]) -> None:
    """Refuse a method that needs what some outputs lack."""
    estimator = find_estimator(name)
    tables = {need: [getattr(outputs, need) for outputs in every] for need in estimator.needs if need != "labels"}
    missing = [need for need, of_need in tables.items() if any(each is None or not len(each) for each in of_need)]
    if hasattr(estimator, "score") or missing:
        raise OpenworldError(
            f"{name} needs {' and '.join(missing) or 'labelled shifted sets'} beside the logits of both files; "
            f"{', '.join(USUAL)} need none."
        )


def _point(curve: LevelAccuracies, place: int) -> Value:
    value = float(curve.accuracy[place])
    if np.isnan(value):
        return Value(None, reason=curve.reason or NO_ACCURACY)
    if curve.errors is None:
        return Value(value)
    spread = curve.errors.spread(np.eye(curve.accuracy.size)[None, place])
    return Value(value, interval_of(share_interval(value, spread, LEVEL), "images"))


def _numbers(name: str, estimated: LevelAccuracies, at: np.ndarray) -> Iterator[Result]:
    """Yield the numbers of a method's curve."""
    if np.isnan(estimated.accuracy).any():
        nothing = Value(None, reason=estimated.reason or NO_ACCURACY)
        yield from (Result(name, METRICS[key], nothing, TARGET) for key in OWN_NUMBERS)
        return
    curve = robustness(at, estimated.accuracy)
    intervals = {} if estimated.errors is None else curve_intervals(estimated.errors, at, 0)
    for key in OWN_NUMBERS:
        ends = None if key not in intervals else (intervals[key].low, intervals[key].high)
        yield Result(name, METRICS[key], Value(float(getattr(curve, key)), interval_of(ends, "images")), TARGET)
