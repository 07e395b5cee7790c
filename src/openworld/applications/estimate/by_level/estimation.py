"""From saved scores of a source and of a stream by level to a dynamic robustness curve."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from openworld._errors import OpenworldError
from openworld.applications.estimate.accuracy_estimate import ScoredSet
from openworld.applications.estimate.by_level.curve_estimate import (
    OWN_NUMBERS,
    CurveEstimate,
    CurveNumber,
    LevelPoint,
    ZeroShotComparison,
)
from openworld.applications.estimate.by_level.reading import (
    UNKNOWN,
    LevelScores,
    StreamLevel,
    levels_of,
    names_present,
    require_table,
)
from openworld.applications.estimate.reading import Progress
from openworld.estimators import Outputs, find_estimator
from openworld.estimators.by_level import LevelAccuracies, accuracy_by_level, among
from openworld.metrics import curve_intervals, robustness
from openworld.metrics.estimate import share_interval
from openworld.metrics.robustness import area_weights

LEVEL = 0.95  # of confidence
USUAL = ("ATC-MC", "AC", "ATC-NE")
"""Estimated unless somebody names estimators; the first is quoted."""

BY_CONSTRUCTION = (
    "{name} takes {table} for right wherever the two part, so that zero-shot wins by construction, whatever the truth"
)
UNSEEN = (
    "where the truth was known, the difference of two estimates had the wrong sign in a quarter of the cases or more"
)


def estimate_curve(
    source: LevelScores,
    stream: LevelScores,
    estimators: Sequence[str] = (),
    zero_shot: str = "",
    progress: Progress | None = None,
) -> CurveEstimate:
    """Estimate the dynamic robustness curve of a stream without labels.

    Args:
        source: with labels. stream: with a column of levels. estimators: names, the first is quoted; none for USUAL.
        zero_shot: the table of zero-shot's scores in the stream, to say where the two part. progress: as of `Pass`.
    Raises:
        OpenworldError: a source without labels or with none at level 0, names of a level that the source lacks, an
            estimator whose needs the scores do not hold.
    """
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
    names_present(source.logits, source.name)
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
    at = np.array([0.0, *(level.level for level in behind)])
    points = tuple(_points(source, stream, levels, found, home_names, home_rows, zero_shot))
    truth = [point.accuracy for point in points]
    return CurveEstimate(
        source=ScoredSet(source.name, len(source), source.logits.shape[1], float((~at_home.wrong).mean())),
        target=ScoredSet(stream.name, len(stream), stream.logits.shape[1]),
        methods=methods,
        levels=points,
        numbers={name: _numbers(own, at) for name, own in found.items()},
        truth=None if None in truth else {name: float(getattr(robustness(at, truth), name)) for name in OWN_NUMBERS},
        zero_shot=_comparison(stream, points, methods, zero_shot) if zero_shot else None,
        grouped_by=stream.grouped_by,
        warnings=_warnings(found, stream, points),
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
    given = [[getattr(outputs, need) for outputs in (known, *views)] for need in needs]
    missing = [
        need for need, own in zip(needs, given, strict=True) if any(each is None or not len(each) for each in own)
    ]
    if hasattr(estimator, "score") or missing:
        raise OpenworldError(
            f"{name} needs {' and '.join(missing) or 'labelled shifted sets'} beside the logits of both files; "
            f"{', '.join(USUAL)} need none."
        )
    return accuracy_by_level(estimator(), known, at_home, views, groups, home_rows=home_rows)


def _numbers(found: LevelAccuracies, at: np.ndarray) -> dict[str, CurveNumber]:
    if np.isnan(found.accuracy).any():
        return {name: CurveNumber(None, reason=found.reason) for name in OWN_NUMBERS}
    curve = robustness(at, found.accuracy)
    intervals = {} if found.errors is None else curve_intervals(found.errors, at, 0)
    numbers = {}
    for name in OWN_NUMBERS:
        ends = intervals.get(name)
        known = ends is not None and ends.low is not None
        numbers[name] = CurveNumber(float(getattr(curve, name)), (ends.low, ends.high) if known else None)
    return numbers


def _points(
    source: LevelScores,
    stream: LevelScores,
    levels: Sequence[StreamLevel],
    found: dict[str, LevelAccuracies],
    home_names: np.ndarray,
    home_rows: np.ndarray,
    zero_shot: str,
) -> Iterator[LevelPoint]:
    """Return level 0, then the levels behind it."""
    own = levels[0] if levels[0].level == 0 else None
    right = ~_outputs(source, home_rows, home_names).wrong
    yield LevelPoint(
        name=own.name if own else "source",
        level=0.0,
        n=len(home_rows),
        classes=len(home_names),
        methods={name: _point(accuracies, 0) for name, accuracies in found.items()},
        accuracy=_true(stream, own) if own else None if stream.labels is None else float(right.mean()),
        differ=_differ_at_home(source, stream, own, home_rows, zero_shot),
        unlabelled=_of_own_images(source, stream, own, found) if own else {},
    )
    for place, level in enumerate(levels[1:] if own else levels, 1):
        yield LevelPoint(
            name=level.name,
            level=level.level,
            n=len(level.rows),
            classes=len(level.classes),
            methods={name: _point(accuracies, place) for name, accuracies in found.items()},
            accuracy=_true(stream, level),
            differ=_differ(stream, level.rows, zero_shot) if zero_shot else None,
        )


def _point(found: LevelAccuracies, place: int) -> CurveNumber:
    value = found.accuracy[place]
    if np.isnan(value):
        return CurveNumber(None, reason=found.reason)
    if found.errors is None:
        return CurveNumber(float(value))
    spread = found.errors.spread(np.eye(found.accuracy.size)[None, place])
    return CurveNumber(float(value), share_interval(float(value), spread, LEVEL))


def _of_own_images(
    source: LevelScores, stream: LevelScores, own: StreamLevel, found: dict[str, LevelAccuracies]
) -> dict[str, float]:
    known, view = _outputs(source), replace(_outputs(stream, own.rows, own.classes), labels=None)
    said = {name: find_estimator(name)().fit(known).estimate(view, interval=False).accuracy for name in found}
    return {name: accuracy for name, accuracy in said.items() if accuracy is not None}


def _true(stream: LevelScores, level: StreamLevel) -> float | None:
    if stream.labels is None or (stream.labels[level.rows] == UNKNOWN).any():
        return None
    return float((stream.logits[level.rows].argmax(axis=1) == stream.labels[level.rows]).mean())


def _differ(stream: LevelScores, rows: np.ndarray, zero_shot: str) -> float:
    return float(named_differently(stream, rows, zero_shot).mean())


def _differ_at_home(
    source: LevelScores, stream: LevelScores, own: StreamLevel | None, home_rows: np.ndarray, zero_shot: str
) -> float | None:
    """Return the share of images at level 0, the stream's own or else the source's; None where nobody knows."""
    if not zero_shot or (own is None and zero_shot not in source.tables):
        return None
    return _differ(source, home_rows, zero_shot) if own is None else _differ(stream, own.rows, zero_shot)


def named_differently(stream: LevelScores, rows: np.ndarray, zero_shot: str) -> np.ndarray:
    """Return which of these rows the model and zero-shot name differently, bool[n]."""
    logits = stream.logits[rows]
    return logits.argmax(axis=1) != _same_names(stream.tables[zero_shot][rows], logits).argmax(axis=1)


def _comparison(
    stream: LevelScores, points: Sequence[LevelPoint], methods: Sequence[str], zero_shot: str
) -> ZeroShotComparison:
    """Return what can be said of the difference to zero-shot without labels: how much the two part."""
    shares = np.array([1.0 if point.differ is None else point.differ for point in points])
    resting = [name for name in methods if "reference" in find_estimator(name).needs]
    by_construction = BY_CONSTRUCTION.format(name=" and ".join(resting), table=zero_shot)
    differ = named_differently(stream, np.arange(len(stream)), zero_shot)
    return ZeroShotComparison(
        table=zero_shot,
        bound=float(area_weights([point.level for point in points]) @ shares),
        differ=float(differ.mean()),
        images=len(np.unique(stream.groups[differ])),
        why=by_construction if resting and zero_shot == "reference" else UNSEEN,
    )


def _warnings(found: dict[str, LevelAccuracies], stream: LevelScores, points: Sequence[LevelPoint]) -> tuple[str, ...]:
    warnings = [f"{name}: {warning}" for name, own in found.items() for warning in own.warnings]
    if not stream.grouped_by:
        warnings.append(
            "the stream has no column group, id, image or path: every row counts as an image of its own in intervals; "
            "name images that stand at several levels"
        )
    if not points[0].unlabelled and points[0].classes > points[1].classes:
        warnings.append(
            f"level 0 stands among {points[0].classes} names and level {points[1].name} among {points[1].classes}: "
            "write -inf in the source for names that have not come at level 0, or give the stream images of level 0"
        )
    return tuple(dict.fromkeys(warnings))
