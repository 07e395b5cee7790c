"""Estimated against true accuracy, a chart per method, and what the conditions look like.

Models are averaged into a dot only as far as a page needs. Thumbnails by condition are kept by the first record of a
run; where all would weigh too much, fewer severities are shown.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from openworld.label_free.benchmark.arrays import THUMBNAILS, Condition, Model, RunArrays, value_of
from openworld.label_free.benchmark.cards import ERROR, TRUE_ACCURACY
from openworld.report.album import Album, AlbumImage, AlbumPart
from openworld.report.charts import Dots, DotsChart, Quantity
from openworld.report.charts.dots import dots_key
from openworld.report.data_files import data_address
from openworld.report.figure import Figure
from openworld.report.layout import Brief

BUDGET = 20_000
"""Dots of a whole figure; beyond it they are averaged."""

BYTES = 250_000
"""Of the page's 1.5 MB, what images of conditions may take."""

LEVELS = (
    ("", lambda model: (model.name, model.checkpoint, model.seed)),
    (", mean over its seeds", lambda model: (model.name, model.checkpoint)),
    (", mean over its seeds and checkpoints", lambda model: (model.name,)),
    (", mean over all models", lambda model: ()),
)
"""How far models are averaged into one dot: its words, and what models of one dot have in common."""


def estimated_and_true(brief: Brief) -> Iterator[Figure]:
    """Yield one chart per method, on one range for all: on the diagonal the estimate is right."""
    arrays = brief.source
    cloud = ModelGroups.within(arrays, len(arrays.methods))
    accuracy, estimates = cloud.mean(arrays.accuracy), [cloud.mean(each) for each in arrays.estimated]
    known = np.concatenate([accuracy.ravel(), *(estimate.ravel() for estimate in estimates)])
    known = known[np.isfinite(known)]
    covers = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    x = Quantity("accuracy", "true accuracy, %", covers=covers)
    y = Quantity("estimate", "estimated, %", covers=covers)

    numbers, charts = dict(zip(arrays.labels, estimates, strict=True)), []
    for label, estimate in numbers.items():
        error, mark = brief.results.value(label, ERROR.key).value, brief.marks.get(label)
        note = f"off by {ERROR.write(error)}{mark.sign if mark and error is not None else ''}"
        dots = tuple(cloud.dots(accuracy, estimate))
        charts.append(DotsChart(label, x, y, dots, cloud.shapes, label, "equal", note=note, small=True))

    caption = (
        f"Every dot is one condition with one classifier{cloud.text}: its true accuracy across, what the method "
        "says of it without labels upwards; in the corner the mean absolute error (average of the lines).",
        "On the diagonal the estimate is right, above it overestimated; a cloud that lies flat tells good conditions "
        "from bad ones by too little, whatever its mean error is.",
    )
    title, rows = "Do the estimates follow the truth?", cloud.rows({"accuracy": accuracy} | numbers)
    yield Figure("estimated", title, caption, tuple(charts), key=cloud.key, small=True, shared=tuple(rows))


