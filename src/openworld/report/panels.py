"""What every figure of the page is made of: panels, a caption of two sentences, and its data as a download."""

from dataclasses import dataclass

from markupsafe import Markup

from openworld.report.axes import Axis, LogAxis
from openworld.report.data_files import csv_address, csv_text
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
    title: str
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


def _short(cell):
    return f"{cell:.6g}" if isinstance(cell, float) else cell
