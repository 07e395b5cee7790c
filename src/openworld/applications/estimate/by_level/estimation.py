"""From saved scores of a source and of a stream by level to a dynamic robustness curve, by every method.

Accuracies are fractions in [0, 1]; None is a number that is not given, with a reason.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from openworld._errors import OpenworldError
from openworld.applications.estimate.accuracy_estimate import ScoredSet
from openworld.applications.estimate.by_level.reading import (
    UNKNOWN,
    LevelScores,
    StreamLevel,
    levels_of,
    names_present,
    require_table,
)
from openworld.applications.estimate.reading import Progress
from openworld.applications.estimate.results import NO_ACCURACY
from openworld.estimators import Outputs, find_estimator
from openworld.estimators.by_level import LevelAccuracies, accuracy_by_level, among
from openworld.metrics import curve_intervals, robustness
from openworld.metrics.estimate import LEVEL, share_interval
from openworld.metrics.robustness import area_weights
from openworld.results import Value, interval_of

OWN_NUMBERS = ("initial_accuracy", "auc", "worst_accuracy", "variation", "slope_variance")
USUAL = ("ATC-MC", "AC", "ATC-NE")
"""Estimated unless somebody names estimators; the first is quoted."""

BY_CONSTRUCTION = (
    "{name} takes {table} for right wherever the two part, so that zero-shot wins by construction, whatever the truth"
)
UNSEEN = (
    "where the truth was known, the difference of two estimates had the wrong sign in a quarter of the cases or more"
)
NO_GROUPS = (
    "the stream has no column group, id, image or path: every row counts as an image of its own in intervals; name "
    "images that stand at several levels"
)


@dataclass(frozen=True)
class LevelPoint:
    """A level."""

    name: str  # as the stream has it
    level: float  # its place from 0 to 1
    n: int
    classes: int
    methods: Mapping[str, Value]  # at level 0 the accuracy of the labelled source, the same for all
    accuracy: float | None = None  # the true one
    differ: float | None = None  # share of images that zero-shot names otherwise
    unlabelled: Mapping[str, float] = field(default_factory=dict)  # at level 0, of the stream's own images there


@dataclass(frozen=True)
class ZeroShotComparison:
    """Model and its zero-shot on the same images."""

    table: str  # of zero-shot's scores
    bound: float  # what the difference of the areas is at most, by the shares of images that are named differently
    differ: float  # the share of all images that are
    images: int  # how many, each counted once
    why: str  # no difference is quoted


@dataclass(frozen=True)
class CurveEstimate:
    """What `openworld estimate --levels` says."""

    source: ScoredSet
    target: ScoredSet
    methods: tuple[str, ...]  # the first is quoted
    levels: tuple[LevelPoint, ...]
    numbers: Mapping[str, Mapping[str, Value]]  # by method and number of the curve
    truth: Mapping[str, float] | None = None  # the same of the true curve, which is only compared with
    zero_shot: ZeroShotComparison | None = None
    grouped_by: str = ""  # the column that says which rows are not independent; "" where all are
    warnings: tuple[str, ...] = ()
    made: Mapping[str, str] = field(default_factory=dict)

    @property
    def quoted(self) -> str:
        """The method whose curve is quoted."""
        return self.methods[0]

    @property
    def alerts(self) -> tuple[str, ...]:
        """Nothing: a curve is tested against no alert."""
        return ()

    @property
    def unknown(self) -> tuple[str, ...]:
        """The stream's name where the quoted method gives no area."""
        return () if self.numbers[self.quoted]["auc"].value is not None else (self.target.name,)


