"""The grid of a shift as a heat map, and as many examples of every cell in its place."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log

from markupsafe import Markup

from openworld.report.figures.figure import Figure, Panel
from openworld.report.shifts.found import Axis, Example, Found
from openworld.report.svg import drawing, element

LEFT, TOP, GAP = 70.0, 8.0, 2.0
COUNTED, PICTURED = 56.0, 84.0  # sides of a cell
HEADER = ("covariate level", "semantic level", "covariate from", "semantic from", "pictures", "present")


def shift_map(found: Found) -> Figure:
    """How many pictures each cell holds."""
    caption = (
        "Rows: levels of looks, near at the bottom; columns: levels of meaning, near on the left. The darker a cell, "
        f"the more pictures; hatched ones hold fewer than {found.least} and are N/A in statistics. Right of the "
        "upright dashed line pictures are far in meaning, above the other one in looks.",
        "Levels are of equal width between two quantiles of degrees, the first and the last open. They are cut by "
        "these pictures unless an earlier run gave them (--levels-of), so compare cells of two runs only then.",
    )
    most = max(map(max, found.cells))
    plot = _Plot(found, COUNTED)
    drawn = plot.drawing(lambda _, count, corner: _counted(count, corner, most, found.least))
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
    drawn = _Plot(found, PICTURED).drawing(
        lambda cell, count, corner: _pictured(examples.get(cell, ()), corner, count < found.least)
    )
    header = ("covariate level", "semantic level", "name", "semantic degree", "covariate degree")
    rows = tuple(
        (*cell, one.name, one.semantic, one.covariate) for cell, held in sorted(examples.items()) for one in held
    )
    return Figure("shift-examples", "Pictures of every cell", caption, (Panel("", drawn),), header, rows)


def _rows(found: Found) -> Iterator[tuple]:
    starts = {half: (None, *axis.cuts) for half, axis in found.axes.items()}
    for row, counts in enumerate(found.cells):
        for column, count in enumerate(counts):
            yield row, column, starts["covariate"][row], starts["semantic"][column], count, count >= found.least


@dataclass(frozen=True)
class _Plot:
    """Axes around cells of one size, rows upwards."""

    found: Found
    side: float

    def drawing(self, fill: Callable) -> Markup:
        """`fill` draws what is in a cell, given its place, its count and its corner."""
        found, (rows, columns) = self.found, self._shape
        parts = [
            fill((row, column), count, self._corner(row, column))
            for row, counts in enumerate(found.cells)
            for column, count in enumerate(counts)
        ]
        parts += [*self._ticks(), *self._bounds(), *self._titles()]
        told = f"{rows} levels of looks by {columns} of meaning; the fullest cell holds {max(map(max, found.cells))}."
        return drawing(LEFT + columns * self.side + 8, TOP + rows * self.side + 46, told, parts)

    @property
    def _shape(self) -> tuple[int, int]:
        return len(self.found.cells), len(self.found.cells[0])

    def _corner(self, row: float, column: float) -> tuple[float, float]:
        """Upper left corner of a cell."""
        return LEFT + column * self.side, TOP + (self._shape[0] - 1 - row) * self.side

    def _ticks(self) -> Iterator[Markup]:
        """Where levels begin, on the borders of cells."""
        rows, _ = self._shape
        for level, start in enumerate(self.found.axes["covariate"].cuts, 1):
            _, y = self._corner(level - 1, 0)
            yield element("text", f"{start:.3f}", x=LEFT - 6, y=y + 3, class_="tick end")
        for level, start in enumerate(self.found.axes["semantic"].cuts, 1):
            x, y = LEFT + level * self.side, TOP + rows * self.side + 16
            yield element("text", f"{start:.3f}", x=x - 1, y=y, class_="tick mid")

    def _bounds(self) -> Iterator[Markup]:
        """From where on pictures are far."""
        rows, columns = self._shape
        right, low = LEFT + columns * self.side, TOP + rows * self.side
        x = LEFT + self.side * _along(self.found.axes["semantic"])
        y = low - self.side * _along(self.found.axes["covariate"])
        yield element("line", x1=x, x2=x, y1=TOP - 6, y2=low, class_="bound")
        yield element("line", x1=LEFT, x2=right + 6, y1=y, y2=y, class_="bound")

    def _titles(self) -> Iterator[Markup]:
        rows, columns = self._shape
        x, y = LEFT + columns * self.side / 2, TOP + rows * self.side / 2
        below = TOP + rows * self.side + 37
        yield element("text", "semantic degree (meaning)", x=x, y=below, class_="title mid")
        turned = f"rotate(-90 13 {y:g})"
        yield element("text", "covariate degree (looks)", x=13, y=y, transform=turned, class_="title mid")


def _along(axis: Axis) -> float:
    """Where the bound lies along an axis, in cells; in the last level, which is open, in its middle."""
    edges = (0.0, *axis.cuts)
    level = sum(start <= axis.usual for start in axis.cuts)
    if level == len(axis.cuts):
        return level + 0.5
    return level + (axis.usual - edges[level]) / (edges[level + 1] - edges[level])


def _counted(count: int, corner: tuple[float, float], most: int, least: int) -> Markup:
    x, y = corner
    box = {"x": x, "y": y, "width": COUNTED - GAP, "height": COUNTED - GAP, "rx": 3}
    if not count:
        return element("rect", **box, class_="cell-none")
    text = element("text", f"{count:,}", x=x + (COUNTED - GAP) / 2, y=y + COUNTED / 2 + 4, class_="cell-number mid")
    if count < least:
        told = element("title", f"{count} of {least} pictures that statistics need: N/A")
        return element("g", told, element("rect", **box, class_="cell-few"), text)
    share = 0.12 + 0.58 * log(1 + count) / log(1 + most)
    return element("g", element("rect", **box, class_="cell", fill_opacity=f"{share:.2f}"), text)


def _pictured(held: Sequence[Example], corner: tuple[float, float], rare: bool) -> Markup:
    x, y = corner
    ground = element("rect", x=x, y=y, width=PICTURED - GAP, height=PICTURED - GAP, rx=3, class_="cell-none")
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
