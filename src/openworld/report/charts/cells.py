"""A grid of cells by two ordered quantities, the lowest of both at the lower left: shades, numbers or small images."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from math import log

from markupsafe import Markup

from openworld.report.charts.drawing import paper
from openworld.report.charts.drawing.label_placement import LINE
from openworld.report.charts.drawing.lettering import PIXELS, POINTS, text_width, wrapped
from openworld.report.charts.drawing.svg import drawing, element
from openworld.report.series_style import SeriesStyle

GAP, TOP, RIGHT, BOTTOM = 2.0, 8.0, 8.0, 46.0
SIDE, LEAST = 42.0, 252.0  # of a cell, and of the longer side of the whole grid
LONGEST = 48.0  # points of a word below a column; a longer one is cut
FLAT = 0.4  # height of a row of numbers among images, for a side of 1
PALEST, DARKEST = 0.04, 0.74  # opacities of a shade of 0 and of 1

Place = tuple[int, int]


@dataclass(frozen=True)
class CellImage:
    """A small image as a `data:` address, and what it shows."""

    address: str
    text: str = ""


@dataclass(frozen=True)
class ChartCell:
    """One cell.

    Args:
        text: what stands in it. shade: how blue (up to 1) or orange (down to -1) it is; None where it is N/A: hatched
            if it has a text, and pale if not. hint: its tooltip. dashed: whether it is outlined.
        images: up to four that fill it. faint: whether they are pale.
        row: further columns of the data.
    """

    text: str = ""
    shade: float | None = None
    hint: str = ""
    dashed: bool = False
    images: tuple[CellImage, ...] = ()
    faint: bool = False
    row: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class CellChart:
    """Cells by (row, column), each counted from 0.

    Args:
        rows_title, columns_title: of the two axes. row_labels, column_labels: a text per row and per column.
        keys: columns of the data for the row and the column.
        on_borders: whether labels stand where rows and columns begin, not at their middle.
        bounds: dashed lines across the grid, in rows and in columns from its corner.
        side: of a cell in user units; None for what suits the number of cells.
    """

    title: str
    rows_title: str
    columns_title: str
    row_labels: Sequence[str]
    column_labels: Sequence[str]
    cells: Mapping[Place, ChartCell]
    keys: tuple[str, str] = ("row", "column")
    on_borders: bool = False
    bounds: tuple[float, float] | None = None
    side: float | None = None

    @property
    def paper_width(self) -> float:
        """The least inches on paper: every number within its cell, and the longest word below its column."""
        words = [word for label in self.column_labels for word in label.split()]
        texts = [cell.text for cell in self.cells.values()]
        widest = max(text_width(text, POINTS) for text in ("", *texts))
        widest = max(widest, min(LONGEST, max((text_width(word, POINTS) for word in words), default=0.0)))
        images = any(cell.images for cell in self.cells.values())
        return self._beside + len(self.column_labels) * max((widest + 4) / 72, 0.4 if images else 0.2)

    def paper_height(self, width: float) -> float:
        """Inches on paper, of a panel of this width: cells are square, below them stand their labels."""
        side = (width - self._beside) / len(self.column_labels)
        lines = max(wrapped(label, 72 * side - 2, POINTS).count("\n") + 1 for label in self.column_labels)
        return 0.62 + 0.12 * lines + side * self._floors()[-1]

    def _floors(self) -> list[float]:
        """Where each row begins, from below, and where the last ends: a row of numbers is flat among images."""
        pictured = {row for (row, _), cell in self.cells.items() if cell.images}
        numbered = {row for (row, _), cell in self.cells.items() if cell.text}
        flat = numbered - pictured if pictured else ()
        return list(accumulate((FLAT if row in flat else 1.0 for row in range(len(self.row_labels))), initial=0.0))

    @property
    def _beside(self) -> float:
        """Inches left of the cells: the rows' labels and their title."""
        return 0.3 + 0.15 * bool(self.rows_title) + max(text_width(text, POINTS) for text in self.row_labels) / 72

    def rows(self) -> Iterator[dict]:
        """Yield a row per cell, or one per image where cells hold images."""
        for (row, column), cell in sorted(self.cells.items()):
            at = {self.keys[0]: row, self.keys[1]: column}
            if cell.images:
                yield from (at | {"image": image.text} | cell.row for image in cell.images)
            else:
                yield at | cell.row

    def svg(self, styles: Mapping[str, SeriesStyle], *, alone: bool = False) -> Markup:
        """Return the drawing for a page."""
        columns, side, floors = len(self.column_labels), self._side(alone=alone), self._floors()
        widest = max(text_width(text, PIXELS) for text in self.row_labels)
        left = max(44.0, float(round((32 if self.rows_title else 12) + widest)))
        bottom, along = TOP + floors[-1] * side, 0.0 if self.on_borders else 0.5
        parts = []
        for row, text in enumerate(self.row_labels):
            y, height = bottom - floors[row + 1] * side, (floors[row + 1] - floors[row]) * side
            up = height + 3 if self.on_borders else height / 2 + 4
            parts.append(element("text", text, x=left - 6, y=y + up, class_="tick end"))
            cells = (self.cells.get((row, column), ChartCell()) for column in range(columns))
            size = side - GAP, height - GAP
            parts += [self._cell(cell, left + column * side, y, size) for column, cell in enumerate(cells)]
        labels = [wrapped(text, side - 4, PIXELS).split("\n") for text in self.column_labels]
        for column, lines in enumerate(labels):
            for place, line in enumerate(lines):
                x, y = left + (column + along) * side, bottom + 16 + LINE * place
                parts.append(element("text", line, x=x, y=y, class_="tick mid"))
        deep = LINE * (max(map(len, labels)) - 1)
        x, y = left + columns * side / 2, (TOP + bottom) / 2
        parts.append(element("text", self.columns_title, x=x, y=bottom + 37 + deep, class_="title mid"))
        turn = f"rotate(-90 13 {y:g})"
        parts.append(element("text", self.rows_title, x=13, y=y, transform=turn, class_="title mid"))
        parts += self._bounds(left, bottom, left + columns * side, side)
        return drawing(left + columns * side + RIGHT, bottom + BOTTOM + deep, self._description(), parts)

    def draw(self, axes, styles: Mapping[str, SeriesStyle]) -> None:
        """Draw on matplotlib axes."""
        columns, shift, floors = len(self.column_labels), 0.0 if self.on_borders else 0.5, self._floors()
        paper.set_title(axes, self.title)
        axes.set(
            xlim=(0, columns), ylim=(0, floors[-1]), aspect="equal", xlabel=self.columns_title, ylabel=self.rows_title
        )
        axes.set_xticks([column + shift for column in range(columns)], map(paper.text, self.column_labels))
        middles = [low + shift * (high - low) for low, high in pairwise(floors)]
        axes.set_yticks(middles, map(paper.text, self.row_labels))
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        for (row, column), cell in self.cells.items():
            paper.cell(axes, column, floors[row], floors[row + 1], cell)
        if self.bounds:
            axes.axhline(self.bounds[0], color=paper.INK, linestyle="--", linewidth=1)
            axes.axvline(self.bounds[1], color=paper.INK, linestyle="--", linewidth=1)

    def _cell(self, cell: ChartCell, x: float, y: float, size: tuple[float, float]) -> Markup:
        """A rectangle with its number or its images; a page does not shrink images of cells whose side is given."""
        width, height = size
        fill = None if cell.shade is None else f"{opacity(cell):.2f}"
        css = "cell-none" if cell.images else css_of(cell)
        parts = [element("rect", x=x, y=y, width=width, height=height, rx=3, class_=css, fill_opacity=fill)]
        if cell.images:
            parts += [_image(image, x, y, width, place, len(cell.images)) for place, image in enumerate(cell.images)]
            classes = ["cell-picture"] * bool(self.side) + ["cell-rare"] * cell.faint
            return element("g", *parts, class_=" ".join(classes) or None)
        if cell.text:
            parts.append(element("text", cell.text, x=x + width / 2, y=y + height / 2 + 5, class_="cell-number mid"))
        return element("g", element("title", cell.hint), *parts) if cell.hint else Markup("").join(parts)

    def _side(self, *, alone: bool) -> float:
        """A page draws the only chart of a figure larger: more units then keep its type as large as elsewhere."""
        longest = max(len(self.row_labels), len(self.column_labels))
        return self.side or max(SIDE, LEAST * (1.6 if alone else 1.0) / longest)

    def _description(self) -> str:
        every = len(self.row_labels) * len(self.column_labels)
        pictured = sum(bool(cell.images) for cell in self.cells.values())
        if pictured:
            return f"Images of {pictured} of {every} cells."
        texts = [cell.text for cell in self.cells.values() if cell.shade is not None]
        return f"{len(texts)} of {every} cells: {' '.join(texts)}." if texts else f"0 of {every} cells."

    def _bounds(self, left: float, bottom: float, right: float, side: float) -> Iterator[Markup]:
        if self.bounds:
            y, x = bottom - side * self.bounds[0], left + side * self.bounds[1]
            yield element("line", x1=x, x2=x, y1=TOP - 6, y2=bottom, class_="bound")
            yield element("line", x1=left, x2=right + 6, y1=y, y2=y, class_="bound")


