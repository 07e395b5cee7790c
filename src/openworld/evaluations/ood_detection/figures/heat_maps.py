"""AUROC of every detector in every cell, on one colour scale: blue above chance, orange below, pale at chance.

Blue and orange are told apart by protanope, deuteranope and tritanope eyes, and the number stands in every cell.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from markupsafe import Markup

from openworld.evaluations.ood_detection.numbers import CHANCE, blind, means, spans
from openworld.evaluations.ood_detection.run import Judged, ShiftRun
from openworld.report.cell_map import tone_map
from openworld.report.panels import Figure, Panel
from openworld.report.shift_axes import NEAR
from openworld.report.svg import element
from openworld.report.text import percent

TOLD = 24  # maps; of more, cells tell nothing to those who point at them, for the page would grow too large
HEADER = ("model", "detector", "covariate_level", "semantic_level", "pictures", "auroc", "low", "high")
MOST = 32  # maps that a page has room for


def heat_maps(run: ShiftRun) -> Figure:
    """A panel per model and detector."""
    told = len(run.judged) <= TOLD
    panels = tuple(Panel(one.title, _area_map(run, one, told)) for one in run.judged[:MOST])
    beyond = f" {len(run.judged) - MOST} more maps are left out; the data has all." if len(run.judged) > MOST else ""
    caption = (
        f"AUROC, percent, mean over the seeds. {NEAR}. Blue above 50, orange below, the darker the farther from it; "
        "one scale for all.",
        "Dashed: blind, the 95 % interval over pictures (given the seeds) reaches 50. Hatched: N/A, with its number of "
        f"pictures, fewer than {run.least}. Over another pool levels mean other degrees.{beyond}",
    )
    heading = "Where does a detector see it?"
    return Figure("cells", heading, caption, panels, HEADER, tuple(_rows(run)), key=_key())


def _rows(run: ShiftRun) -> Iterator[tuple]:
    """Cells that are there: AUROC, mean over the seeds, with its interval over pictures."""
    cells = run.cells
    for one in run.judged:
        table, (low, high) = means(cells, one), spans(cells, one)
        for cell in map(tuple, np.argwhere(cells.present).tolist()):
            ends = (float(end[cell]) if np.isfinite(end[cell]) else None for end in (low, high))
            yield one.model, one.detector, *cell, int(cells.counts[cell]), float(table[cell]), *ends


def _area_map(run: ShiftRun, judged: Judged, told: bool) -> Markup:
    low, high = spans(run.cells, judged)

    def hint(cell: tuple[int, int], value: float) -> str:
        ends = f" [{percent(low[cell])} {percent(high[cell])}]" if np.isfinite(low[cell]) else ""
        place = f"covariate {cell[0]}, semantic {cell[1]}"
        return f"{place}: {percent(value)}{ends}, {int(run.cells.counts[cell]):,} pictures"

    table, dashed = means(run.cells, judged), blind(run.cells, judged)
    told_of = hint if told else None
    return tone_map(run.cells.counts, table, lambda value: (value - CHANCE) / CHANCE, percent, told_of, dashed)


def _key() -> tuple[tuple[Markup, str], ...]:
    """Samples of the scale, 26 by 14."""
    samples: Sequence[tuple[str, float | None, str]] = (
        ("cell-below natural", 0.74, "0"),
        ("cell-below natural", 0.39, "25"),
        ("cell", 0.04, "50: chance"),
        ("cell", 0.39, "75"),
        ("cell", 0.74, "100"),
        ("cell cell-blind", 0.04, "blind"),
        ("cell-few", None, "N/A"),
    )
    return tuple((_sample(css, opacity), text) for css, opacity, text in samples)


def _sample(css: str, opacity: float | None) -> Markup:
    shown = None if opacity is None else f"{opacity:.2f}"
    square = element("rect", x=0.5, y=0.5, width=25.0, height=13.0, class_=css, fill_opacity=shown)
    return element("svg", square, viewBox="0 0 26 14", width=26, height=14, aria_hidden="true")
