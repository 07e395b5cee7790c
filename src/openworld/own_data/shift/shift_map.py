"""Images of a measured shift: examples of its cells, farthest, nearest and of the reference, and the grid as a map."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from openworld.own_data.shift.measurement import ImageDegrees
from openworld.report.charts import CellChart, ChartCell
from openworld.report.charts.cells import count_cell
from openworld.report.data_files import thumbnail_address
from openworld.report.figure import Figure
from openworld.report.shift_axes import AXES, DEGREES, KEYS, NEAR, Place
from openworld.shifts import HALVES

SHOWN = 12  # images of each kind beside those of the cells
IN_A_CELL = 4


@dataclass(frozen=True)
class ExampleImage:
    """An image that the page shows."""

    kind: str  # why it is shown
    name: str
    cell: tuple[int, int]  # (covariate, semantic) level
    semantic: float
    covariate: float
    address: str = field(repr=False, default="")  # a `data:` image


def examples(measured: ImageDegrees) -> Iterator[ExampleImage]:
    """Yield the images, kind by kind; an image of several kinds is read once."""
    concepts = measured.concepts()
    addresses: dict[int, str] = {}
    for kind, place in _chosen(measured, concepts):
        test = measured.tests[measured.test[place]]
        if place not in addresses:
            addresses[place] = thumbnail_address(test.images.image(int(measured.row[place])))
        cell = (int(measured.grid.covariate[place]), int(measured.grid.semantic[place]))
        degrees = (float(measured.degrees[half][place]) for half in HALVES)
        name = ", ".join(filter(None, (concepts[place], test.name if len(measured.tests) > 1 else "")))
        yield ExampleImage(kind, name, cell, *degrees, addresses[place])
    # Nearest neighbours are known to be readable.
    readable = np.unique(np.concatenate([measured.nearest[half] for half in HALVES]))
    drawn = np.random.default_rng(measured.seed).choice(readable, min(SHOWN, len(readable)), replace=False)
    for row in sorted(drawn.tolist()):
        name = measured.reference.concept(row)
        yield ExampleImage("reference", name, (0, 0), 0.0, 0.0, thumbnail_address(measured.reference.images.image(row)))


def _chosen(measured: ImageDegrees, concepts: list[str]) -> Iterator[tuple[str, int]]:
    """Yield (kind, which image)."""
    for row, column in np.argwhere(measured.grid.counts > 0).tolist():
        places = measured.grid.cell(row, column)
        values = [measured.degrees[half][places] for half in HALVES]
        from_middle = sum(np.abs(degrees - np.median(degrees)) for degrees in values)
        for place in _varied(places[np.argsort(from_middle, kind="stable")], concepts, IN_A_CELL):
            yield "cell", place
    ranks = {half: np.empty(len(measured.row)) for half in HALVES}  # of each degree, as a share in [0, 1)
    for half, values in ranks.items():
        values[np.argsort(measured.degrees[half], kind="stable")] = np.arange(len(values)) / len(values)
    near = ranks["semantic"] + ranks["covariate"]
    for kind, order in (*((half, -ranks[half]) for half in HALVES), ("near", near)):
        for place in _varied(np.argsort(order, kind="stable"), concepts, SHOWN):
            yield kind, place


def _varied(order: np.ndarray, concepts: list[str], count: int) -> list[int]:
    """Return the first places in an order, of each concept only the first; without names simply the first."""
    taken: dict[object, int] = {}
    for place in order.tolist():
        taken.setdefault(concepts[place] or place, place)
        if len(taken) == count:
            break
    return list(taken.values())


COUNTED, WITH_IMAGES = 56.0, 84.0  # sides of a cell


def shift_map(measured: ImageDegrees) -> Figure:
    """Return how many images each cell holds."""
    grid, cuts = measured.grid, measured.cuts
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
        own |= {"images": int(count), "present": present}
        cells[row, column] = count_cell(int(count), most if present else None, own)
    return Figure("shift-map", "Where the images lie", caption, (_chart(measured, cells, COUNTED),))


def shift_examples(measured: ImageDegrees, examples: Sequence[ExampleImage]) -> Figure:
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
    present = measured.grid.present
    cells = {}
    for cell, own in by_cell.items():
        degrees = [f"{AXES['semantic']} {one.semantic:.3f}, {AXES['covariate']} {one.covariate:.3f}" for one in own]
        titles = (f"{one.name or 'no name'}: {text}" for one, text in zip(own, degrees, strict=True))
        images = ((one.address, title) for one, title in zip(own, titles, strict=True))
        cells[cell] = ChartCell(images=tuple(images), faint=not present[cell])
    rows = tuple(
        dict(zip(KEYS, cell, strict=True))
        | {"name": example.name, "semantic_degree": example.semantic, "covariate_degree": example.covariate}
        for cell, own in sorted(by_cell.items())
        for example in own
    )
    chart = _chart(measured, cells, WITH_IMAGES)
    return Figure("shift-examples", "Images of every cell", caption, (chart,), shared=rows)


def _chart(measured: ImageDegrees, cells: dict[Place, ChartCell], side: float) -> CellChart:
    """Return a map whose titles stand where levels begin; beyond its bounds images are far."""
    halves = ("covariate", "semantic")
    cuts = [measured.cuts[half].cuts for half in halves]
    rows, columns = (("", *(f"{start:.3f}" for start in starts)) for starts in cuts)
    titles = tuple(DEGREES[half] for half in halves)
    bounds = []  # where they lie along each axis, in cells; in the last level, which is open, in its middle
    for half, starts in zip(halves, cuts, strict=True):
        usual, edges = measured.bound(half), (0.0, *starts)
        level = sum(start <= usual for start in starts)
        within = 0.5 if level == len(starts) else (usual - edges[level]) / (edges[level + 1] - edges[level])
        bounds.append(level + within)
    return CellChart("", *titles, rows, columns, cells, KEYS, on_borders=True, bounds=(bounds[0], bounds[1]), side=side)
