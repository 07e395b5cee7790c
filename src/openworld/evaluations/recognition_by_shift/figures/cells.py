"""OpenworldAUC in every cell of measured shift, a map per learner, on one scale."""

from collections.abc import Iterator

import numpy as np
from markupsafe import Markup

from openworld.evaluations.recognition_by_shift.run import OpenWorldShiftRun
from openworld.report.cell_map import tone_map
from openworld.report.panels import Figure, Panel
from openworld.report.shift_axes import NEAR
from openworld.report.text import percent

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
        f"OpenworldAUC of {_AGAINST[view]} against the new pictures of each cell, percent, mean over the seeds. "
        f"{NEAR}.",
        "One scale for all, from the lowest to the highest. Hatched: N/A, with its number of new pictures, fewer than "
        f"{run.any['least']} of them or of base ones.",
    )
    rows = tuple(_rows(run, view, tables))
    return Figure(f"cells-{view}".replace("_", "-"), _HEADINGS[view], caption, panels, HEADER, rows)


def _map(run: OpenWorldShiftRun, table: np.ndarray, ends: tuple[float, float]) -> Markup:
    low, high = ends

    def hint(cell: tuple[int, int], value: float) -> str:
        return f"covariate {cell[0]}, semantic {cell[1]}: {percent(value)}, {int(run.counts[cell]):,} new pictures"

    return tone_map(run.counts, table, lambda value: (value - low) / ((high - low) or 1.0), percent, hint)


def _rows(run: OpenWorldShiftRun, view: str, tables) -> Iterator[tuple]:
    for name, table in tables.items():
        for cell in np.ndindex(table.shape):
            value = float(table[cell])
            yield name, view, *cell, int(run.counts[cell]), None if np.isnan(value) else value
