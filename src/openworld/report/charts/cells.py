"""A grid of cells by two ordered quantities, the lowest of both at the lower left: shades, numbers or small images."""

from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from itertools import accumulate, pairwise
from math import log
from typing import Any

from markupsafe import Markup

from openworld.report.charts.drawing import paper
from openworld.report.charts.drawing.label_placement import LINE
from openworld.report.charts.drawing.lettering import PIXELS, POINTS, widest, wrapped
from openworld.report.charts.drawing.svg import drawing, element
from openworld.report.series_style import SeriesStyle

GAP, TOP, RIGHT, BOTTOM = 2.0, 8.0, 8.0, 46.0
SIDE, LEAST = 42.0, 252.0  # of a cell, and of the longer side of the whole grid
LONGEST = 48.0  # points of a word below a column; a longer one is cut
FLAT = 0.4  # height of a row of numbers among images, for a side of 1
EDGE = 0.015  # of a cell on paper, free around its images
PALEST, DARKEST = 0.04, 0.74  # opacities of a shade of 0 and of 1


@dataclass(frozen=True)
class ChartCell:
    """One cell.

    Args:
        text: what stands in it. shade: how blue (up to 1) or orange (down to -1) it is; None where it is N/A: hatched
            if it has a text, and pale if not. hint: its tooltip. dashed: whether it is outlined.
        images: up to four that fill it, each a `data:` address and what it shows. faint: whether they are pale.
        row: further columns of the data.
    """

    text: str = ""
    shade: float | None = None
    hint: str = ""
    dashed: bool = False
    images: tuple[tuple[str, str], ...] = ()
    faint: bool = False
    row: Mapping[str, object] = field(default_factory=dict)

    @property
    def opacity(self) -> float:
        return PALEST + (DARKEST - PALEST) * abs(self.shade or 0.0)

    @property
    def quarters(self) -> list[tuple[float, float, float]]:
        """Where each image lies, in sides of the cell: right and down from its corner, and the side of the image."""
        across = 1 if len(self.images) == 1 else 2
        return [(place % across / across, place // across / across, 1 / across) for place in range(len(self.images))]


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
    cells: Mapping[tuple[int, int], ChartCell]
    keys: tuple[str, str] = ("row", "column")
    on_borders: bool = False
    bounds: tuple[float, float] | None = None
    side: float | None = None

    @property
    def paper_width(self) -> float:
        """The least inches on paper: every number within its cell, and the longest word below its column."""
        words = widest((word for label in self.column_labels for word in label.split()), POINTS)
        content = max(widest((cell.text for cell in self.cells.values()), POINTS), min(LONGEST, words))
        images = any(cell.images for cell in self.cells.values())
        return self._beside + len(self.column_labels) * max((content + 4) / 72, 0.4 if images else 0.2)

    def paper_height(self, width: float) -> float:
        """Inches on paper, of a panel of this width: cells are square, below them stand their labels."""
        side = (width - self._beside) / len(self.column_labels)
        lines = max(wrapped(label, 72 * side - 2, POINTS).count("\n") + 1 for label in self.column_labels)
        return 0.62 + 0.12 * lines + side * self._floors()[-1]

    def _floors(self) -> list[float]:
        """Where each row begins, from below, and where the last ends: a row of numbers is flat among images."""
        with_images = {row for (row, _), cell in self.cells.items() if cell.images}
        numbered = {row for (row, _), cell in self.cells.items() if cell.text}
        flat = numbered - with_images if with_images else ()
        return list(accumulate((FLAT if row in flat else 1.0 for row in range(len(self.row_labels))), initial=0.0))

    @property
    def _beside(self) -> float:
        """Inches left of the cells: the rows' labels and their title."""
        return 0.3 + (0.15 if self.rows_title else 0) + widest(self.row_labels, POINTS) / 72

    def rows(self) -> Iterator[dict]:
        """Yield a row per cell, or one per image where cells hold images."""
        for (row, column), cell in sorted(self.cells.items()):
            at: dict[str, object] = {self.keys[0]: row, self.keys[1]: column}
            if cell.images:
                yield from (at | {"image": text} | dict(cell.row) for _, text in cell.images)
            else:
                yield at | dict(cell.row)

    def svg(self, styles: Mapping[str, SeriesStyle], *, alone: bool = False) -> Markup:
        # A page draws the only chart of a figure larger: more units then keep its type as large as elsewhere.
        columns, floors = len(self.column_labels), self._floors()
        side = self.side or max(SIDE, LEAST * (1.6 if alone else 1.0) / max(len(self.row_labels), columns))
        left = max(44.0, float(round((32 if self.rows_title else 12) + widest(self.row_labels, PIXELS))))
        bottom, right = TOP + floors[-1] * side, left + columns * side

        parts = []
        for row, text in enumerate(self.row_labels):
            y, height = bottom - floors[row + 1] * side, (floors[row + 1] - floors[row]) * side
            up = height + 3 if self.on_borders else height / 2 + 4
            parts.append(element("text", text, x=left - 6, y=y + up, class_="tick end"))
            for column in range(columns):
                cell = self.cells.get((row, column), ChartCell())
                parts.append(self._cell(cell, left + column * side, y, (side - GAP, height - GAP)))
        labels = [wrapped(text, side - 4, PIXELS).split("\n") for text in self.column_labels]
        for column, lines in enumerate(labels):
            x = left + (column + (0.0 if self.on_borders else 0.5)) * side
            for place, line in enumerate(lines):
                parts.append(element("text", line, x=x, y=bottom + 16 + LINE * place, class_="tick mid"))
        deep = LINE * (max(map(len, labels)) - 1)
        middle = left + columns * side / 2
        parts.append(element("text", self.columns_title, x=middle, y=bottom + 37 + deep, class_="title mid"))
        middle = (TOP + bottom) / 2
        turn = f"rotate(-90 13 {middle:g})"
        parts.append(element("text", self.rows_title, x=13, y=middle, transform=turn, class_="title mid"))
        if self.bounds:
            y, x = bottom - side * self.bounds[0], left + side * self.bounds[1]
            parts.append(element("line", x1=x, x2=x, y1=TOP - 6, y2=bottom, class_="bound"))
            parts.append(element("line", x1=left, x2=right + 6, y1=y, y2=y, class_="bound"))
        return drawing(right + RIGHT, bottom + BOTTOM + deep, self._description(), parts)

    def _cell(self, cell: ChartCell, x: float, y: float, size: tuple[float, float]) -> Markup:
        """A rectangle with its number or its images; a page does not shrink images of cells whose side is given."""
        (width, height), box = size, {"x": x, "y": y, "width": size[0], "height": size[1], "rx": 3}
        if cell.images or (cell.shade is None and not cell.text):
            css = "cell-none"
        elif cell.shade is None:
            css = "cell-few"
        else:
            css = "cell" if cell.shade >= 0 else "cell-below natural"
            css = f"{css} cell-blind" if cell.dashed else css
        fill = None if cell.shade is None else f"{cell.opacity:.2f}"
        parts = [element("rect", **box, class_=css, fill_opacity=fill)]
        for (address, text), (right, down, share) in zip(cell.images, cell.quarters, strict=True):
            side = share * width - (1 if share < 1 else 0)
            place = {"x": x + width * right, "y": y + width * down, "width": side, "height": side}
            drawn = element("image", href=address, **place, preserveAspectRatio="xMidYMid slice")
            parts.append(element("g", element("title", text), drawn) if text else drawn)
        if cell.images:
            css = " ".join([*(["cell-image"] if self.side else []), *(["cell-rare"] if cell.faint else [])])
            return element("g", *parts, class_=css or None)
        if cell.text:
            parts.append(element("text", cell.text, x=x + width / 2, y=y + height / 2 + 5, class_="cell-number mid"))
        return element("g", element("title", cell.hint), *parts) if cell.hint else Markup("").join(parts)

    def draw(self, axes, styles: Mapping[str, SeriesStyle]) -> None:
        columns, shift, floors = len(self.column_labels), 0.0 if self.on_borders else 0.5, self._floors()
        paper.set_title(axes, self.title)
        axes.set(xlim=(0, columns), ylim=(0, floors[-1]), aspect="equal")
        axes.set(xlabel=self.columns_title, ylabel=self.rows_title)
        axes.set_xticks([column + shift for column in range(columns)], map(paper.text, self.column_labels))
        paper.set_rows(axes, [low + shift * (high - low) for low, high in pairwise(floors)], self.row_labels)
        for (row, column), cell in self.cells.items():
            _draw_cell(axes, column, floors[row], floors[row + 1], cell)
        if self.bounds:
            axes.axhline(self.bounds[0], color=paper.INK, linestyle="--", linewidth=1)
            axes.axvline(self.bounds[1], color=paper.INK, linestyle="--", linewidth=1)

    def _description(self) -> str:
        every = len(self.row_labels) * len(self.column_labels)
        with_images = sum(bool(cell.images) for cell in self.cells.values())
        if with_images:
            return f"Images of {with_images} of {every} cells."
        texts = [cell.text for cell in self.cells.values() if cell.shade is not None]
        return f"{len(texts)} of {every} cells: {' '.join(texts)}." if texts else f"0 of {every} cells."


def _draw_cell(axes, x: float, low: float, high: float, cell: ChartCell) -> None:
    """Draw one cell on matplotlib axes, from `low` to `high`: its shade, its number or its images."""
    from matplotlib.patches import Rectangle
    from PIL import Image

    for (address, _), (right, down, side) in zip(cell.images, cell.quarters, strict=True):
        content = BytesIO(b64decode(address.partition(",")[2]))
        pixels = Image.open(content, formats=("JPEG", "PNG", "WEBP")).convert("RGB")
        left, top = x + right, low + 1 - down
        ends = (left + EDGE, left + side - EDGE, top - side + EDGE, top - EDGE)
        axes.imshow(pixels, extent=ends, alpha=0.45 if cell.faint else 1.0, aspect="auto", zorder=2)
    if cell.images:
        return
    border: dict[str, Any] = {"edgecolor": "white", "linewidth": 1}
    if cell.shade is None:
        hatch: dict[str, Any] = {"hatch": "////", "edgecolor": "#c8c8c8"} if cell.text else border
        axes.add_patch(Rectangle((x + 0.02, low + 0.02), 0.96, high - low - 0.04, facecolor="#f3f3f0", **hatch))
    else:
        colour = paper.ACCENT if cell.shade >= 0 else "#b8480b"
        axes.add_patch(Rectangle((x, low), 1, high - low, facecolor=colour, alpha=cell.opacity, **border))
    if cell.dashed:
        dashes: dict[str, Any] = {"linestyle": (0, (3, 3)), "edgecolor": paper.MUTED, "linewidth": 0.8}
        axes.add_patch(Rectangle((x + 0.05, low + 0.05), 0.9, high - low - 0.1, fill=False, **dashes))
    axes.text(x + 0.5, (low + high) / 2, paper.text(cell.text), ha="center", va="center")


def count_cell(count: int, most: int | None = None, row: Mapping[str, object] | None = None) -> ChartCell:
    """Return a cell that shows a count, the darker the larger; N/A where it does not say how many are the `most`."""
    text = f"{count / 1000:.0f}k" if count >= 10_000 else f"{count:,}" if count else ""
    return ChartCell(text, None if most is None else 0.1 + 0.85 * log(1 + count) / log(1 + most), row=row or {})
