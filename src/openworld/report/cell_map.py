"""Cells of covariate (rows) and semantic (columns) level as a drawing, the nearest of both at the lower left."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from markupsafe import Markup

from openworld.report.shift_axes import LEVELS
from openworld.report.svg import drawing, element

GAP, TOP = 2.0, 8.0
_LEFT, _RIGHT, _BOTTOM = 44.0, 8.0, 46.0
_SIDE, _LEAST = 42.0, 252.0  # of a cell, and of the longer side of all of them
_TITLES = LEVELS["semantic"], LEVELS["covariate"]

Fill = Callable[[tuple[int, int], float, float], Markup]
"""(covariate, semantic) level and the upper left corner of a cell -> what is drawn there."""


@dataclass(frozen=True)
class Scale:
    """The side of a cell in user units, GAP included, what stands at the levels of either axis, and their titles.

    Args:
        rows, columns: a text per level. titles: of the semantic and the covariate axis. left: room for the texts.
        on_borders: texts stand where levels begin, not at their middle.
    """

    rows: Sequence[str]
    columns: Sequence[str]
    side: float = _SIDE
    titles: tuple[str, str] = _TITLES
    left: float = _LEFT
    on_borders: bool = False

    @classmethod
    def numbered(cls, shape: tuple[int, int]) -> "Scale":
        """Levels by their numbers, from 0; where they are few their cells are larger, so that titles have room."""
        rows, columns = ([str(level) for level in range(count)] for count in shape)
        return cls(rows, columns, max(_SIDE, _LEAST / max(shape)))


def cell_map(scale: Scale, fill: Fill, described: str, over: Iterable[Markup] = ()) -> Markup:
    """All cells with their axes, and what lies over them; `described` is for those who cannot see it."""
    side, rows, columns = scale.side, len(scale.rows), len(scale.columns)
    upwards, along = (side + 3, 0.0) if scale.on_borders else (side / 2 + 4, 0.5)
    parts = []
    for row, text in enumerate(scale.rows):
        y = TOP + (rows - 1 - row) * side
        parts.append(element("text", text, x=scale.left - 6, y=y + upwards, class_="tick end"))
        parts += [fill((row, column), scale.left + column * side, y) for column in range(columns)]
    bottom = TOP + rows * side
    for column, text in enumerate(scale.columns):
        parts.append(element("text", text, x=scale.left + (column + along) * side, y=bottom + 16, class_="tick mid"))
    x, y = scale.left + columns * side / 2, TOP + rows * side / 2
    semantic, covariate = scale.titles
    parts.append(element("text", semantic, x=x, y=bottom + 37, class_="title mid"))
    parts.append(
        element("text", covariate, x=13, y=y, transform=f"rotate(-90 13 {y:g})", class_="title mid"),
    )
    parts += over
    return drawing(scale.left + columns * side + _RIGHT, bottom + _BOTTOM, described, parts)


def box(x: float, y: float, side: float, css: str, opacity: float | None = None) -> Markup:
    """The square of a cell."""
    shown = None if opacity is None else f"{opacity:.2f}"
    size = side - GAP
    return element("rect", x=x, y=y, width=size, height=size, rx=3, class_=css, fill_opacity=shown)


def written(text: str, x: float, y: float, side: float) -> Markup:
    """A number in the middle of a cell."""
    return element("text", text, x=x + (side - GAP) / 2, y=y + side / 2 + 4, class_="cell-number mid")


def few(count: int, x: float, y: float, side: float) -> Markup:
    """A cell that is N/A, with the number of its pictures where there are any."""
    if not count:
        return box(x, y, side, "cell-none")
    return Markup("").join([box(x, y, side, "cell-few"), written(f"{count:,}", x, y, side)])


def counted(count: int, most: int, x: float, y: float, side: float) -> Markup:
    """A cell by the number of its pictures, the darker the more; `most` are in the fullest one."""
    number = written(f"{count:,}" if count < 10_000 else f"{count / 1000:.0f}k", x, y, side)
    return Markup("").join([box(x, y, side, "cell", 0.12 + 0.58 * log(1 + count) / log(1 + most)), number])


def tone_map(
    counts: np.ndarray,
    table: np.ndarray,
    shade: Callable[[float], float],
    write: Callable[[float], str],
    hint: Callable[[tuple[int, int], float], str] | None = None,
    dashed: np.ndarray | None = None,
) -> Markup:
    """A table as cells, those that are N/A hatched.

    Args:
        counts: int[R, C], pictures. table: float[R, C], NaN where a cell is N/A.
        shade: of a value, how blue (up to 1) or orange (down to -1) it is. write: its text.
        hint: what those read who point at a cell; None for nothing. dashed: bool[R, C], outlined cells.
    """
    scale = Scale.numbered(table.shape)

    def fill(cell: tuple[int, int], x: float, y: float) -> Markup:
        value = float(table[cell])
        if np.isnan(value):
            return few(int(counts[cell]), x, y, scale.side)
        tone = shade(value)
        css = "cell" if tone >= 0 else "cell-below natural"
        css += " cell-blind" if dashed is not None and dashed[cell] else ""
        parts = [box(x, y, scale.side, css, 0.04 + 0.7 * abs(tone)), written(write(value), x, y, scale.side)]
        return element("g", element("title", hint(cell, value)), *parts) if hint else Markup("").join(parts)

    known = table[np.isfinite(table)]
    ends = f", {write(float(known.min()))} to {write(float(known.max()))}" if known.size else ""
    return cell_map(scale, fill, f"{known.size} of {table.size} cells{ends}.")
