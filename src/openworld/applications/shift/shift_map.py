"""The grid of a shift as a heat map, and as many examples of every cell in its place."""

from collections.abc import Sequence

import numpy as np

from openworld.applications.shift.examples import ExampleImage
from openworld.applications.shift.summary import ComparedSets
from openworld.report.charts import CellChart, CellImage, ChartCell
from openworld.report.charts.cells import count_cell
from openworld.report.figure import Figure
from openworld.report.shift_axes import AXES, DEGREES, KEYS, NEAR, Place

COUNTED, WITH_IMAGES = 56.0, 84.0  # sides of a cell


def shift_map(compared: ComparedSets) -> Figure:
    """Return how many images each cell holds."""
    grid, cuts = compared.measured.grid, compared.measured.cuts
    caption = (
        f"{NEAR}. The darker a cell, the more images; hatched ones hold fewer than {grid.least} and are N/A in "
        "statistics. Right of the upright dashed line images are far in meaning, above the other one in appearance.",
        "Levels are of equal width between two quantiles of degrees, the first and the last open. They are cut by "
        "these images unless an earlier run gave them (--levels-of), so compare cells of two runs only then.",
    )
    starts = {half: (None, *levels.cuts) for half, levels in cuts.items()}
    most, cells = int(grid.counts.max()), {}
    for (row, column), count in np.ndenumerate(grid.counts):
        present = bool(grid.present[row, column])
        own = {"covariate_from": starts["covariate"][row], "semantic_from": starts["semantic"][column]}
        own |= {"pictures": int(count), "present": present}
        cells[row, column] = count_cell(int(count), most if present else None, own)
    return Figure("shift-map", "Where the images lie", caption, (_chart(compared, cells, COUNTED),))


def shift_examples(compared: ComparedSets, examples: Sequence[ExampleImage]) -> Figure:
    """Return up to four images of each cell, those in its middle."""
    caption = (
        "Up to four images of each cell, from its middle and of different concepts; faint ones are of cells that are "
        "N/A in statistics. Point at an image to read its name and degrees.",
        "From left to right meaning moves away from the reference, from bottom to top appearance does. If that is not "
        "what you see, do not trust the degrees.",
    )
    by_cell: dict[Place, list[ExampleImage]] = {}
    for example in examples:
        if example.kind == "cell" and example.address:
            by_cell.setdefault(example.cell, []).append(example)
    present = compared.measured.grid.present
    cells = {cell: ChartCell(images=tuple(map(_image, own)), faint=not present[cell]) for cell, own in by_cell.items()}
    rows = tuple(
        dict(zip(KEYS, cell, strict=True))
        | {"name": example.name, "semantic_degree": example.semantic, "covariate_degree": example.covariate}
        for cell, own in sorted(by_cell.items())
        for example in own
    )
    chart = _chart(compared, cells, WITH_IMAGES)
    return Figure("shift-examples", "Images of every cell", caption, (chart,), shared=rows)


def _chart(compared: ComparedSets, cells: dict[Place, ChartCell], side: float) -> CellChart:
    """Degrees stand where levels begin; the first begins where degrees do. Beyond the bounds images are far."""
    halves = ("covariate", "semantic")
    cuts = [compared.measured.cuts[half].cuts for half in halves]
    rows, columns = (("", *(f"{start:.3f}" for start in own)) for own in cuts)
    titles = tuple(DEGREES[half] for half in halves)
    bounds = tuple(_bound(own, compared.measured.bound(half)) for own, half in zip(cuts, halves, strict=True))
    return CellChart("", *titles, rows, columns, cells, KEYS, on_borders=True, bounds=bounds, side=side)


def _bound(cuts: Sequence[float], usual: float) -> float:
    """Where the bound lies along an axis, in cells; in the last level, which is open, in its middle."""
    edges = (0.0, *cuts)
    level = sum(start <= usual for start in cuts)
    if level == len(cuts):
        return level + 0.5
    return level + (usual - edges[level]) / (edges[level + 1] - edges[level])


def _image(example: ExampleImage) -> CellImage:
    degrees = f"{AXES['semantic']} {example.semantic:.3f}, {AXES['covariate']} {example.covariate:.3f}"
    return CellImage(example.address, f"{example.name or 'no name'}: {degrees}")
