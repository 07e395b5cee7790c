"""Labels of some target images that arrive late: what they say of a period, and of the periods after it.

A file has a row an image: the target's own column that names its images (id, ids, image or path; or `row`, counted from
0), `label` (a class, or `other` for none of them), and `inclusion`, the probability with which the image was drawn.
Drawn labels give a prediction-powered interval that holds however wrong every estimate is (`openworld.labels`).
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from openworld import labels
from openworld.core.csv_files import csv_text, read_csv
from openworld.core.errors import OpenworldError
from openworld.estimators.engine.temperature import confidences
from openworld.estimators.quote.recalibration import accuracy_with, recalibrate
from openworld.label_free.estimate.accuracy_estimate import AccuracyEstimate, Period, PeriodLabels
from openworld.label_free.estimate.reading import Progress, ScoreTable
from openworld.runs import canonical_json
from openworld.tables.classes import class_numbers
from openworld.tables.entries import empty_entries, finite_numbers, require_filled
from openworld.tables.files import ScoreFile, open_scores
from openworld.tables.judged import IMAGE_COLUMNS, LABELS

ROW, INCLUSION, OTHER = "row", "inclusion", "other"
QUANTITY = "overall_accuracy"
EVEN = 0.05  # how far inclusion probabilities of a period may differ and still be those of one draw of fixed size
SHEET = "labels-to-make.csv"


@dataclass(frozen=True, eq=False)
class LateLabels:
    """Labels as a file holds them."""

    name: str  # of the file
    key: str  # which column names the images
    ids: np.ndarray  # text [k]
    labels: np.ndarray  # [k], names or numbers
    inclusion: np.ndarray | None  # float64[k] in (0, 1]; None where they were not drawn

    @property
    def content(self) -> str:
        """SHA-256 of what it says, whatever kind of file said it."""
        inclusion = None if self.inclusion is None else self.inclusion.tolist()
        said = [self.key, self.ids.tolist(), [str(label) for label in self.labels.tolist()], inclusion]
        return hashlib.sha256(canonical_json(said).encode()).hexdigest()

    def take(self, rows: np.ndarray) -> "LateLabels":
        """Return some of them."""
        inclusion = None if self.inclusion is None else self.inclusion[rows]
        return replace(self, ids=self.ids[rows], labels=self.labels[rows], inclusion=inclusion)


@dataclass(frozen=True, eq=False)
class ImagesAtHand:
    """All images of a target: ids, the class each is named as, how likely that is right, and perhaps where they lie."""

    ids: np.ndarray
    predicted: np.ndarray
    expected: np.ndarray
    paths: np.ndarray | None = None

    def since(self, first: int) -> "ImagesAtHand":
        """Return those from a place on."""
        paths = None if self.paths is None else self.paths[first:]
        return ImagesAtHand(self.ids[first:], self.predicted[first:], self.expected[first:], paths)


def read_late_labels(path: Path | str | ScoreFile) -> LateLabels:
    """Read labels that came late; refuse images that come twice, and drawn ones of which some have no label."""
    file = open_scores(path)
    if file.path.suffix.lower() == ".csv" and file.path.is_file():  # as text, so that ids keep their zeros
        columns = {name: np.array(column, str) for name, column in read_csv(file.path).items()}
        if INCLUSION in columns:
            with suppress(ValueError):  # text that is no number is refused below
                columns[INCLUSION] = np.array([float(text or "nan") for text in columns[INCLUSION].tolist()])
    else:
        columns = file.table()
    keys = [name for name in (*IMAGE_COLUMNS, ROW) if name in columns]
    label = next((name for name in LABELS if name in columns), None)
    if not keys or label is None:
        raise OpenworldError(
            f"{file.path} has the columns {', '.join(columns)}; labels need one of {', '.join((*IMAGE_COLUMNS, ROW))}, "
            "which says which image a row is of, and `label`."
        )
    require_filled(columns[keys[0]], f"column {keys[0]} of {file.path}")
    ids, label_column = np.array([str(entry) for entry in columns[keys[0]]]), columns[label]
    there = ~empty_entries(label_column)
    if len(np.unique(ids)) < len(ids):
        names, counts = np.unique(ids, return_counts=True)
        raise OpenworldError(f"{file.path} labels {names[counts.argmax()]} more than once; give each image once.")
    inclusion = columns.get(INCLUSION)
    if inclusion is not None:
        inclusion = finite_numbers(inclusion, f"column {INCLUSION} of {file.path}").astype(float)
        if not ((inclusion > 0) & (inclusion <= 1)).all():
            raise OpenworldError(f"{INCLUSION} of {file.path} must lie in (0, 1], the probability of being drawn.")
        if not there.all():
            raise OpenworldError(
                f"{int((~there).sum())} of {len(ids)} images of {file.path} that were drawn have no label: those that "
                "are easy to label are no draw. Label them all, or leave the column `inclusion` out."
            )
    if not there.any():
        raise OpenworldError(f"{file.path} holds no label.")
    return LateLabels(
        file.path.name, keys[0], ids[there], label_column[there], None if inclusion is None else inclusion[there]
    )


def images_at_hand(table: ScoreTable, temperature: float, key: str, progress: Progress | None = None) -> ImagesAtHand:
    """Read the target once more: what column `key` calls its images, predictions, and calibrated confidences."""
    predicted, expected = [], []
    for block in table.scores("what to expect of each image", progress):
        predicted.append(block.outputs.predictions)
        expected.append(confidences(block.outputs.logits, temperature))
    predicted, expected = np.concatenate(predicted), np.concatenate(expected)

    def column(name: str) -> np.ndarray:
        for file in table.files:
            if name not in file.columns:
                raise OpenworldError(f"the labels name images by {name}, and {file.path} has no such column.")
        return np.array(table.entries(name))

    ids = np.arange(len(predicted)).astype(str) if key == ROW else column(key)
    other = next((name for name in ("image", "path") if name in table.files[0].columns and name != key), None)
    return ImagesAtHand(ids, predicted, expected, None if other is None else column(other))


def with_late_labels(
    estimate: AccuracyEstimate, late: LateLabels, table: ScoreTable, progress: Progress | None = None
) -> AccuracyEstimate:
    """Return an estimate in which labels speak for the periods that they are of, or for the whole target."""
    images = images_at_hand(table, estimate.temperature, late.key, progress)
    rows = places_of(late, images.ids)
    unknown = late.ids[rows < 0].tolist()
    if unknown:
        raise OpenworldError(
            f"{len(unknown)} of {len(rows)} images of {late.name} are not in the target, the first {unknown[0]!r}; "
            "give labels of this target's images."
        )
    spots = {period.number: (period.first, period.n, False) for period in estimate.chunks}
    whole = {0: (0, len(images.expected), False)}
    by_period = labels_by_period(images, late, rows, spots or whole, estimate.target.classes, table.classnames)
    if not estimate.chunks:
        of_all = by_period.get(0)
        return replace(
            estimate, labelled=of_all, quote=estimate.quote if of_all is None else of_all.quote(estimate.quote)
        )
    chunks: list[Period] = []
    for period in estimate.chunks:
        period = corrected(period, chunks, estimate.source.right)
        chunks.append(replace(period, labelled=by_period.get(period.number)))
    return replace(estimate, chunks=tuple(chunks))


def places_of(late: LateLabels, ids: np.ndarray) -> np.ndarray:
    """Return int64[k], the place of the image of every label among some; -1 where it is not among them."""
    wanted = {name.removeprefix("'") for name in late.ids.tolist()} | set(late.ids.tolist())
    places: dict[str, int] = {}
    for place, name in enumerate(ids.tolist()):
        if name in wanted and places.setdefault(name, place) != place:
            raise OpenworldError(
                f"several images are named {name!r} in {late.key}; labels cannot say which they are of. Name them by "
                f"`{ROW}`, counted from 0."
            )
    return np.array([places.get(name, places.get(name.removeprefix("'"), -1)) for name in late.ids.tolist()], np.int64)


def labels_by_period(
    images: ImagesAtHand,
    late: LateLabels,
    places: np.ndarray,
    spots: Mapping[int, tuple[int, int, bool]],
    classes: int,
    classnames: Sequence[str] | None,
) -> dict[int, PeriodLabels]:
    """Return what labels say, by the number of a period; without those that have none."""
    # `places` of labelled images among `images`; `spots` hold the first place of a period, how many it has, and whether
    # these are a sample of it.
    numbers = np.full(len(late.labels), -1)  # of no class, as `other`
    of_class = np.array([str(label) != OTHER for label in late.labels]) | (OTHER in (classnames or ()))
    label_values = late.labels[of_class]
    if label_values.dtype.kind in "UO" and all(
        str(label).isdecimal() and label not in (classnames or ()) for label in label_values
    ):
        label_values = label_values.astype(np.int64)
    try:
        numbers[of_class] = class_numbers(label_values, classnames, None)
        odd = numbers[of_class & ((numbers < 0) | (numbers >= classes))]
        if odd.size:
            raise OpenworldError(f"label {odd[0]} is none of the {classes} classes, which count from 0.")
    except OpenworldError as error:
        raise OpenworldError(f"{late.name}: {error} An image of no class is labelled {OTHER!r}.") from error
    inclusion = [None] * len(places) if late.inclusion is None else late.inclusion.tolist()
    answers = (images.predicted[places] == numbers).tolist()
    right = {row: (answer, q) for row, answer, q in zip(places.tolist(), answers, inclusion, strict=True)}
    by_period = {number: period_labels(images, late, right, *spot) for number, spot in spots.items()}
    return {number: said for number, said in by_period.items() if said is not None}


def period_labels(
    images: ImagesAtHand,
    late: LateLabels,
    right: Mapping[int, tuple[bool, float | None]],
    first: int,
    n: int,
    sampled: bool = False,
) -> PeriodLabels | None:
    """Return what labels say of n images from `first` on; `sampled`: these stand for images like them."""
    rows = np.array([row for row in sorted(right) if first <= row < first + n], int)
    if not rows.size:
        return None
    answers = np.array([right[row][0] for row in rows])
    plain = float(answers.mean())
    if late.inclusion is None:
        return PeriodLabels(len(rows), False, plain, reason="they were not drawn at random")
    q = np.array([right[row][1] for row in rows])
    stream = labels.closed_set_stream(images.expected[first : first + n])
    alike = np.ptp(q) == 0 and abs(len(rows) - q[0] * n) <= max(1.0, EVEN * len(rows))
    inclusion = None
    if not alike:
        inclusion = np.full(n, float(np.mean(q)))  # of images without a label it does not count
        inclusion[rows - first] = q
    plan = labels.plan_from_draw(stream, rows - first, inclusion, of=QUANTITY)
    weight = 0.0 if answers.all() or not answers.any() else None  # labels that are all alike show no spread to trust
    accuracy = labels.estimate(plan, labels.right_answers(answers), proxy_weight=weight).of(QUANTITY)
    interval = accuracy.interval(like_these=sampled)
    if interval is None:
        return PeriodLabels(len(rows), True, plain, reason=accuracy.reason or "there is no spread to see")
    return PeriodLabels(len(rows), True, plain, accuracy.value, interval, accuracy.standard_error)


def corrected(period: Period, before: Iterable[Period], source: float) -> Period:
    """Return a period with what labels of earlier ones showed; its interval grows downwards only."""
    past = [
        (earlier.unlabelled.accuracy, earlier.labelled.accuracy, earlier.labelled.standard_error)
        for earlier in before
        if earlier.unlabelled.accuracy is not None
        and earlier.labelled is not None
        and earlier.labelled.accuracy is not None
        and earlier.labelled.standard_error
    ]
    quote = period.unlabelled
    if quote.accuracy is None or not past or not source:
        return period
    power = recalibrate(source, *zip(*past, strict=True))
    accuracy, low, high = (accuracy_with(power, end, source) for end in (quote.accuracy, quote.low, quote.high))
    why = f"{quote.why}; corrected by labels of {len(past)} period(s) before (power {power:.2f})"
    quote = replace(quote, accuracy=accuracy, low=min(quote.low, low), high=max(quote.high, high), why=why)
    return replace(period, corrected=quote)


def worksheet(
    images: ImagesAtHand, key: str, n: int, classnames: Sequence[str] | None, draw: labels.PlanSettings
) -> bytes:
    """Return a worksheet as CSV: label all its images in the column `label`, and give it to --labels."""
    stream = labels.closed_set_stream(images.expected)
    plan = labels.plan(stream, min(n, len(images.expected)), of=QUANTITY, settings=draw)
    path = "file" if key == ROW else "image"  # a column that does not say which image a row is of beside `row`
    rows = []
    for row in np.sort(plan.chosen).tolist():
        name = classnames[images.predicted[row]] if classnames else int(images.predicted[row])
        image = [] if images.paths is None else [images.paths[row]]
        rows.append([images.ids[row], *image, name, float(plan.inclusion[row]), ""])
    return csv_text([key, *([] if images.paths is None else [path]), "name", INCLUSION, "label"], rows).encode()
