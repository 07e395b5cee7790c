"""The grid of a shift as a heat map: pictures per cell, and an example of every cell in its place."""

from collections.abc import Mapping
from math import log

from markupsafe import Markup

from openworld.report.figures.figure import Figure, Panel
from openworld.report.shifts.found import Found
from openworld.report.svg import drawing, element

SIDE, LEFT, TOP, GAP = 56.0, 62.0, 8.0, 2.0
HEADER = ("covariate level", "semantic level", "covariate from", "semantic from", "pictures", "present")


def shift_map(found: Found) -> Figure:
    """Two panels: how many pictures each cell holds, and one of them."""
    caption = (
        "Rows: levels of looks, near at the bottom; columns: levels of meaning, near on the left. The darker a cell, "
        f"the more pictures; hatched ones hold fewer than {found.least} and are N/A in statistics.",
        "Levels are of equal width between two quantiles of these pictures' own degrees, so they tell pictures of one "
        "run apart and are not comparable between runs; the first and the last level are open.",
    )
    counts = Panel("Pictures per cell", _map(found, _counted))
    examples = {one.cell: one for one in found.examples if one.kind == "cell"}
    shown = Panel("One picture of each cell", _map(found, lambda *cell: _pictured(examples, *cell)))
    return Figure("shift-map", "Where the pictures lie", caption, (counts, shown), HEADER, tuple(_rows(found)))


def _rows(found: Found):
    starts = {half: (None, *axis.cuts) for half, axis in found.axes.items()}
    for row, counts in enumerate(found.cells):
        for column, count in enumerate(counts):
            yield row, column, starts["covariate"][row], starts["semantic"][column], count, count >= found.least


def _map(found: Found, fill) -> Markup:
    """Axes around cells; `fill` draws what is in a cell, given its place, count, corner and the largest count."""
    rows, columns = len(found.cells), len(found.cells[0])
    width, height = LEFT + columns * SIDE + 8, TOP + rows * SIDE + 46
    parts, most = [], max(map(max, found.cells))
    for row, counts in enumerate(found.cells):
        y = TOP + (rows - 1 - row) * SIDE
        parts.append(
            element("text", _start(found, "covariate", row), x=LEFT - 6, y=y + SIDE / 2 + 4, class_="tick end")
        )
        for column, count in enumerate(counts):
            parts.append(fill((row, column), count, (LEFT + column * SIDE, y), (most, found.least)))
    for column in range(columns):
        x, y = LEFT + (column + 0.5) * SIDE, TOP + rows * SIDE + 16
        parts.append(element("text", _start(found, "semantic", column), x=x, y=y, class_="tick mid"))
    parts += _titles(rows, columns)
    told = f"{rows} levels of looks by {columns} of meaning; the fullest cell holds {most} pictures."
    return drawing(width, height, told, parts)


def _titles(rows: int, columns: int) -> list[Markup]:
    x, y = LEFT + columns * SIDE / 2, TOP + rows * SIDE / 2
    return [
        element("text", "semantic degree (meaning), from", x=x, y=TOP + rows * SIDE + 37, class_="title mid"),
        element(
            "text", "covariate degree (looks), from", x=13, y=y, transform=f"rotate(-90 13 {y:g})", class_="title mid"
        ),
    ]


def _start(found: Found, half: str, level: int) -> str:
    """Where a level begins; the first begins at 0."""
    return f"{found.axes[half].cuts[level - 1]:.3f}" if level else "0"


def _counted(cell: tuple[int, int], count: int, corner: tuple[float, float], scale: tuple[int, int]) -> Markup:
    most, least = scale
    x, y = corner
    box = {"x": x, "y": y, "width": SIDE - GAP, "height": SIDE - GAP, "rx": 3}
    told = element("title", f"looks {cell[0]}, meaning {cell[1]}: {count} pictures")
    if not count:
        return element("g", told, element("rect", **box, class_="cell-none"))
    text = element("text", f"{count:,}", x=x + (SIDE - GAP) / 2, y=y + SIDE / 2 + 4, class_="cell-number mid")
    if count < least:
        return element("g", told, element("rect", **box, class_="cell-few"), text)
    share = 0.12 + 0.58 * log(1 + count) / log(1 + most)
    return element("g", told, element("rect", **box, class_="cell", fill_opacity=f"{share:.2f}"), text)


def _pictured(examples: Mapping, cell: tuple[int, int], count: int, corner: tuple[float, float], scale) -> Markup:
    x, y = corner
    box = {"x": x, "y": y, "width": SIDE - GAP, "height": SIDE - GAP}
    one = examples.get(cell)
    if one is None or not one.address:
        return element("rect", **box, rx=3, class_="cell-none")
    told = element("title", f"{one.name}: meaning {one.semantic:.3f}, looks {one.covariate:.3f}")
    picture = element("image", href=one.address, **box, preserveAspectRatio="xMidYMid slice")
    return element("g", told, picture, class_="cell-picture" if count >= scale[1] else "cell-picture cell-rare")