def count_text(count: int) -> str:
    """Return a count as a cell has room for it.

    >>> count_text(9876), count_text(12345)
    ('9,876', '12k')
    """
    return f"{count:,}" if count < 10_000 else f"{count / 1000:.0f}k"


def css_of(cell: ChartCell) -> str:
    """Return the classes of a cell's square."""
    if cell.shade is None:
        return "cell-few" if cell.text else "cell-none"
    return ("cell" if cell.shade >= 0 else "cell-below natural") + " cell-blind" * cell.dashed


def opacity(cell: ChartCell) -> float:
    """Return how dark a cell is."""
    return PALEST + (DARKEST - PALEST) * abs(cell.shade)


def _image(image: CellImage, x: float, y: float, size: float, place: int, count: int) -> Markup:
    """One of up to four images of a cell, two in a row where there are several."""
    across = 1 if count == 1 else 2
    side = size / across
    box = {"x": x + side * (place % across), "y": y + side * (place // across), "width": side - (across > 1)}
    markup = element("image", href=image.address, **box, height=box["width"], preserveAspectRatio="xMidYMid slice")
    return element("g", element("title", image.text), markup) if image.text else markup


def count_cell(count: int, most: int | None = None, row: Mapping[str, object] | None = None) -> ChartCell:
    """Return a cell that shows a count, the darker the larger; N/A where it does not say how many are the `most`."""
    text = count_text(count) if count else ""
    return ChartCell(text, None if most is None else 0.1 + 0.85 * log(1 + count) / log(1 + most), row=row or {})
