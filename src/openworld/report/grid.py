"""Tables of a page as data: cells with what is shown, what sorts, and what is copied."""

from dataclasses import dataclass

from markupsafe import Markup

from openworld._terminal import Head, TerminalTable, styled
from openworld.report.marks import swatch
from openworld.report.series_style import Look


@dataclass(frozen=True)
class Cell:
    """One cell: `text` and a fainter remark are shown.

    `value` sorts and `copied` is copied where the text does not do; `hint` is told to those who point at the cell.
    """

    text: str
    value: str = ""
    faint: str = ""
    css: str = ""
    copied: str = ""
    hint: str = ""
    picture: Markup = Markup("")


@dataclass(frozen=True)
class Column:
    """A column head; `words` columns are left-aligned and sort from A."""

    title: str
    words: bool = False


@dataclass(frozen=True)
class Line:
    """One row of a grid, of one learner."""

    learner: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Grid:
    """A table of the page."""

    name: str
    label: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[Line, ...]


def grid_table(grid: Grid) -> TerminalTable:
    """A table of the page for a terminal; what only a page can show stays away."""
    heads = tuple(Head(column.title, "name" if column.words else "number") for column in grid.columns)
    rows = [[_terminal_cell(cell, line) for cell in line.cells] for line in grid.rows]
    return TerminalTable(heads, rows, grid.caption)


def _terminal_cell(cell: Cell, line: Line):
    (text,) = styled([cell.text], "bold" if "leads" in cell.css else "" if line.learner else "dim")
    return text


def swatched(learner: str, looks: dict[str, Look]) -> Cell:
    """The first cell of a row: the learner with its mark."""
    return Cell(learner, picture=swatch(looks[learner]))
