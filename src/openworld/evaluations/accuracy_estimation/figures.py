"""The figures of accuracy estimation: estimates against the truth, errors by severity and by time, alignment."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from openworld.evaluations.accuracy_estimation.measurements import Measurements, Model
from openworld.evaluations.accuracy_estimation.record import BASE, FUSED
from openworld.evaluations.accuracy_estimation.results import (
    BIAS,
    ERROR,
    ESTIMATE,
    GIVEN,
    SEVERITY_BIAS,
    SEVERITY_ERROR,
    TRUE_ACCURACY,
    is_complete,
    leader,
)
from openworld.report.charts import Cloud, Dots, DotsChart, Line, LineChart, Quantity, Reference, ScatterChart
from openworld.report.charts.dots import dots_key
from openworld.report.charts.quantity import CROWDED
from openworld.report.figure import Figure
from openworld.report.series_style import SeriesStyle
from openworld.results import Metric, Results, Value

BUDGET = 30_000
"""Dots of a whole figure; beyond it they are averaged."""

ROW = 8
"""What a dot of alignment weighs against one of many methods: its row of the download is its own."""

LEVELS = (
    ("", lambda model: (model.name, model.checkpoint, model.seed)),
    (", mean over its seeds", lambda model: (model.name, model.checkpoint)),
    (", mean over its seeds and checkpoints", lambda model: (model.name,)),
    (", mean over all models", lambda model: ()),
)
"""How far models are averaged into one dot: its words, and what models of one dot have in common."""

SEVERITY = Quantity("severity", "severity", "number", 6, at_values=True)
GAPS = ("over_judged_model", "over_reference")
Groups = tuple[tuple[int, ...], ...]
"""Places of the models that are averaged into one dot."""


@dataclass(frozen=True, eq=False)
class Dotted:
    """What is drawn: models averaged into G groups; accuracy float[G, C], estimates float[K, G, C], NaN = none."""

    text: str
    groups: Groups
    accuracy: np.ndarray
    estimates: np.ndarray


def severity(found: Results, measured: Measurements, styles: dict[str, SeriesStyle]) -> Figure | None:
    """Return two charts: mean absolute error and bias, a line per method; None where there are no two severities."""
    steps = found.where(metric=SEVERITY_ERROR.key).places("severity")
    if len(steps) < 2:
        return None

    def values(entity: str, metric: Metric) -> list[float | None]:
        return [found.value(entity, metric.key, severity=step).value for step in steps]

    truth, highlight = values("", TRUE_ACCURACY), tuple(filter(None, (measured.baseline, leader(found, measured))))

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
        "Means over all corruptions and judged models at every severity; true accuracy goes from "
        f"{TRUE_ACCURACY.write(truth[0])} to {TRUE_ACCURACY.write(truth[-1])} % on the way.",
        "Left the mean absolute error; right estimated minus true accuracy, where above 0 is overestimated. A method "
        f"that sees the shift stays level in both.{crowded}",
    )
    return Figure("severity", "What happens as the shift grows?", caption, charts, styles, names=("panel", "method"))


def error_time(found: Results, measured: Measurements, styles: dict[str, SeriesStyle]) -> Figure | None:
    """Return one chart, one dot per method; None where fewer than two have a time and an error."""
    clouds = {}
    for label in found.where(metric=ESTIMATE.key).entities:
        seconds = found.value(label, ESTIMATE.key).value
        error = found.value(label, ERROR.key, images=measured.main)
        if error.value is not None and seconds > 0:
            clouds[label] = _timed(seconds, error)
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


def _timed(seconds: float, error: Value) -> Cloud:
    time, interval = 1000 * seconds, error.over()
    text = f"off by {ERROR.write(error.value)} in {ESTIMATE.write(seconds)} ms"
    low, high = (interval.low, interval.high) if interval else (None, None)
    spread = ((time, low), (time, high)) if interval else ()
    return Cloud(((time, error.value),), spread, text, {"low": (low,), "high": (high,)})


def estimated_and_true(found: Results, measured: Measurements) -> Figure:
    """Return one chart per method, on one range for all: on the diagonal the estimate is right."""
    dotted, shapes = averaged(measured), shape_names(measured)
    known = np.concatenate([dotted.accuracy.ravel(), dotted.estimates.ravel()])
    known = known[np.isfinite(known)]
    covers = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    x, y = (Quantity(key, title, covers=covers) for key, title in
            (("accuracy", "true accuracy, %"), ("estimate", "estimated, %")))  # fmt: skip

    def chart(place: int, label: str) -> DotsChart:
        dots = tuple(_dots(measured, dotted.groups, shapes, dotted.accuracy, dotted.estimates[place]))
        error = found.value(label, ERROR.key, images=measured.main).value
        star = "*" * (error is not None and not is_complete(found, label, measured.main))
        note = f"off by {ERROR.write(error)}{star}"
        return DotsChart(label, x, y, dots, tuple(shapes), label, "equal", note=note, small=True)

    charts = tuple(chart(place, label) for place, label in enumerate(measured.labels))
    caption = (
        f"Every dot is one condition with one judged model{dotted.text}: its true accuracy across, what the method "
        "says of it without labels upwards; in the corner the mean absolute error (average of the lines).",
        "On the diagonal the estimate is right, above it overestimated; a cloud that lies flat tells good conditions "
        "from bad ones by too little, whatever its mean error is.",
    )
    key = dots_key([condition.kind for condition in measured.conditions], shapes)
    numbers = {"accuracy": dotted.accuracy} | dict(zip(measured.labels, dotted.estimates, strict=True))
    shared = tuple(_rows(measured, dotted.groups, numbers))
    title = "Do the estimates follow the truth?"
    return Figure("estimated", title, caption, charts, key=key, small=True, shared=shared)


def alignment_gap(measured: Measurements) -> Figure | None:
    """Return one chart per reference, the gap to the judged model against the gap to the reference (FRAP, Figure 4)."""

    def read(key: str) -> np.ndarray:
        return measured.read(lambda target: (target.alignment or {}).get(key))

    fused = {name: scores for name in measured.references if np.isfinite(scores := read(f"{FUSED}{name}")).any()}
    if not fused:
        return None
    dotted, shapes = averaged(measured, ROW * len(fused)), shape_names(measured)
    gaps = {
        name: tuple(_of_groups(scores - read(other), dotted.groups) for other in (BASE, name))
        for name, scores in fused.items()
    }
    charts = tuple(_alignment(measured, name, pair, dotted.groups, shapes) for name, pair in gaps.items())
    caption = (
        f"Every dot is one condition with one judged model{dotted.text}: how much higher the Semantic Alignment Score "
        "of the fused prediction is than the judged model's (across) and than the reference's own (upwards), points.",
        "In the upper right corner fusing beats both; on the dashed lines it changes nothing.",
    )
    key = dots_key([condition.kind for condition in measured.conditions], shapes)
    rows = (
        _rows(measured, dotted.groups, dict(zip(GAPS, pair, strict=True)), reference=name)
        for name, pair in gaps.items()
    )
    title = "Does fusing bring predictions nearer in meaning?"
    return Figure("alignment-gap", title, caption, charts, key=key, shared=tuple(chain(*rows)))


def _alignment(measured: Measurements, reference: str, gaps, groups: Groups, shapes: list[str]) -> DotsChart:
    x, y = (
        Quantity(key, f"over {name}, points", "points", covers=(0.0,))
        for key, name in zip(GAPS, ("the judged model", reference), strict=True)
    )
    dots = tuple(_dots(measured, groups, shapes, *gaps))
    zero = (Reference(0.0, axis="x"), Reference(0.0))
    return DotsChart(f"fused with {reference}", x, y, dots, tuple(shapes), references=zero)


def averaged(measured: Measurements, dots: int | None = None) -> Dotted:
    """Return models averaged as far as the budget demands; `dots` a case, as many as there are methods if None."""
    dots = dots or len(measured.methods)
    levels = [(text, _grouped(measured, common)) for text, common in LEVELS]
    fitting = [level for level in levels if len(level[1]) * len(measured.conditions) * dots <= BUDGET]
    text, places = (fitting or levels[-1:])[0]
    text = text if len(places) < len(measured.models) else ""
    estimates = np.stack([(1 - measured.error[:, list(group)]).mean(axis=1) for group in places], axis=1)
    return Dotted(text, places, _of_groups(measured.accuracy, places), estimates)


def _grouped(measured: Measurements, common: Callable[[Model], tuple]) -> Groups:
    """Places of the models that have something in common."""
    groups: dict[tuple, list[int]] = {}
    for place, model in enumerate(measured.models):
        groups.setdefault(common(model), []).append(place)
    return tuple(map(tuple, groups.values()))


def shape_names(measured: Measurements) -> list[str]:
    """Return what shapes tell apart: models, or the checkpoints of a single one."""
    models = list(dict.fromkeys(model.name for model in measured.models))
    return models if len(models) > 1 else list(dict.fromkeys(model.title for model in measured.models))


def _shape_of(measured: Measurements, group: tuple[int, ...], shapes: list[str]) -> str:
    """The shape of a group of models; the first where it joins several."""
    found = {next(name for name in (model.name, model.title) if name in shapes)
             for model in (measured.models[place] for place in group)}  # fmt: skip
    return found.pop() if len(found) == 1 else shapes[0]


def _dots(measured: Measurements, groups: Groups, shapes: list[str], x: np.ndarray, y: np.ndarray) -> Iterator[Dots]:
    """By kind of shift and shape; what has no number is not drawn."""
    kinds = np.array([condition.kind for condition in measured.conditions])
    shape = np.array([_shape_of(measured, group, shapes) for group in groups])
    known = np.isfinite(x) & np.isfinite(y)
    for kind in dict.fromkeys(kinds.tolist()):
        for name in dict.fromkeys(shape.tolist()):
            chosen = known & (kinds == kind)[None, :] & (shape == name)[:, None]
            if chosen.any():
                yield Dots(kind, name, list(zip(x[chosen].tolist(), y[chosen].tolist(), strict=True)))


def _of_groups(values: np.ndarray, groups: Groups) -> np.ndarray:
    return np.stack([values[list(group)].mean(axis=0) for group in groups])


def _rows(measured: Measurements, groups: Groups, numbers: Mapping[str, np.ndarray], **names: str) -> Iterator[dict]:
    """A row per dot, a column per number, float[G, C], with four decimals; none where no number is known."""
    for g, group in enumerate(groups):
        models = [measured.models[place] for place in group]
        model = {key: _common(models, name) for key, name in (("model", "name"), ("epoch", "epoch"), ("seed", "seed"))}
        for c, condition in enumerate(measured.conditions):
            cells = {name: f"{value[g, c]:.4f}" if np.isfinite(value[g, c]) else "" for name, value in numbers.items()}
            if any(cells.values()):
                place = {"line": condition.row, "condition": condition.name, "kind": condition.kind}
                yield names | place | model | cells


def _common(models: Sequence[Model], name: str):
    """What all models of a dot have in common, or nothing."""
    values = {getattr(model, name) for model in models}
    return values.pop() if len(values) == 1 else ""
