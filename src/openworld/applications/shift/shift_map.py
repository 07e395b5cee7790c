"""The grid of a shift as a heat map, and as many examples of every cell in its place."""

from openworld.applications.shift.shift_measurement import ExampleImage, ShiftAxis, ShiftMeasurement
from openworld.report.charts import CellChart, CellImage, ChartCell
from openworld.report.charts.cells import count_cell
from openworld.report.figure import Figure
from openworld.report.shift_axes import AXES, DEGREES, KEYS, NEAR, Place

COUNTED, WITH_IMAGES = 56.0, 84.0  # sides of a cell


def shift_map(measurement: ShiftMeasurement) -> Figure:
    """Return how many images each cell holds."""
    caption = (
        f"{NEAR}. The darker a cell, the more images; hatched ones hold fewer than {measurement.least} and are N/A in "
        "statistics. Right of the upright dashed line images are far in meaning, above the other one in appearance.",
        "Levels are of equal width between two quantiles of degrees, the first and the last open. They are cut by "
        "these images unless an earlier run gave them (--levels-of), so compare cells of two runs only then.",
    )
    starts = {half: (None, *axis.cuts) for half, axis in measurement.axes.items()}
    most, cells = max(map(max, measurement.cells)), {}
    for row, counts in enumerate(measurement.cells):
        for column, count in enumerate(counts):
            present = count >= measurement.least
            own = {"covariate_from": starts["covariate"][row], "semantic_from": starts["semantic"][column]}
            own |= {"pictures": count, "present": present}
            cells[row, column] = count_cell(count, most if present else None, own)
    return Figure("shift-map", "Where the images lie", caption, (_chart(measurement, cells, COUNTED),))


def shift_examples(measurement: ShiftMeasurement) -> Figure:
    """Return up to four images of each cell, those in its middle."""
    caption = (
        "Up to four images of each cell, from its middle and of different concepts; faint ones are of cells that are "
        "N/A in statistics. Point at an image to read its name and degrees.",
        "From left to right meaning moves away from the reference, from bottom to top appearance does. If that is not "
        "what you see, do not trust the degrees.",
    )
    examples: dict[Place, list[ExampleImage]] = {}
    for example in measurement.examples:
        if example.kind == "cell" and example.address:
            examples.setdefault(example.cell, []).append(example)
    cells = {}
    for (row, column), own in examples.items():
        faint = measurement.cells[row][column] < measurement.least
        cells[row, column] = ChartCell(images=tuple(map(_image, own)), faint=faint)
    rows = tuple(
        dict(zip(KEYS, cell, strict=True))
        | {"name": example.name, "semantic_degree": example.semantic, "covariate_degree": example.covariate}
        for cell, own in sorted(examples.items())
        for example in own
    )
    chart = _chart(measurement, cells, WITH_IMAGES)
    return Figure("shift-examples", "Images of every cell", caption, (chart,), shared=rows)


def _chart(measurement: ShiftMeasurement, cells: dict[Place, ChartCell], side: float) -> CellChart:
    """Degrees stand where levels begin; the first begins where degrees do. Beyond the bounds images are far."""
    axes = measurement.axes["covariate"], measurement.axes["semantic"]
    rows, columns = (("", *(f"{start:.3f}" for start in axis.cuts)) for axis in axes)
    titles, bounds = (DEGREES["covariate"], DEGREES["semantic"]), tuple(map(_bound, axes))
    return CellChart("", *titles, rows, columns, cells, KEYS, on_borders=True, bounds=bounds, side=side)


def _bound(axis: ShiftAxis) -> float:
    """Where the bound lies along an axis, in cells; in the last level, which is open, in its middle."""
    edges = (0.0, *axis.cuts)
    level = sum(start <= axis.usual for start in axis.cuts)
    if level == len(axis.cuts):
        return level + 0.5
    return level + (axis.usual - edges[level]) / (edges[level + 1] - edges[level])


def _image(example: ExampleImage) -> CellImage:
    degrees = f"{AXES['semantic']} {example.semantic:.3f}, {AXES['covariate']} {example.covariate:.3f}"
    return CellImage(example.address, f"{example.name or 'no name'}: {degrees}")
