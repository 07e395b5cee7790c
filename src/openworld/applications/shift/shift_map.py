"""The grid of a shift as a heat map, and as many examples of every cell in its place."""

from openworld.applications.shift.shift_measurement import ExampleImage, ShiftAxis, ShiftMeasurement
from openworld.report.charts import CellChart, CellImage, ChartCell
from openworld.report.charts.cells import count_cell
from openworld.report.figure import Figure
from openworld.report.shift_axes import DEGREES, NEAR

COUNTED, PICTURED = 56.0, 84.0  # sides of a cell
KEYS = ("covariate_level", "semantic_level")


def shift_map(found: ShiftMeasurement) -> Figure:
    """Return how many images each cell holds."""
    caption = (
        f"{NEAR}. The darker a cell, the more pictures; hatched ones hold fewer than {found.least} and are N/A in "
        "statistics. Right of the upright dashed line pictures are far in meaning, above the other one in looks.",
        "Levels are of equal width between two quantiles of degrees, the first and the last open. They are cut by "
        "these pictures unless an earlier run gave them (--levels-of), so compare cells of two runs only then.",
    )
    most, covariate, semantic = max(map(max, found.cells)), found.axes["covariate"], found.axes["semantic"]
    cells = {}
    for row, counts in enumerate(found.cells):
        for column, count in enumerate(counts):
            starts = {"covariate_from": (None, *covariate.cuts)[row], "semantic_from": (None, *semantic.cuts)[column]}
            own = starts | {"pictures": count, "present": count >= found.least}
            cells[row, column] = count_cell(count, most if count >= found.least else None, own)
    return Figure("shift-map", "Where the pictures lie", caption, (_chart(found, cells, COUNTED),))


def shift_examples(found: ShiftMeasurement) -> Figure:
    """Return up to four images of each cell, those in its middle."""
    caption = (
        "Up to four pictures of each cell, from its middle and of different concepts; faint ones are of cells that are "
        "N/A in statistics. Point at a picture to read its name and degrees.",
        "From left to right meaning moves away from the reference, from bottom to top looks do. If that is not what "
        "you see, do not trust the degrees.",
    )
    examples: dict[tuple[int, int], list[ExampleImage]] = {}
    for one in found.examples:
        if one.kind == "cell" and one.address:
            examples.setdefault(one.cell, []).append(one)
    cells = {
        (row, column): ChartCell(images=tuple(map(_image, held)), faint=found.cells[row][column] < found.least)
        for (row, column), held in examples.items()
    }
    rows = tuple(
        dict(zip(KEYS, cell, strict=True))
        | {"name": one.name, "semantic_degree": one.semantic, "covariate_degree": one.covariate}
        for cell, held in sorted(examples.items())
        for one in held
    )
    return Figure("shift-examples", "Pictures of every cell", caption, (_chart(found, cells, PICTURED),), shared=rows)


def _chart(found: ShiftMeasurement, cells: dict[tuple[int, int], ChartCell], side: float) -> CellChart:
    """Degrees stand where levels begin; the first begins where degrees do. Beyond the bounds images are far."""
    rows, columns = (("", *(f"{start:.3f}" for start in found.axes[half].cuts)) for half in ("covariate", "semantic"))
    bounds = (_along(found.axes["covariate"]), _along(found.axes["semantic"]))
    titles = (DEGREES["covariate"], DEGREES["semantic"])
    return CellChart("", *titles, rows, columns, cells, KEYS, on_borders=True, bounds=bounds, side=side)


def _along(axis: ShiftAxis) -> float:
    """Where the bound lies along an axis, in cells; in the last level, which is open, in its middle."""
    edges = (0.0, *axis.cuts)
    level = sum(start <= axis.usual for start in axis.cuts)
    if level == len(axis.cuts):
        return level + 0.5
    return level + (axis.usual - edges[level]) / (edges[level + 1] - edges[level])


def _image(one: ExampleImage) -> CellImage:
    return CellImage(one.address, f"{one.name or 'no name'}: meaning {one.semantic:.3f}, looks {one.covariate:.3f}")
