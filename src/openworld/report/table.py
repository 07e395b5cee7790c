"""A table as data: rows of values in columns that know their metric. How it looks is a renderer's business.

Which cells are the best, and stand in bold, is derived here once for the terminal, the page, Markdown and LaTeX.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from types import ModuleType

from openworld.core.errors import OpenworldError
from openworld.core.terminal import as_text
from openworld.results import Comparison, Metric, Result, Value

SHOWS = ("value", "interval", "deviation")
BESTS = ("columns", "rows", "")


@dataclass(frozen=True)
class Cell:
    """A cell with more in it than a number; a bare Value, Comparison or text is a cell as well."""

    content: Value | Comparison | str | None  # the number, the test, or words; None of what does not exist
    mark: str = ""  # a sign behind the number, such as "*"
    under: str = ""
    note: str = ""
    printed: float | None = None  # what a paper printed there, in the unit of data
    difference: float | None = None
    bold: bool | None = None  # None where it is derived; False also keeps a number out of the search for the best
    sort: float | None = None


def cell_of(result: Result) -> Cell:
    """A result as a cell that tells the number for every seed to those who point at it."""
    if len(result.per_seed) < 2:
        return Cell(result.value)
    numbers = (
        f"{result.metric.write(number)} (seed {seed})"
        for seed, number in zip(result.seeds, result.per_seed, strict=True)
    )
    return Cell(result.value, note=", ".join(numbers))


@dataclass(frozen=True)
class Column:
    """How the numbers of a column are written."""

    metric: Metric  # how its numbers are written; `results.TEXT` of a column of words or tests
    title: str = ""
    priority: int = 0  # on a narrow terminal the least are left out first, the highest never
    intervals: int = 1  # how many intervals stand behind a number; the others are told to those who point at it
    show: str = "value"  # or "interval" (alone, on the page as a small plot), "deviation" (number ± deviation)
    over: str = ""  # which interval, such as "images"; "" the first
    headline: bool = False

    def __post_init__(self) -> None:
        if self.show not in SHOWS:
            raise OpenworldError(f"a column shows {self.show!r}, expected {', '.join(SHOWS)}.")

    @property
    def heading(self) -> str:
        """What stands above it."""
        return self.title or self.metric.title

    @property
    def words(self) -> bool:
        """Whether it holds words, which stand to the left."""
        return self.metric.unit == "text"


@dataclass(frozen=True)
class Row:
    """A row: its label and as many cells as there are columns."""

    label: str
    cells: tuple[Cell | Value | Comparison | str | None, ...]
    series: str = ""  # whose colour and mark it has on the page; "" of none
    remark: str = ""
    rule: bool = False


@dataclass(frozen=True, repr=False)
class Table:
    """A table, of which every form is a rendering; at a prompt and in a notebook it shows itself.

    >>> from openworld.results import METRICS
    >>> table = Table("t", "Two", "", "learner", (Column(METRICS["auroc"]),), (Row("CoOp", (Value(0.871),)),))
    >>> print(table.to_markdown().splitlines()[-1])
    | CoOp | 87.10 |
    """

    name: str
    title: str
    caption: str  # units, what means and intervals are over, what tests are
    label: str  # what the rows are, such as "learner"
    columns: tuple[Column, ...]  # in order; the labels come before them
    rows: tuple[Row, ...]
    best: str = "columns"  # along which way the best is looked for; "rows" of one metric throughout, "" nowhere
    block: int = 0  # so many columns at most stand side by side in LaTeX; 0 all

    def __post_init__(self) -> None:
        if self.best not in BESTS:
            raise OpenworldError(f"the best is looked for along {self.best!r}, expected 'columns', 'rows' or ''.")
        for row in self.rows:
            if len(row.cells) != len(self.columns):
                raise OpenworldError(
                    f"row {row.label!r} of table {self.name!r} has {len(row.cells)} cells, expected one for each of "
                    f"{len(self.columns)} columns."
                )

    def cell(self, row: int, column: int) -> Cell:
        """A cell, whatever it was made of."""
        cell = self.rows[row].cells[column]
        return cell if isinstance(cell, Cell) else Cell(cell)

    @cached_property
    def bold(self) -> frozenset[tuple[int, int]]:
        """The places (row, column) of what is in bold: what says so itself, and the best of two or more numbers."""
        places = [(row, column) for row in range(len(self.rows)) for column in range(len(self.columns))]
        ranked: dict[int, dict[tuple[int, int], float]] = {}
        for place in places if self.best else ():
            row, column = place
            cell, better = self.cell(*place), self.columns[column].metric.better
            value = cell.content.value if isinstance(cell.content, Value) else None
            if value is not None and better and cell.bold is None and self.columns[column].show != "interval":
                ranked.setdefault(row if self.best == "rows" else column, {})[place] = better * value
        best = {
            place for line in ranked.values() for place in line if line[place] == max(line.values()) and len(line) > 1
        }
        return frozenset(best | {place for place in places if self.cell(*place).bold})

    def to_latex(self) -> str:
        """With booktabs, the best in bold; intervals and ± as the table shows them."""
        return _renderings().latex_table(self)

    def to_markdown(self) -> str:
        """For a README or a wiki."""
        return _renderings().markdown_table(self)

    def to_csv(self) -> str:
        """Numbers in full, fractions."""
        return _renderings().csv_table(self)

    def __repr__(self) -> str:
        return as_text(lambda out: out.print(_renderings().terminal_table(self)))

    def _repr_html_(self) -> str:
        return _renderings().plain_html_table(self)

    def only(self, columns: Sequence[int]) -> "Table":
        """Return the table with these columns alone; what was in bold still is."""
        rows = []
        for place, row in enumerate(self.rows):
            cells = (replace(self.cell(place, column), bold=(place, column) in self.bold) for column in columns)
            rows.append(replace(row, cells=tuple(cells)))
        return replace(self, columns=tuple(self.columns[at] for at in columns), rows=tuple(rows), best="")


def _renderings() -> ModuleType:
    return import_module("openworld.report.render")  # which knows this module
