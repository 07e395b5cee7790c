"""What every figure of the page is made of: panels, a caption of two sentences, and its data as a download."""

from dataclasses import dataclass

from markupsafe import Markup

from openworld.report.axes import Axis, LogAxis
from openworld.report.data_files import csv_address, csv_text
from openworld.report.palette import Look
from openworld.report.summary import Row, Table
from openworld.report.svg import Frame

NAMED = 6  # beyond so many learners a plot grows taller, and all lines but two stand back until chosen


@dataclass(frozen=True)
class Panel:
    """One plot: its title (empty when the figure has a single plot) and the SVG."""

    title: str
    svg: Markup


@dataclass(frozen=True)
class Figure:
    """A figure of the page; `header` and `rows` are the numbers behind it.

    `key` explains marks that are no learner's, as (mark, words); `small` panels stand five side by side.
    """

    name: str
    heading: str
    caption: tuple[str, str]
    panels: tuple[Panel, ...]
    header: tuple[str, ...]
    rows: tuple[tuple, ...]
    key: tuple[tuple[Markup, str], ...] = ()
    small: bool = False

    @property
    def csv(self) -> str:
        """The numbers behind the figure as CSV text: six significant digits, more than can be seen."""
        return csv_text(self.header, [[_short(cell) for cell in row] for row in self.rows])

    @property
    def download(self) -> str:
        """The CSV as a `data:` address, so that the page can offer it without a server."""
        return csv_address(self.csv)


def frame(x: Axis | LogAxis, y: Axis, *, alone: bool, names: int = 0, right: float = 12.0) -> Frame:
    """The frame of one panel: larger when it stands alone, taller when it holds many names, smaller among many."""
    width, height = (470.0, 440.0 if names > NAMED else 350.0) if alone else (400.0, 310.0)
    return Frame(width, height, (10.0, right, 42.0, 54.0), x, y)


def percent(value: float | None) -> str:
    """A fraction in [0, 1] as percent with one decimal; a dash when there is none.

    >>> percent(0.4696), percent(None)
    ('47.0', '–')
    """
    return "–" if value is None else f"{100 * value:.1f}"


def signed(difference: float) -> str:
    """A difference of fractions in points, with its sign.

    >>> signed(0.109), signed(-0.007), signed(-0.0001)
    ('+10.9', '−0.7', '0.0')
    """
    told = f"{100 * difference:+.1f}"
    return "0.0" if float(told) == 0 else told.replace("-", "−")


def belongs(row: Row, table: Table, looks: dict[str, Look]) -> dict[str, str]:
    """Attributes of the group that draws a learner; in a crowded plot all but the best and the untuned stand back."""
    crowded = len(table.rows) > NAMED and row not in (table.best, table.yardstick)
    return {"class_": looks[row.learner].css_class + " back" * crowded, "data_learner": row.learner}


def _short(cell):
    return f"{cell:.6g}" if isinstance(cell, float) else cell
