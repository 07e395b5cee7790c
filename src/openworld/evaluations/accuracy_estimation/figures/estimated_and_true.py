"""Estimated against true accuracy, one small plot per method: on the diagonal the estimate is right."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from openworld.evaluations.accuracy_estimation.numbers import AVERAGE, ErrorTable
from openworld.evaluations.accuracy_estimation.run import EstimateRun
from openworld.evaluations.accuracy_estimation.wording import starred
from openworld.report.axes import Axis
from openworld.report.dots import Dots, dots_key, drawn_dots
from openworld.report.panels import Figure, Panel
from openworld.report.svg import Frame, drawing, element

BUDGET = 30_000  # dots of a whole figure; beyond it they are averaged
LEVELS = (
    ("", lambda model: (model.name, model.checkpoint, model.seed)),
    (", mean over its seeds", lambda model: (model.name, model.checkpoint)),
    (", mean over its seeds and checkpoints", lambda model: (model.name,)),
    (", mean over all models", lambda model: ()),
)
"""How far models are averaged into one dot: what is said of it, and what models of one dot have in common."""


@dataclass(frozen=True, eq=False)
class Cells:
    """What is drawn: models averaged into G groups; accuracy float[G, C], estimates float[K, G, C], NaN = none."""

    said: str
    groups: tuple[tuple[int, ...], ...]
    accuracy: np.ndarray
    estimates: np.ndarray


def estimated(table: ErrorTable) -> Figure:
    """One panel per method, on one range for all."""
    run = table.run
    cells = averaged(run)
    shapes = shape_names(run)
    range_of = _range(cells)
    panels = tuple(
        Panel(label, _panel(table, cells, place, shapes, range_of)) for place, label in enumerate(run.labels)
    )
    caption = (
        f"Every dot is one condition with one judged model{cells.said}: its true accuracy across, what the method says "
        "of it without labels upwards; in the corner the mean absolute error (average of the lines).",
        "On the diagonal the estimate is right, above it too hopeful; a cloud that lies flat tells good conditions "
        "from bad ones by too little, whatever its mean error is.",
    )
    key = dots_key([one.kind for one in run.conditions], shapes)
    heading = "Do the estimates follow the truth?"
    header = ("line", "condition", "kind", "model", "epoch", "seed", "accuracy", *run.labels)
    return Figure("estimated", heading, caption, panels, header, tuple(_rows(run, cells)), key, small=True)


def averaged(run: EstimateRun, dots: int | None = None) -> Cells:
    """Models averaged as far as the budget asks for; `dots` a case, as many as there are methods if None."""
    dots = dots or len(run.methods)
    levels = [(said, _grouped(run, common)) for said, common in LEVELS]
    fitting = [level for level in levels if len(level[1]) * len(run.conditions) * dots <= BUDGET]
    said, places = (fitting or levels[-1:])[0]
    said = said if len(places) < len(run.models) else ""
    accuracy = np.stack([run.accuracy[list(group)].mean(axis=0) for group in places])
    estimates = np.stack([(1 - run.error[:, list(group)]).mean(axis=1) for group in places], axis=1)
    return Cells(said, places, accuracy, estimates)


def _grouped(run: EstimateRun, common) -> tuple[tuple[int, ...], ...]:
    """Places of the models that have something in common."""
    groups: dict[tuple, list[int]] = {}
    for place, model in enumerate(run.models):
        groups.setdefault(common(model), []).append(place)
    return tuple(map(tuple, groups.values()))


def shape_names(run: EstimateRun) -> list[str]:
    """What shapes tell apart: models, or the checkpoints of a single one."""
    models = list(dict.fromkeys(model.name for model in run.models))
    return models if len(models) > 1 else list(dict.fromkeys(model.title for model in run.models))


def shape_of(run: EstimateRun, group: tuple[int, ...], shapes: list[str]) -> int:
    """The place of the shape of a group of models; 0 where it joins several."""
    found = {next(shapes.index(name) for name in (model.name, model.title) if name in shapes)
             for model in (run.models[place] for place in group)}  # fmt: skip
    return found.pop() if len(found) == 1 else 0


def _panel(table: ErrorTable, cells: Cells, place: int, shapes: list[str], range_of: Axis) -> Markup:
    run, label = table.run, table.labels[place]
    axes = [Axis(title, range_of.low, range_of.high, range_of.ticks) for title in ("true accuracy, %", "estimated, %")]
    plot = Frame(220.0, 206.0, (6.0, 8.0, 36.0, 38.0), *axes)
    ends = (range_of.low, range_of.high)
    diagonal = plot.line(ends, ends, class_="asked")
    clouds = list(_clouds(run, cells, place, shapes))
    errors = table.cells[AVERAGE][label]
    corner = element("text", f"off by {starred(errors)}", x=44.0, y=18.0, class_="contour-name")
    told = f"{label}: estimated against true accuracy of {sum(len(one.points) for one in clouds)} cases."
    group = element("g", element("title", told), *drawn_dots(plot, clouds), data_learner=label)
    return drawing(plot.width, plot.height, told, [plot.axes(), diagonal, group, corner])


def _clouds(run: EstimateRun, cells: Cells, place: int, shapes: list[str]) -> Iterator[Dots]:
    """By kind of shift and shape; what has no estimate is not drawn."""
    kinds = np.array([one.kind for one in run.conditions])
    shape = np.array([shape_of(run, group, shapes) for group in cells.groups])
    known = np.isfinite(cells.estimates[place]) & np.isfinite(cells.accuracy)
    for kind in dict.fromkeys(kinds.tolist()):
        for glyph in dict.fromkeys(shape.tolist()):
            chosen = known & (kinds == kind)[None, :] & (shape == glyph)[:, None]
            points = 100 * np.stack([cells.accuracy[chosen], cells.estimates[place][chosen]], axis=1)
            if len(points):
                yield Dots(kind, glyph, [tuple(point) for point in points.tolist()])


def _rows(run: EstimateRun, cells: Cells) -> Iterator[tuple]:
    """One line per dot, a column per method, fractions with four decimals."""
    for g, group in enumerate(cells.groups):
        models = [run.models[place] for place in group]
        told = [_shared(models, name) for name in ("name", "epoch", "seed")]
        for c, condition in enumerate(run.conditions):
            numbers = [_short(value) for value in (cells.accuracy[g, c], *cells.estimates[:, g, c])]
            yield (condition.row, condition.name, condition.kind, *told, *numbers)


def _shared(models, name: str):
    """What all models of a dot have in common, or nothing."""
    values = {getattr(model, name) for model in models}
    return values.pop() if len(values) == 1 else ""


def _short(value: float) -> str:
    return f"{value:.4f}" if np.isfinite(value) else ""


def _range(cells: Cells) -> Axis:
    values = np.concatenate([cells.accuracy.ravel(), cells.estimates.ravel()])
    values = 100 * values[np.isfinite(values)]
    return Axis.around("", values.tolist() or [0.0, 100.0], count=4)
