"""The grid of a shift as a heat map, and as many examples of every cell in its place."""

from collections.abc import Iterator, Mapping, Sequence

from markupsafe import Markup

from openworld.applications.shift.results import Axis, Example, Found
from openworld.report.cell_map import GAP, TOP, Fill, Scale, box, cell_map, counted, few
from openworld.report.panels import Figure, Panel
from openworld.report.shift_axes import DEGREES, NEAR
from openworld.report.svg import element

LEFT = 70.0  # room for degrees
COUNTED, PICTURED = 56.0, 84.0  # sides of a cell
HEADER = ("covariate_level", "semantic_level", "covariate_from", "semantic_from", "pictures", "present")


def shift_map(found: Found) -> Figure:
    """How many pictures each cell holds."""
    caption = (
        f"{NEAR}. The darker a cell, the more pictures; hatched ones hold fewer than {found.least} and are N/A in "
        "statistics. Right of the upright dashed line pictures are far in meaning, above the other one in looks.",
        "Levels are of equal width between two quantiles of degrees, the first and the last open. They are cut by "
        "these pictures unless an earlier run gave them (--levels-of), so compare cells of two runs only then.",
    )
    most = max(map(max, found.cells))

    def fill(cell: tuple[int, int], x: float, y: float) -> Markup:
        count = found.cells[cell[0]][cell[1]]
        return few(count, x, y, COUNTED) if count < found.least else counted(count, most, x, y, COUNTED)

    drawn = _drawn(found, _scale(found, COUNTED), fill)
    return Figure("shift-map", "Where the pictures lie", caption, (Panel("", drawn),), HEADER, tuple(_rows(found)))


def shift_examples(found: Found) -> Figure:
    """Up to four pictures of each cell, those in its middle."""
    examples: dict[tuple[int, int], list[Example]] = {}
    for one in found.examples:
        if one.kind == "cell" and one.address:
            examples.setdefault(one.cell, []).append(one)
    caption = (
        "Up to four pictures of each cell, from its middle and of different concepts; faint ones are of cells that are "
        "N/A in statistics. Point at a picture to read its name and degrees.",
        "From left to right meaning moves away from the reference, from bottom to top looks do. If that is not what "
        "you see, do not trust the degrees.",
    )

    def fill(cell: tuple[int, int], x: float, y: float) -> Markup:
        return _pictured(examples.get(cell, ()), x, y, found.cells[cell[0]][cell[1]] < found.least)

    drawn = _drawn(found, _scale(found, PICTURED), fill)
    header = ("covariate_level", "semantic_level", "name", "semantic_degree", "covariate_degree")
    rows = tuple(
        (*cell, one.name, one.semantic, one.covariate) for cell, held in sorted(examples.items()) for one in held
    )
    return Figure("shift-examples", "Pictures of every cell", caption, (Panel("", drawn),), header, rows)


def _rows(found: Found) -> Iterator[tuple]:
    starts = {half: (None, *axis.cuts) for half, axis in found.axes.items()}
    for row, counts in enumerate(found.cells):
        for column, count in enumerate(counts):
            yield row, column, starts["covariate"][row], starts["semantic"][column], count, count >= found.least


def _scale(found: Found, side: float) -> Scale:
    """Degrees where levels begin; the first begins where degrees do."""
    starts = {half: ("", *(f"{start:.3f}" for start in axis.cuts)) for half, axis in found.axes.items()}
    titles = DEGREES["semantic"], DEGREES["covariate"]
    return Scale(starts["covariate"], starts["semantic"], side, titles, LEFT, on_borders=True)


def _drawn(found: Found, scale: Scale, fill: Fill) -> Markup:
    rows, columns = len(scale.rows), len(scale.columns)
    told = f"{rows} levels of looks by {columns} of meaning; the fullest cell holds {max(map(max, found.cells))}."
    return cell_map(scale, fill, told, over=_bounds(found, scale))


def _bounds(found: Found, scale: Scale) -> Iterator[Markup]:
    """From where on pictures are far."""
    right, low = LEFT + len(scale.columns) * scale.side, TOP + len(scale.rows) * scale.side
    x = LEFT + scale.side * _along(found.axes["semantic"])
    y = low - scale.side * _along(found.axes["covariate"])
    yield element("line", x1=x, x2=x, y1=TOP - 6, y2=low, class_="bound")
    yield element("line", x1=LEFT, x2=right + 6, y1=y, y2=y, class_="bound")


def _along(axis: Axis) -> float:
    """Where the bound lies along an axis, in cells; in the last level, which is open, in its middle."""
    edges = (0.0, *axis.cuts)
    level = sum(start <= axis.usual for start in axis.cuts)
    if level == len(axis.cuts):
        return level + 0.5
    return level + (axis.usual - edges[level]) / (edges[level + 1] - edges[level])


def _pictured(held: Sequence[Example], x: float, y: float, rare: bool) -> Markup:
    ground = box(x, y, PICTURED, "cell-none")
    if not held:
        return ground
    across = 1 if len(held) == 1 else 2
    side = (PICTURED - GAP) / across
    pictures = [
        _picture(one, {"x": x + side * (place % across), "y": y + side * (place // across), "width": side - 1})
        for place, one in enumerate(held)
    ]
    return element("g", ground, *pictures, class_="cell-picture cell-rare" if rare else "cell-picture")


def _picture(one: Example, box: Mapping[str, float]) -> Markup:
    told = element("title", f"{one.name or 'no name'}: meaning {one.semantic:.3f}, looks {one.covariate:.3f}")
    shown = element("image", href=one.address, **box, height=box["width"], preserveAspectRatio="xMidYMid slice")
    return element("g", told, shown)
