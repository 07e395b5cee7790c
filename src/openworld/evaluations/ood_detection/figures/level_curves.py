"""AUROC over the levels of an axis: a panel per model over all cells, and one over the cells that are common to all."""

from collections.abc import Iterator

import numpy as np
from markupsafe import Markup

from openworld.evaluations.ood_detection.numbers import CHANCE, bands, curves, overall
from openworld.evaluations.ood_detection.run import Judged, ShiftRun
from openworld.report.axes import Axis
from openworld.report.level_lines import Line, level_panel
from openworld.report.panels import Figure, Panel
from openworld.report.series_style import Look
from openworld.report.shift_axes import AXES

HEADER = ("model", "detector", "cells", "level", "auroc", "lowest_seed", "highest_seed")
Curves = dict[Judged, np.ndarray]
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


def _figure(run: ShiftRun, axis: str, common: bool, found: Curves, y: Axis, looks: dict[str, Look]) -> Figure:
    panels = []
    for model in run.models:
        lines = {one: curve for one, curve in found.items() if one.model == model}
        title = f"{model}, {KINDS[common]}" if len(run.models) > 1 else KINDS[common].capitalize()
        panels.append(Panel(title, _panel(run, axis, common, lines, y, looks)))
    other = "columns (meaning)" if axis == "covariate" else "rows (looks)"
    told = (
        f"Common cells: only of those {other} that are present at every level that has any cell. Where this differs "
        "from all cells, the mix of cells makes the difference."
        if common
        else f"All cells: whatever a level has, so that levels may differ in their {other}."
    )
    caption = (
        f"AUROC at every level of {axis} shift ({AXES[axis]}), 0 the nearest: mean of its cells and over the seeds; "
        "the band behind a line spans the seeds, lowest to highest, or of one seed is its 95 % interval over pictures; "
        "dashed: chance.",
        told,
    )
    rows = tuple(row for one, curve in found.items() for row in _rows(one, common, curve))
    name = f"{axis}-{'common' if common else 'all'}"
    return Figure(name, f"Does {axis} shift raise the AUROC?", caption, tuple(panels), HEADER, rows)


def _panel(run: ShiftRun, axis: str, common: bool, curves_of: Curves, y: Axis, looks: dict[str, Look]) -> Markup:
    behind = {one: bands(run.cells, one, axis, common=common) for one in curves_of}
    lines = {one.detector: _line(curve, *behind[one]) for one, curve in curves_of.items()}
    leader = max(curves_of, key=lambda one: overall(run, one).value or 0.0).detector
    return level_panel(axis, y, lines, looks, leader=leader, chance=100 * CHANCE)


def _line(curve: np.ndarray, low: np.ndarray, high: np.ndarray) -> Line:
    """Means over the seeds where all have a value, and the ends of the band."""
    held = [values if np.isfinite(values).all() else None for values in curve.T]
    means = [None if one is None else float(one.mean()) for one in held]
    ends = zip(low, high, strict=True)
    return Line(means, [None if one is None else tuple(map(float, end)) for one, end in zip(held, ends, strict=True)])


def _rows(judged: Judged, common: bool, curve: np.ndarray) -> Iterator[tuple]:
    for level, values in enumerate(curve.T):
        if np.isfinite(values).all():
            numbers = map(float, (values.mean(), values.min(), values.max()))
            yield judged.model, judged.detector, KINDS[common], level, *numbers