@dataclass(frozen=True, eq=False)
class ModelGroups:
    """Judged models averaged into G groups, of which each is a dot in every condition."""

    arrays: RunArrays
    text: str  # over what a dot is the mean, for a caption
    places: tuple[tuple[int, ...], ...]  # of the models of every group

    @classmethod
    def within(cls, arrays: RunArrays, dots: int) -> "ModelGroups":
        """Return models averaged as far as the budget demands, where each is so many dots in a condition."""
        for text, common in LEVELS:
            groups: dict[tuple, list[int]] = {}
            for place, model in enumerate(arrays.models):
                groups.setdefault(common(model), []).append(place)
            averaged = text if len(groups) < len(arrays.models) else ""
            chosen = cls(arrays, averaged, tuple(map(tuple, groups.values())))
            if len(groups) * len(arrays.conditions) * dots <= BUDGET:
                break
        return chosen

    @property
    def groups(self) -> list[list[Model]]:
        """The models of every group."""
        return [[self.arrays.models[place] for place in places] for places in self.places]

    @cached_property
    def shapes(self) -> tuple[str, ...]:
        """What shapes stand for: models, or the checkpoints of a single one."""
        names, titles = ({getattr(model, name): None for model in self.arrays.models} for name in ("name", "title"))
        return tuple(names if len(names) > 1 else titles)

    @property
    def key(self) -> tuple:
        """The marks of kinds of shift and of shapes, for a figure."""
        return dots_key([condition.kind for condition in self.arrays.conditions], self.shapes)

    def mean(self, values: np.ndarray) -> np.ndarray:
        """Return float[G, C], the means of values float[M, C] over the models of every group."""
        return np.stack([values[list(places)].mean(axis=0) for places in self.places])

    def dots(self, x: np.ndarray, y: np.ndarray) -> Iterator[Dots]:
        """Yield float[G, C] against float[G, C] by kind of shift and shape; what has no number is not drawn."""
        kinds = np.array([condition.kind for condition in self.arrays.conditions])
        possible = [{name for model in models for name in (model.name, model.title)} for models in self.groups]
        drawn = [[shape for shape in self.shapes if shape in names] for names in possible]
        shapes = np.array([names[0] if len(names) == 1 else self.shapes[0] for names in drawn])
        known = np.isfinite(x) & np.isfinite(y)
        for kind in dict.fromkeys(kinds.tolist()):
            for shape in dict.fromkeys(shapes.tolist()):
                chosen = known & (kinds == kind)[None, :] & (shapes == shape)[:, None]
                if chosen.any():
                    yield Dots(kind, shape, list(zip(x[chosen].tolist(), y[chosen].tolist(), strict=True)))

    def rows(self, numbers: Mapping[str, np.ndarray], **names: str) -> Iterator[dict]:
        """Yield a row per dot, a column per number, float[G, C], with four decimals; none where no number is known."""
        for place, models in enumerate(self.groups):
            model = {"model": _common(models, "name")} | {key: _common(models, key) for key in ("epoch", "seed")}
            for at, condition in enumerate(self.arrays.conditions):
                values = {name: number[place, at] for name, number in numbers.items()}
                cells = {name: f"{value:.4f}" if np.isfinite(value) else "" for name, value in values.items()}
                if any(cells.values()):
                    where = {"line": condition.row, "condition": condition.name, "kind": condition.kind}
                    yield names | where | model | cells


def _common(models: Sequence[Model], name: str):
    """Return what all models of a dot have in common, or nothing."""
    values = {getattr(model, name) for model in models}
    return values.pop() if len(values) == 1 else ""


def albums(brief: Brief) -> tuple[Album, ...]:
    """Return one album with the lines of the table as its parts; none where no record keeps images."""
    arrays = brief.source
    thumbnails = _thumbnails(arrays)
    if not thumbnails:
        return ()
    severities = sorted({condition.severity for condition in thumbnails} - {None})
    ends = sorted({severities[0], severities[len(severities) // 2], severities[-1]}) if severities else []
    for chosen in (severities, ends, severities[-1:], []):
        visible = [condition for condition in thumbnails if condition.severity in (None, *chosen)]
        if sum(len(address) for condition in visible for address in thumbnails[condition]) <= BYTES:
            break

    parts: dict[str, list[AlbumImage]] = {row: [] for row in arrays.rows}
    for condition in visible:
        accuracy = value_of(np.mean, arrays.accuracy[:, arrays.conditions.index(condition)]).value
        text = f"{TRUE_ACCURACY.write(accuracy)}\u00a0% right"
        parts[condition.row] += [AlbumImage(address, condition.name, text) for address in thumbnails[condition]]
    severity = f"severity {' and '.join(map(str, chosen))}" if chosen else "none"
    fewer = f" Of corruptions {severity} is shown." if len(chosen) < len(severities) else ""
    text = f"An image or two of every condition, and the mean true accuracy of the classifiers there.{fewer}"
    return (Album("The conditions", text, tuple(AlbumPart(row, tuple(of)) for row, of in parts.items() if of)),)


def _thumbnails(arrays: RunArrays) -> dict[Condition, list[str]]:
    """Return the addresses of images of every condition, of the record that keeps some."""
    for record in arrays.run.records:
        names = [name for name in record.attachments if name.startswith(f"{THUMBNAILS}/")]
        if names:
            addresses: dict[str, list[str]] = {}
            for name in names:
                file = data_address("image/png", record.attachment(name))
                addresses.setdefault(name.split("/")[1], []).append(file)
            conditions = (Condition(**facts) for facts in record.metrics["conditions"])
            return {condition: addresses.get(str(number), []) for number, condition in enumerate(conditions)}
    return {}
