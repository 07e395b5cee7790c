"""AUROC over the levels of an axis: a panel per model over all cells, and one over the cells that are common to all."""

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from openworld.report.axes import Axis
from openworld.report.figures.figure import Figure, Panel, frame
from openworld.report.figures.names import beside, margin
from openworld.report.palette import Look
from openworld.report.shifts.numbers import CHANCE, curves, overall
from openworld.report.shifts.run import AXES, Judged, ShiftRun
from openworld.report.svg import Frame, drawing, element

CROWDED = 10  # lines in a panel; of more, all but the best stand back until chosen
HEADER = ("model", "detector", "cells", "level", "auroc", "lowest seed", "highest seed")
Lines = dict[Judged, np.ndarray]
KINDS = {False: "all cells", True: "common cells"}


def level_curves(run: ShiftRun, axis: str, looks: dict[str, Look]) -> tuple[Figure, ...]:
    """Over all cells, and over common ones: a panel per model, a line per detector; nothing where no level has a cell.

    Both have one range, so that what the mix of cells does is seen.
    """
    found = {common: {one: curves(run.cells, one, axis, common=common) for one in run.judged} for common in KINDS}
    known = [100 * curve[np.isfinite(curve)] for lines in found.values() for curve in lines.values()]
    values = np.concatenate(known).tolist()
    if not values:
        return ()
    y = Axis.around("AUROC, %", [*values, 100 * CHANCE])
    figures = (_figure(run, axis, common, lines, y, looks) for common, lines in found.items())
    return tuple(figure for figure in figures if figure.rows)


def _figure(run: ShiftRun, axis: str, common: bool, found: Lines, y: Axis, looks: dict[str, Look]) -> Figure:
    panels = []
    for model in run.models:
        lines = {one: curve for one, curve in found.items() if one.model == model}
        title = f"{model}, {KINDS[common]}" if len(run.models) > 1 else KINDS[common].capitalize()
        panels.append(Panel(title, _panel(run, axis, lines, y, looks)))
    other = "columns (meaning)" if axis == "covariate" else "rows (looks)"
    told = (
        f"Common cells: only of those {other} that are present at every level that has any cell. Where this differs "
        "from all cells, the mix of cells makes the difference."
        if common
        else f"All cells: whatever a level has, so that levels may differ in their {other}."
    )
    caption = (
        f"AUROC at every level of {axis} shift ({AXES[axis]}), 0 the nearest: mean of its cells and over the seeds; "
        "the band behind a line spans the seeds, lowest to highest; dashed: chance.",
        told,
    )
    rows = tuple(row for one, curve in found.items() for row in _rows(one, common, curve))
    name = f"{axis}-{'common' if common else 'all'}"
    return Figure(name, f"Does {axis} shift raise the AUROC?", caption, tuple(panels), HEADER, rows)


def _panel(run: ShiftRun, axis: str, lines: Lines, y: Axis, looks: dict[str, Look]) -> Markup:
    count = len(next(iter(lines.values()))[0])
    x = Axis(f"{axis} level ({AXES[axis]})", -0.2, count - 0.8, tuple(map(float, range(count))))
    named = margin(one.detector for one in lines)
    plot = frame(x, y, alone=True, names=len(lines), right=named)
    best = max(lines, key=lambda one: overall(run, one).value or 0.0)
    parts = [plot.axes(), plot.line((x.low, x.high), (100 * CHANCE,) * 2, class_="asked")]
    last = {}
    for one in sorted(lines, key=lambda one: one == best):
        levels = np.flatnonzero(np.isfinite(lines[one]).all(axis=0))
        if levels.size:
            back = " crowded back" if len(lines) > CROWDED and one != best else ""
            parts.append(_line(plot, one, levels, 100 * lines[one][:, levels], looks[one.detector], back))
            value = 100 * float(lines[one][:, levels[-1]].mean())
            last[one] = plot.across(float(levels[-1])), plot.up(value)
    ends = {one.detector: last[one] for one in lines if one in last}
    told = f"AUROC of {len(lines)} detectors at {count} levels of {axis} shift."
    return drawing(plot.width, plot.height, told, [*parts, *beside(plot, ends, looks)])


def _line(plot: Frame, judged: Judged, levels: np.ndarray, curve: np.ndarray, look: Look, back: str) -> Markup:
    xs, mean = levels.astype(float).tolist(), curve.mean(axis=0)
    told = ", ".join(f"{value:.1f} at {level}" for level, value in zip(levels, mean, strict=True))
    drawn = [element("title", f"{judged.title}: {told}")]
    drawn.append(plot.band(xs, curve.min(axis=0).tolist(), curve.max(axis=0).tolist(), class_="band"))
    drawn.append(plot.line(xs, mean.tolist(), class_="line", stroke_dasharray=look.dash or None))
    points: Sequence = list(zip(xs, mean.tolist(), strict=True))
    drawn += [plot.mark(*point, look.marker) for point in (points[:: len(points) - 1 or 1] if back else points)]
    return element("g", *drawn, class_=look.css_class + back, data_learner=judged.detector)


def _rows(judged: Judged, common: bool, curve: np.ndarray) -> list[tuple]:
    return [
        (judged.model, judged.detector, KINDS[common], level, float(values.mean()), float(values.min()),
         float(values.max()))
        for level, values in enumerate(curve.T)
        if np.isfinite(values).all()
    ]  # fmt: skip
