from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from openworld.evaluations.accuracy_estimation.cards import (
    BIAS,
    ERROR,
    ESTIMATE,
    GIVEN,
    SEVERITY_BIAS,
    SEVERITY_ERROR,
    TRUE_ACCURACY,
)
from openworld.evaluations.accuracy_estimation.measurements import Measurements, Model
from openworld.evaluations.accuracy_estimation.results import is_complete, leader
from openworld.report.charts import Cloud, Dots, DotsChart, Line, LineChart, Quantity, Reference, ScatterChart
from openworld.report.charts.dots import dots_key
from openworld.report.charts.quantity import CROWDED
from openworld.report.figure import Figure
from openworld.report.series_style import SeriesStyle
from openworld.results import Metric, Results, Value

BUDGET = 30_000
"""Dots of a whole figure; beyond it they are averaged."""

LEVELS = (
    ("", lambda model: (model.name, model.checkpoint, model.seed)),
    (", mean over its seeds", lambda model: (model.name, model.checkpoint)),
    (", mean over its seeds and checkpoints", lambda model: (model.name,)),
    (", mean over all models", lambda model: ()),
)
"""How far models are averaged into one dot: its words, and what models of one dot have in common."""

SEVERITY = Quantity("severity", "severity", "number", 6, at_values=True)


def severity(results: Results, measured: Measurements, styles: dict[str, SeriesStyle]) -> Figure | None:
    """Return two charts: mean absolute error and bias, a line per method; None where there are no two severities."""
    steps = results.where(metric=SEVERITY_ERROR.key).places("severity")
    if len(steps) < 2:
        return None

    def values(entity: str, metric: Metric) -> list[float | None]:
        return [results.value(entity, metric.key, severity=step).value for step in steps]

    truth, highlight = values("", TRUE_ACCURACY), tuple(filter(None, (measured.baseline, leader(results, measured))))

    def chart(title: str, y: Quantity, metric: Metric, references=()) -> LineChart:
        lines = {
            label: Line(
                steps, values(label, metric), further={"estimates": values(label, GIVEN), "true_accuracy": truth}
            )
            for label in measured.labels
        }
        whole = {label: line for label, line in lines.items() if None not in line.y}
        return LineChart(title, SEVERITY, y, whole, highlight, references=references)

    size = Quantity("mean_absolute_error", "mean absolute error, points", covers=(0.0,))
    bias = Quantity(BIAS.key, "estimated − true accuracy, points", "points")
    charts = (chart("How far off", size, SEVERITY_ERROR), chart("Which way", bias, SEVERITY_BIAS, (Reference(0.0),)))
    if not charts[0].series:
        return None
    crowded = " Point at a name above to bring its line forward." * (len(charts[0].series) > CROWDED)
    caption = (
        "Means over all corruptions and classifiers at every severity; true accuracy goes from "
        f"{TRUE_ACCURACY.write(truth[0])} to {TRUE_ACCURACY.write(truth[-1])} % on the way.",
        "Left the mean absolute error; right estimated minus true accuracy, where above 0 is overestimated. A method "
        f"that sees the shift stays level in both.{crowded}",
    )
    return Figure("severity", "What happens as the shift grows?", caption, charts, styles, names=("panel", "method"))


def error_time(results: Results, measured: Measurements, styles: dict[str, SeriesStyle]) -> Figure | None:
    """Return one chart, one dot per method; None where fewer than two have a time and an error."""
    clouds = {}
    for label in results.where(metric=ESTIMATE.key).entities:
        seconds = results.value(label, ESTIMATE.key).value
        error = results.value(label, ERROR.key, images=measured.main)
        if error.value is not None and seconds > 0:
            clouds[label] = _time_cloud(seconds, error)
    if len(clouds) < 2:
        return None
    x = Quantity("milliseconds_per_condition", "milliseconds for one condition", "number", 6, log=True)
    y = Quantity("mean_absolute_error", "mean absolute error, points")
    caption = (
        "Mean absolute error, average of the lines, against the time that a method takes to estimate one condition, "
        "images and models being read already, on a logarithmic scale; thin lines are 95 % intervals of the mean.",
        "Lower left is better: little time, little error.",
    )
    chart = ScatterChart("", x, y, clouds)
    return Figure("error-time", "What does a smaller error cost?", caption, (chart,), styles, names=("panel", "method"))


def _time_cloud(seconds: float, error: Value) -> Cloud:
    time, interval = 1000 * seconds, error.over()
    text = f"off by {ERROR.write(error.value)} in {ESTIMATE.write(seconds)} ms"
    low, high = (interval.low, interval.high) if interval else (None, None)
    spread = ((time, low), (time, high)) if interval else ()
    return Cloud(((time, error.value),), spread, text, {"low": (low,), "high": (high,)})


def estimated_and_true(results: Results, measured: Measurements) -> Figure:
    """Return one chart per method, on one range for all: on the diagonal the estimate is right."""
    cloud = ModelGroups.within(measured, len(measured.methods))
    accuracy, estimates = cloud.mean(measured.accuracy), [cloud.mean(1 - error) for error in measured.error]
    known = np.concatenate([accuracy.ravel(), *(estimate.ravel() for estimate in estimates)])
    known = known[np.isfinite(known)]
    covers = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    x = Quantity("accuracy", "true accuracy, %", covers=covers)
    y = Quantity("estimate", "estimated, %", covers=covers)

    def chart(label: str, estimate: np.ndarray) -> DotsChart:
        error = results.value(label, ERROR.key, images=measured.main).value
        star = "*" * (error is not None and not is_complete(results, label, measured.main))
        note, dots = f"off by {ERROR.write(error)}{star}", tuple(cloud.dots(accuracy, estimate))
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
    return Figure("estimated", title, caption, tuple(charts), key=cloud.key, small=True, shared=tuple(rows))


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
