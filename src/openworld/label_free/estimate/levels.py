"""The dynamic robustness curve of a stream without labels, by every method: its rows, from saved scores.

A stream has a column of levels: numbers from 0 (as the source) to 1, which mean the same as in dynamic scenarios; or
other numbers or names, which only order the levels, by size or by the first image, and then follow the source in equal
steps, the last at 1. Names that a level does not have stand as -inf in the logits of all its images.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from openworld.core.errors import OpenworldError, present, unknown_name
from openworld.estimators import Outputs, find_estimator
from openworld.estimators.by_level import LevelAccuracies, accuracy_by_level, among
from openworld.label_free.estimate.accuracy_estimate import ScoredSet
from openworld.label_free.estimate.reading import Progress
from openworld.label_free.estimate.results import DIFFERENCE, ESTIMATED, IMAGES, NO_ACCURACY, SOURCE, TARGET, TRUE
from openworld.metrics import area_weights, curve_intervals, robustness
from openworld.metrics.estimate import LEVEL, share_interval
from openworld.results import METRICS, Metric, Result, Results, Value, interval_of
from openworld.results.value import value_or
from openworld.tables.classes import UNKNOWN
from openworld.tables.judged import JUDGED
from openworld.tables.probabilities import logarithms
from openworld.tables.table import TableColumn, open_table

SAME_IMAGE = ("group", "id", "image", "path")
"""Columns that say which rows are not independent, the first that is there: an image may stand at several levels."""

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


@dataclass(frozen=True, eq=False)
class LevelScores:
    """Scores read whole."""

    name: str
    logits: np.ndarray  # float64[n, C], -inf for names that an image's level does not have
    labels: np.ndarray  # int64[n], UNKNOWN where none is given
    tables: dict[str, np.ndarray]  # other models' scores with the same names in play, float64[n, C] by name
    names: tuple[str, ...] | None
    groups: np.ndarray  # int64[n], equal for rows that are not independent
    keys: np.ndarray | None = None  # [n], what the levels' column holds
    grouped_by: str = ""

    def take(self, rows: np.ndarray) -> "LevelScores":
        tables = {name: table[rows] for name, table in self.tables.items()}
        return replace(
            self, logits=self.logits[rows], labels=self.labels[rows], groups=self.groups[rows], tables=tables
        )

    def outputs(self, classes: np.ndarray | None = None, *, labelled: bool = True) -> Outputs:
        """Return them among some names, with labels where all of them are given and wanted."""
        tables = {name: among(table, classes) for name, table in sorted(self.tables.items())}
        labels = self.labels if labelled and not (self.labels == UNKNOWN).any() else None
        reference = tables.pop("reference", None)
        return Outputs(among(self.logits, classes), labels, reference, tuple(tables.values()))

    def named_otherwise(self, other: str) -> np.ndarray:
        """Return which images another model names otherwise, bool[n]."""
        return self.logits.argmax(axis=1) != self.tables[other].argmax(axis=1)

    def level(self, name: str, at: float, rows: np.ndarray, classes: np.ndarray, zero_shot: str) -> "StreamLevel":
        """Return some rows as a level."""
        part = self.take(rows)
        labelled = not (part.labels == UNKNOWN).any()
        truth = float((part.logits.argmax(axis=1) == part.labels).mean()) if labelled else None
        differs = float(part.named_otherwise(zero_shot).mean()) if zero_shot in part.tables else None
        return StreamLevel(name, at, rows, classes, truth, differs)


@dataclass(frozen=True, eq=False)
class StreamLevel:
    """A level, and what is known of it without estimating: what labels say, and where zero-shot parts."""

    name: str
    level: float  # its place from 0 to 1
    rows: np.ndarray  # int64[n]
    classes: np.ndarray  # int64[c], the numbers of its names
    truth: float | None  # the accuracy, where all labels are known
    differs: float | None  # share of images that zero-shot names otherwise

    @property
    def place(self) -> dict[str, str | float]:
        """Where its rows of results are."""
        return {**TARGET, "level": self.level, "level_name": self.name}


def read_scores(
    files: Sequence, *, levels: str = "", classnames: Sequence[str] | None = None, title: str = ""
) -> LevelScores:
    """Read files of scores that follow each other, whole; `levels` is the column of levels, "" for a source."""
    schema = replace(JUDGED, absent=True).plus(
        TableColumn("labels", "label", also=("label",), empty=True),
        TableColumn("group", "entry"),
        TableColumn(levels, "entry", needed=True),
    )
    table = open_table(list(files), schema, classnames=classnames, title=title)
    grouped = next((name for name in SAME_IMAGE if name in table.present), "")
    matrices = table.layouts[0].matrices
    columns = table.whole([*matrices, "labels", levels, grouped])

    scores = {name: np.asarray(columns[name], np.float64) for name in matrices}
    if "probabilities" in scores:
        scores["logits"] = logarithms(scores.pop("probabilities"))
    logits = scores.pop("logits")
    labels, rows = columns.get("labels"), np.arange(len(logits))
    groups = np.unique(columns[grouped].astype(str), return_inverse=True)[1] if grouped else rows
    return LevelScores(
        name=title,
        logits=logits,
        labels=np.full(len(logits), UNKNOWN) if labels is None else labels,
        tables={name: np.where(np.isneginf(logits), -np.inf, scores_beside) for name, scores_beside in scores.items()},
        names=table.classnames,
        groups=groups,
        keys=columns.get(levels),
        grouped_by=grouped,
    )


def names_present(logits: np.ndarray, where: str) -> np.ndarray:
    """Return the numbers int64[c] of the names that stand in these rows; refuse fewer than two, or some in part."""
    absent = np.isneginf(logits)
    some = np.flatnonzero(absent.any(axis=0) & ~absent.all(axis=0))
    if some.size:
        raise OpenworldError(
            f"{where}: class {some[0]} is -inf in {int(absent[:, some[0]].sum()):,} of {len(logits):,} rows; names "
            "that a level does not have are -inf in all of its rows, the others in none."
        )
    present = np.flatnonzero(~absent.all(axis=0))
    if present.size < 2:
        raise OpenworldError(f"{where}: {present.size} name(s) stand there, expected two or more.")
    return present


def levels_of(stream: LevelScores, zero_shot: str = "") -> tuple[StreamLevel, ...]:
    """Return the levels of a stream in order, two or more beside the source; one at 0 is the first."""
    keys, first, place = np.unique(present(stream.keys, "a column of levels"), return_index=True, return_inverse=True)
    order = np.arange(len(keys)) if keys.dtype.kind in "fiub" else np.argsort(first)
    if keys.dtype.kind in "fiu" and keys.min() >= 0 and keys.max() <= 1:
        at = keys.astype(np.float64)
    else:
        at = np.empty(len(keys))
        at[order] = np.arange(1, len(keys) + 1) / len(keys)
    levels = []
    for number in order:
        rows = np.flatnonzero(place == number)
        name = f"{keys[number]:g}" if keys.dtype.kind == "f" else str(keys[number])
        classes = names_present(stream.logits[rows], f"level {name} of {stream.name}")
        levels.append(stream.level(name, float(at[number]), rows, classes, zero_shot))
    if not any(level.level > 0 for level in levels):
        raise OpenworldError(f"{stream.name} has no level above 0; a curve needs one or more beside the source at 0.")
    return tuple(levels)


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
    if not len(source.labels):
        raise OpenworldError(f"{source.name} has no labels; the source must say what its images are: add `labels`.")
    if source.logits.shape[1] != stream.logits.shape[1]:
        raise OpenworldError(
            f"{stream.name} has {stream.logits.shape[1]} classes and {source.name} {source.logits.shape[1]}; score "
            "both for all names of all levels, and write -inf for those that stand nowhere in one of them."
        )
    if zero_shot and zero_shot not in stream.tables:
        raise unknown_name(f"table of scores in {stream.name}:", zero_shot, stream.tables)
    levels, methods = levels_of(stream, zero_shot), tuple(estimators) or USUAL
    home_names, home_rows = _home(source, levels)
    labelled, at_home = source.outputs(), source.take(home_rows).outputs(home_names)
    behind = [level for level in levels if level.level > 0]
    views = [stream.take(level.rows).outputs(level.classes, labelled=False) for level in behind]
    groups = [stream.groups[level.rows] for level in behind]
    curves: dict[str, LevelAccuracies] = {}
    for done, name in enumerate(methods):
        if progress:
            progress(f"reading {len(levels)} levels", done)
        estimator = find_estimator(name)
        tables = {need: [getattr(outputs, need) for outputs in (labelled, *views)] for need in estimator.needs}
        tables.pop("labels", None)
        missing = [need for need, held in tables.items() if any(each is None or not len(each) for each in held)]
        if hasattr(estimator, "score") or missing:
            raise OpenworldError(
                f"{name} needs {' and '.join(missing) or 'labelled shifted sets'} beside the logits of both files; "
                f"{', '.join(USUAL)} need none."
            )
        curves[name] = accuracy_by_level(estimator(), labelled, at_home, views, groups, home_rows=home_rows)

    # Level 0 is the labelled source; of the stream's own images there only what was not looked at, and what differs.
    right, rows = float((~at_home.wrong).mean()), []
    if levels[0] is behind[0]:
        first = source.level("source", 0.0, home_rows, home_names, zero_shot)
        first = replace(first, truth=None if (stream.labels == UNKNOWN).all() else right)
    else:
        unlabelled = stream.take(levels[0].rows).outputs(levels[0].classes, labelled=False)
        first = replace(levels[0], rows=home_rows, classes=home_names)
        for name in methods:
            said = find_estimator(name)().fit(labelled).estimate(unlabelled, interval=False).accuracy
            rows += [] if said is None else [Result(name, UNLABELLED, Value(said), first.place)]
    resting = " and ".join(name for name in methods if "reference" in find_estimator(name).needs)
    not_compared = NEEDS_LABELS + UNSEEN if zero_shot else NO_ZERO_SHOT
    if resting and zero_shot == "reference":
        not_compared = NEEDS_LABELS + BY_CONSTRUCTION.format(name=resting, table=zero_shot)
    rows += [Result("", IMAGES, Value(len(side.labels)), place) for side, place in ((source, SOURCE), (stream, TARGET))]
    rows = [*_of_levels((first, *behind), curves), *rows, *_of_curve((first, *behind), curves, not_compared)]
    otherwise = stream.named_otherwise(zero_shot) if zero_shot else None
    if otherwise is not None:
        rows.append(Result("zero-shot", NAMED_DIFFERENTLY, Value(float(otherwise.mean())), TARGET))
    return CurveEstimate(
        results=Results("estimate", tuple(rows)),
        source=ScoredSet(source.name, len(source.labels), source.logits.shape[1], right),
        target=ScoredSet(stream.name, len(stream.labels), stream.logits.shape[1]),
        methods=methods,
        levels=tuple(level.name for level in (first, *behind)),
        not_compared=not_compared,
        differing=None if otherwise is None else len(np.unique(stream.groups[otherwise])),
        grouped_by=stream.grouped_by,
        warnings=tuple(dict.fromkeys(_warnings(curves, stream, first, levels))),
    )


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
        for name, curve in curves.items():
            accuracy = None if np.isnan(curve.accuracy[place]) else float(curve.accuracy[place])
            ends = None
            if accuracy is not None and curve.errors is not None:
                ends = share_interval(accuracy, curve.errors.spread(np.eye(curve.accuracy.size)[None, place]), LEVEL)
            value = value_or(accuracy, curve.reason or NO_ACCURACY, interval_of(ends, "images"))
            yield Result(name, ESTIMATED, value, level.place)
            if place and level.truth is not None and accuracy is not None:
                yield Result(name, DIFFERENCE, Value(accuracy - level.truth), level.place)


def _of_curve(
    levels: Sequence[StreamLevel], curves: Mapping[str, LevelAccuracies], not_compared: str
) -> Iterator[Result]:
    """Yield the rows of the whole curve, by every method and by labels, and between what a difference lies."""
    at = np.array([level.level for level in levels])
    for name, estimated in curves.items():
        curve, intervals = None, {}
        if not np.isnan(estimated.accuracy).any():
            curve = robustness(at, estimated.accuracy)
            intervals = {} if estimated.errors is None else curve_intervals(estimated.errors, at, 0)
        for key in OWN_NUMBERS:
            number = None if curve is None else float(getattr(curve, key))
            ends = (intervals[key].low, intervals[key].high) if key in intervals else None
            value = value_or(number, estimated.reason or NO_ACCURACY, interval_of(ends, "images"))
            yield Result(name, METRICS[key], value, TARGET)
        yield from (Result(name, METRICS[key], Value(None, reason=not_compared), TARGET) for key in COMPARISONS)
    truth, differs = [level.truth for level in levels], [level.differs for level in levels]
    if None not in truth:
        curve = robustness(at, truth)
        yield from (Result("truth", METRICS[key], Value(float(getattr(curve, key))), TARGET) for key in OWN_NUMBERS)
    if any(share is not None for share in differs):  # names that part are all that a difference of the areas comes from
        bound = area_weights(at) @ np.array([1.0 if share is None else share for share in differs])
        yield Result("zero-shot", BOUND, Value(float(bound)), TARGET)


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