def estimate_curve(
    source: LevelScores,
    stream: LevelScores,
    estimators: Sequence[str] = (),
    zero_shot: str = "",
    progress: Progress | None = None,
) -> CurveEstimate:
    """Estimate the dynamic robustness curve of a stream without labels; the first of `estimators` is quoted."""
    # `zero_shot` is the table of zero-shot's scores in the stream, to say where the two part.
    source = source.labelled
    if not len(source):
        raise OpenworldError(f"{source.name} has no labels; the source must say what its images are: add `labels`.")
    if source.logits.shape[1] != stream.logits.shape[1]:
        raise OpenworldError(
            f"{stream.name} has {stream.logits.shape[1]} classes and {source.name} {source.logits.shape[1]}; score "
            "both for all names of all levels, and write -inf for those that stand nowhere in one of them."
        )
    levels, methods = levels_of(stream), tuple(estimators) or USUAL
    if zero_shot:
        require_table(zero_shot, stream)
    home_names, home_rows = _home(source, levels)
    known, at_home = _outputs(source), _outputs(source, home_rows, home_names)
    behind = [level for level in levels if level.level > 0]
    views = [replace(_outputs(stream, level.rows, level.classes), labels=None) for level in behind]
    groups = [stream.groups[level.rows] for level in behind]
    found: dict[str, LevelAccuracies] = {}
    for done, name in enumerate(methods):
        if progress:
            progress(f"reading {len(levels)} levels", done)
        found[name] = _accuracies(name, known, at_home, views, groups, home_rows)

    own = levels[0] if levels[0].level == 0 else None
    right = float((~at_home.wrong).mean())
    said = {}  # by methods, of the stream's own images at level 0
    if own:
        view = replace(_outputs(stream, own.rows, own.classes), labels=None)
        said = {name: find_estimator(name)().fit(known).estimate(view, interval=False).accuracy for name in methods}
    first = LevelPoint(
        name=own.name if own else "source",
        level=0.0,
        n=len(home_rows),
        classes=len(home_names),
        methods={name: _point(accuracies, 0) for name, accuracies in found.items()},
        accuracy=_true(stream, own) if own else None if stream.labels is None else right,
        differ=_differ(stream, own.rows, zero_shot) if own else _differ(source, home_rows, zero_shot),
        unlabelled={name: accuracy for name, accuracy in said.items() if accuracy is not None},
    )
    points = (first, *_behind(stream, behind, found, zero_shot))
    at, truth = np.array([point.level for point in points]), [point.accuracy for point in points]
    return CurveEstimate(
        source=ScoredSet(source.name, len(source), source.logits.shape[1], right),
        target=ScoredSet(stream.name, len(stream), stream.logits.shape[1]),
        methods=methods,
        levels=points,
        numbers={name: _numbers(own, at) for name, own in found.items()},
        truth=None if None in truth else {name: float(getattr(robustness(at, truth), name)) for name in OWN_NUMBERS},
        zero_shot=_comparison(stream, points, methods, zero_shot) if zero_shot else None,
        grouped_by=stream.grouped_by,
        warnings=tuple(dict.fromkeys(_warnings(found, stream, points))),
    )


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


def _outputs(scores: LevelScores, rows: np.ndarray | None = None, names: np.ndarray | None = None) -> Outputs:
    """Return some rows among some names, with labels where all of them are given."""
    rows = np.arange(len(scores)) if rows is None else rows
    tables = {
        name: among(_same_names(table[rows], scores.logits[rows]), names) for name, table in scores.tables.items()
    }
    partners = tuple(tables[name] for name in sorted(tables) if name != "reference")
    labels = None if scores.labels is None or (scores.labels[rows] == UNKNOWN).any() else scores.labels[rows]
    return Outputs(among(scores.logits[rows], names), labels, tables.get("reference"), partners)


def _same_names(table: np.ndarray, logits: np.ndarray) -> np.ndarray:
    """Return another model's scores with the same names in play."""
    return np.where(np.isneginf(logits), -np.inf, table)


def _accuracies(name: str, known: Outputs, at_home: Outputs, views, groups, home_rows) -> LevelAccuracies:
    estimator = find_estimator(name)
    needs = [need for need in estimator.needs if need != "labels"]
    given = {need: [getattr(outputs, need) for outputs in (known, *views)] for need in needs}
    missing = [need for need, own in given.items() if any(each is None or not len(each) for each in own)]
    if hasattr(estimator, "score") or missing:
        raise OpenworldError(
            f"{name} needs {' and '.join(missing) or 'labelled shifted sets'} beside the logits of both files; "
            f"{', '.join(USUAL)} need none."
        )
    return accuracy_by_level(estimator(), known, at_home, views, groups, home_rows=home_rows)


