"""Cells of covariate (rows) and semantic (columns) level as a drawing, the nearest of both at the lower left."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from openworld.report.svg import drawing, element

GAP = 2.0
_LEFT, _TOP, _RIGHT, _BOTTOM = 44.0, 8.0, 8.0, 46.0
_TITLES = "semantic level (meaning)", "covariate level (looks)"

Fill = Callable[[tuple[int, int], float, float], Markup]
"""(covariate, semantic) level and the upper left corner of a cell -> what is drawn there."""


@dataclass(frozen=True)
class Scale:
    """The side of a cell in user units, GAP included, what stands at the levels of either axis, and their titles.

    Args:
        rows, columns: a text per level. titles: of the semantic and the covariate axis. left: room for the texts.
    """

    rows: Sequence[str]
    columns: Sequence[str]
    side: float = 42.0
    titles: tuple[str, str] = _TITLES
    left: float = _LEFT

    @classmethod
    def numbered(cls, shape: tuple[int, int]) -> "Scale":
        """Levels by their numbers, from 0."""
        return cls(*([str(level) for level in range(count)] for count in shape))


def cell_map(scale: Scale, fill: Fill, described: str) -> Markup:
    """All cells with their axes; `described` is for those who cannot see it."""
    side, rows, columns = scale.side, len(scale.rows), len(scale.columns)
    parts = []
    for row, text in enumerate(scale.rows):
        y = _TOP + (rows - 1 - row) * side
        parts.append(element("text", text, x=scale.left - 6, y=y + side / 2 + 4, class_="tick end"))
        parts += [fill((row, column), scale.left + column * side, y) for column in range(columns)]
    bottom = _TOP + rows * side
    for column, text in enumerate(scale.columns):
        parts.append(element("text", text, x=scale.left + (column + 0.5) * side, y=bottom + 16, class_="tick mid"))
    x, y = scale.left + columns * side / 2, _TOP + rows * side / 2
    semantic, covariate = scale.titles
    parts.append(element("text", semantic, x=x, y=bottom + 37, class_="title mid"))
    parts.append(
        element("text", covariate, x=13, y=y, transform=f"rotate(-90 13 {y:g})", class_="title mid"),
    )
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
