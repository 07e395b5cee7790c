"""Estimated against true accuracy, a chart per method; models are averaged only as far as a page needs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from openworld.evaluations.accuracy_estimation.cards import ERROR
from openworld.evaluations.accuracy_estimation.measurements import Measurements, Model
from openworld.report.charts import Dots, DotsChart, Quantity
from openworld.report.charts.dots import dots_key
from openworld.report.figure import Figure
from openworld.report.layout import Brief

BUDGET = 20_000
"""Dots of a whole figure; beyond it they are averaged."""

LEVELS = (
    ("", lambda model: (model.name, model.checkpoint, model.seed)),
    (", mean over its seeds", lambda model: (model.name, model.checkpoint)),
    (", mean over its seeds and checkpoints", lambda model: (model.name,)),
    (", mean over all models", lambda model: ()),
)
"""How far models are averaged into one dot: its words, and what models of one dot have in common."""


def estimated_and_true(brief: Brief) -> Iterator[Figure]:
    """Yield one chart per method, on one range for all: on the diagonal the estimate is right."""
    measured = brief.source
    cloud = ModelGroups.within(measured, len(measured.methods))
    accuracy, estimates = cloud.mean(measured.accuracy), [cloud.mean(each) for each in measured.estimated]
    known = np.concatenate([accuracy.ravel(), *(estimate.ravel() for estimate in estimates)])
    known = known[np.isfinite(known)]
    covers = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    x = Quantity("accuracy", "true accuracy, %", covers=covers)
    y = Quantity("estimate", "estimated, %", covers=covers)

    def chart(label: str, estimate: np.ndarray) -> DotsChart:
        error, mark = brief.results.value(label, ERROR.key).value, brief.marks.get(label)
        note = f"off by {ERROR.write(error)}{mark.sign if mark and error is not None else ''}"
        dots = tuple(cloud.dots(accuracy, estimate))
        return DotsChart(label, x, y, dots, cloud.shapes, label, "equal", note=note, small=True)

    numbers = dict(zip(measured.labels, estimates, strict=True))
    caption = (
        f"Every dot is one condition with one classifier{cloud.text}: its true accuracy across, what the method "
        "says of it without labels upwards; in the corner the mean absolute error (average of the lines).",
        "On the diagonal the estimate is right, above it overestimated; a cloud that lies flat tells good conditions "
        "from bad ones by too little, whatever its mean error is.",
    )
    charts, rows = (chart(*each) for each in numbers.items()), cloud.rows({"accuracy": accuracy} | numbers)
    title = "Do the estimates follow the truth?"
    yield Figure("estimated", title, caption, tuple(charts), key=cloud.key, small=True, shared=tuple(rows))


@dataclass(frozen=True, eq=False)
class ModelGroups:
    """Judged models averaged into G groups, of which each is a dot in every condition.

    Args:
        measured: of a run.
        text: over what a dot is the mean, for a caption.
        places: of every group, those of its models.
    """

    measured: Measurements
    text: str
    places: tuple[tuple[int, ...], ...]

    @classmethod
    def within(cls, measured: Measurements, dots: int) -> "ModelGroups":
        """Return models averaged as far as the budget demands, where each is so many dots in a condition."""
        for text, common in LEVELS:
            groups: dict[tuple, list[int]] = {}
            for place, model in enumerate(measured.models):
                groups.setdefault(common(model), []).append(place)
            averaged = text if len(groups) < len(measured.models) else ""
            chosen = cls(measured, averaged, tuple(map(tuple, groups.values())))
            if len(groups) * len(measured.conditions) * dots <= BUDGET:
                break
        return chosen

    @property
    def groups(self) -> list[list[Model]]:
        """The models of every group."""
        return [[self.measured.models[place] for place in places] for places in self.places]

    @cached_property
    def shapes(self) -> tuple[str, ...]:
        """What shapes stand for: models, or the checkpoints of a single one."""
        names, titles = ({getattr(model, name): None for model in self.measured.models} for name in ("name", "title"))
        return tuple(names if len(names) > 1 else titles)

    @property
    def key(self) -> tuple:
        """The marks of kinds of shift and of shapes, for a figure."""
        return dots_key([condition.kind for condition in self.measured.conditions], self.shapes)

    def mean(self, values: np.ndarray) -> np.ndarray:
        """Return float[G, C], the means of values float[M, C] over the models of every group."""
        return np.stack([values[list(places)].mean(axis=0) for places in self.places])

    def dots(self, x: np.ndarray, y: np.ndarray) -> Iterator[Dots]:
        """Yield float[G, C] against float[G, C] by kind of shift and shape; what has no number is not drawn."""
        kinds = np.array([condition.kind for condition in self.measured.conditions])
        shapes = np.array([self._shape(models) for models in self.groups])
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
            for at, condition in enumerate(self.measured.conditions):
                values = {name: number[place, at] for name, number in numbers.items()}
                cells = {name: f"{value:.4f}" if np.isfinite(value) else "" for name, value in values.items()}
                if any(cells.values()):
                    where = {"line": condition.row, "condition": condition.name, "kind": condition.kind}
                    yield names | where | model | cells

    def _shape(self, models: Sequence[Model]) -> str:
        """The shape of a group of models; the first where it joins several."""
        shapes = {shape for model in models for shape in (model.name, model.title) if shape in self.shapes}
        return shapes.pop() if len(shapes) == 1 else self.shapes[0]


def _common(models: Sequence[Model], name: str):
    """What all models of a dot have in common, or nothing."""
    values = {getattr(model, name) for model in models}
    return values.pop() if len(values) == 1 else ""
