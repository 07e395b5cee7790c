"""OpenworldAUC in every cell of measured shift, a map per learner, on one scale."""

from collections.abc import Iterator

import numpy as np
from markupsafe import Markup

from openworld.report.figures.cell_map import Scale, box, cell_map, few, written
from openworld.report.figures.figure import Figure, Panel, percent
from openworld.report.open_world_shifts.run import OpenWorldShiftRun
from openworld.report.svg import element

HEADER = ("learner", "base", "covariate_level", "semantic_level", "new_pictures", "openworld_auc")
_HEADINGS = {"near": "Cell by cell", "same_looks": "Cell by cell, when all pictures change their looks"}
_AGAINST = {"near": "base test pictures", "same_looks": "base pictures of the same level of looks"}


def open_world_cells(run: OpenWorldShiftRun, view: str) -> Figure:
    """A panel per learner; the darker, the higher. `view` says which base pictures."""
    tables = {name: run.cells(name, view) for name in run.learners}
    known = np.concatenate([table[np.isfinite(table)] for table in tables.values()])
    ends = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    panels = tuple(Panel(name, _map(run, table, ends)) for name, table in tables.items())
    caption = (
        f"OpenworldAUC of {_AGAINST[view]} against the new pictures of each cell, percent, mean over the seeds. Rows: "
        "levels of looks, near at the bottom; columns: levels of meaning, near on the left.",
        "One scale for all, from the lowest to the highest. Hatched: N/A, with its number of new pictures, fewer than "
        f"{run.any['least']} of them or of base ones.",
    )
    rows = tuple(_rows(run, view, tables))
    return Figure(f"cells-{view}".replace("_", "-"), _HEADINGS[view], caption, panels, HEADER, rows)


def _map(run: OpenWorldShiftRun, table: np.ndarray, ends: tuple[float, float]) -> Markup:
    scale, (low, high) = Scale.numbered(table.shape), ends

    def fill(cell: tuple[int, int], x: float, y: float) -> Markup:
        value, count = float(table[cell]), int(run.counts[cell])
        if np.isnan(value):
            return few(count, x, y, scale.side)
        told = element("title", f"looks {cell[0]}, meaning {cell[1]}: {percent(value)}, {count:,} new pictures")
        shade = 0.04 + 0.7 * (value - low) / ((high - low) or 1.0)
        drawn = box(x, y, scale.side, "cell", shade), written(percent(value), x, y, scale.side)
        return element("g", told, *drawn)

    known = int(np.isfinite(table).sum())
    return cell_map(scale, fill, f"OpenworldAUC in {known} of {table.size} cells.")


def _rows(run: OpenWorldShiftRun, view: str, tables) -> Iterator[tuple]:
    for name, table in tables.items():
        for cell in np.ndindex(table.shape):
            value = float(table[cell])
            yield name, view, *cell, int(run.counts[cell]), None if np.isnan(value) else value