def _numbers(found: LevelAccuracies, at: np.ndarray) -> dict[str, Value]:
    if np.isnan(found.accuracy).any():
        return dict.fromkeys(OWN_NUMBERS, Value(None, reason=found.reason or NO_ACCURACY))
    curve = robustness(at, found.accuracy)
    intervals = {} if found.errors is None else curve_intervals(found.errors, at, 0)
    numbers = {}
    for name in OWN_NUMBERS:
        ends = intervals.get(name)
        numbers[name] = Value(float(getattr(curve, name)), interval_of(ends and (ends.low, ends.high), "images"))
    return numbers


def _behind(
    stream: LevelScores, levels: Sequence[StreamLevel], found: Mapping[str, LevelAccuracies], zero_shot: str
) -> Iterator[LevelPoint]:
    """Yield the levels behind level 0."""
    for place, level in enumerate(levels, 1):
        yield LevelPoint(
            name=level.name,
            level=level.level,
            n=len(level.rows),
            classes=len(level.classes),
            methods={name: _point(accuracies, place) for name, accuracies in found.items()},
            accuracy=_true(stream, level),
            differ=_differ(stream, level.rows, zero_shot),
        )


def _point(found: LevelAccuracies, place: int) -> Value:
    value = float(found.accuracy[place])
    if np.isnan(value):
        return Value(None, reason=found.reason or NO_ACCURACY)
    if found.errors is None:
        return Value(value)
    spread = found.errors.spread(np.eye(found.accuracy.size)[None, place])
    return Value(value, interval_of(share_interval(value, spread, LEVEL), "images"))


def _true(stream: LevelScores, level: StreamLevel) -> float | None:
    if stream.labels is None or (stream.labels[level.rows] == UNKNOWN).any():
        return None
    return float((stream.logits[level.rows].argmax(axis=1) == stream.labels[level.rows]).mean())


def _named_differently(scores: LevelScores, rows: np.ndarray, zero_shot: str) -> np.ndarray:
    """Return which of these rows the model and zero-shot name differently, bool[n]."""
    logits = scores.logits[rows]
    return logits.argmax(axis=1) != _same_names(scores.tables[zero_shot][rows], logits).argmax(axis=1)


def _differ(scores: LevelScores, rows: np.ndarray, zero_shot: str) -> float | None:
    if zero_shot not in scores.tables:
        return None
    return float(_named_differently(scores, rows, zero_shot).mean())


def _comparison(
    stream: LevelScores, points: Sequence[LevelPoint], methods: Sequence[str], zero_shot: str
) -> ZeroShotComparison:
    """Return what can be said of the difference to zero-shot without labels: how much the two part."""
    shares = np.array([1.0 if point.differ is None else point.differ for point in points])
    resting = [name for name in methods if "reference" in find_estimator(name).needs]
    by_construction = BY_CONSTRUCTION.format(name=" and ".join(resting), table=zero_shot)
    differ = _named_differently(stream, np.arange(len(stream)), zero_shot)
    return ZeroShotComparison(
        table=zero_shot,
        bound=float(area_weights([point.level for point in points]) @ shares),
        differ=float(differ.mean()),
        images=len(np.unique(stream.groups[differ])),
        why=by_construction if resting and zero_shot == "reference" else UNSEEN,
    )


def _warnings(found: dict[str, LevelAccuracies], stream: LevelScores, points: Sequence[LevelPoint]) -> Iterator[str]:
    yield from (f"{name}: {warning}" for name, own in found.items() for warning in own.warnings)
    if not stream.grouped_by:
        yield NO_GROUPS
    if not points[0].unlabelled and points[0].classes > points[1].classes:
        yield (
            f"level 0 stands among {points[0].classes} names and level {points[1].name} among {points[1].classes}: "
            "write -inf in the source for names that have not come at level 0, or give the stream images of level 0"
        )
