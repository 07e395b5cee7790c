"""What the cells of measured shift hold: how many pictures, and one of them where a record keeps some."""

from collections.abc import Mapping

import numpy as np
from markupsafe import Markup

from openworld.evaluations.ood_detection.album import examples
from openworld.evaluations.ood_detection.run import ShiftRun
from openworld.report.cell_map import GAP, Fill, Scale, box, cell_map, counted, few
from openworld.report.panels import Figure, Panel
from openworld.report.shift_axes import NEAR
from openworld.report.svg import element

HEADER = ("covariate_level", "semantic_level", "pictures", "present")


def cell_counts(run: ShiftRun) -> Figure:
    """Two panels: the darker a cell, the more pictures; and a picture of each cell."""
    counts, scale = run.cells.counts, Scale.numbered(run.cells.counts.shape)
    most = int(counts.max())

    def fill(cell: tuple[int, int], x: float, y: float) -> Markup:
        count = int(counts[cell])
        if run.cells.present[cell]:
            return counted(count, most, x, y, scale.side)
        return few(count, x, y, scale.side)

    shown = examples(run)
    panels = [Panel("Pictures per cell", cell_map(scale, fill, f"Pictures per cell, {most:,} at most."))]
    if shown:
        panels.append(Panel("One picture of each cell", cell_map(scale, _pictured(run, shown, scale), "Pictures.")))
    caption = (
        f"{NEAR}. Hatched: fewer than {run.least} pictures, N/A; they count nowhere.",
        "From left to right pictures should mean other things, from bottom to top they should look otherwise; faint "
        "ones are of cells that are N/A. If that is not what you see, do not trust the levels.",
    )
    rows = tuple((*cell, int(counts[cell]), bool(run.cells.present[cell])) for cell in np.ndindex(counts.shape))
    return Figure("counts", "What is in the cells?", caption, tuple(panels), HEADER, rows)


def _pictured(run: ShiftRun, shown: Mapping[tuple[int, int], str], scale: Scale) -> Fill:
    def fill(cell: tuple[int, int], x: float, y: float) -> Markup:
        if cell not in shown:
            return box(x, y, scale.side, "cell-none")
        size = scale.side - GAP
        css = None if run.cells.present[cell] else "cell-rare"
        place = {"x": x, "y": y, "width": size, "height": size, "preserveAspectRatio": "xMidYMid slice"}
        told = element("title", f"covariate {cell[0]}, semantic {cell[1]}")
        return element("g", told, element("image", href=shown[cell], **place), class_=css)

    return fill
