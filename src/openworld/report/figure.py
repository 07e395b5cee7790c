"""A figure: charts side by side with a caption, its data, its drawings for a page, and a file for a paper."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Protocol

from markupsafe import Markup

from openworld.core import notebook
from openworld.core.csv_files import csv_text
from openworld.core.errors import OpenworldError
from openworld.report.data_files import csv_address
from openworld.report.series_style import SeriesStyle
from openworld.report.standalone import standalone
from openworld.runs.outputs import require_file

FORMATS = (".pdf", ".svg", ".png")


class Chart(Protocol):
    """What every chart offers; `alone` says that it is the only one of its figure.

    One whose size on paper depends on its content has `paper_width`, the least inches, and `paper_height(width)` too.
    """

    @property
    def title(self) -> str: ...

    def rows(self) -> Iterator[dict]:
        """Yield the numbers behind it, a row per bar, dot, point or cell."""

    def svg(self, styles: Mapping[str, SeriesStyle], *, alone: bool = False) -> Markup:
        """Return the drawing for a page."""

    def draw(self, axes, styles: Mapping[str, SeriesStyle]) -> None:
        """Draw on matplotlib axes."""


@dataclass(frozen=True)
class DrawnChart:
    title: str
    svg: Markup


@dataclass(frozen=True)
class Figure:
    """Charts side by side.

    Args:
        name: of its files and of its place on the page.
        title: a question or a heading.
        caption: sentences below it.
        charts: one or several.
        styles: of every series, the same in all figures of a run.
        key: marks that are no series', as (drawing, words), for the page.
        small: whether many charts stand in a row.
        names: columns of the data for the title of a chart, where there are several, and for the name of a series.
        shared: the rows, where charts share them: one per dot, say, with a column per chart.
        together: so many charts in a row belong together, such as 2 of ours beside the printed one: none is torn apart.
    """

    name: str
    title: str
    caption: tuple[str, ...]
    charts: tuple[Chart, ...]
    styles: Mapping[str, SeriesStyle] = field(default_factory=dict)
    key: tuple[tuple[Markup, str], ...] = ()
    small: bool = False
    names: tuple[str, str] = ("panel", "series")
    shared: tuple[dict, ...] | None = None
    together: int = 1

    def rows(self) -> list[dict]:
        """Return the numbers behind the figure, with the panel where there are several; fractions, not rounded."""
        if self.shared is not None:
            return list(self.shared)
        panel, series = self.names
        return [
            ({panel: chart.title} if len(self.charts) > 1 else {})
            | {series if key == "series" else key: value for key, value in row.items()}
            for chart in self.charts
            for row in chart.rows()
        ]

    @property
    def csv(self) -> str:
        """The rows as CSV text: six significant digits, more than can be seen."""
        rows = self.rows()
        header = list(dict.fromkeys(key for row in rows for key in row))
        cells = ([row.get(key) for key in header] for row in rows)
        return csv_text(header, ([f"{cell:.6g}" if isinstance(cell, float) else cell for cell in row] for row in cells))

    @property
    def download(self) -> str:
        """The CSV as a `data:` address, so that a page can offer it without a server."""
        return csv_address(self.csv)

    @cached_property
    def panels(self) -> tuple[DrawnChart, ...]:
        alone = len(self.charts) == 1
        return tuple(DrawnChart(chart.title, chart.svg(self.styles, alone=alone)) for chart in self.charts)

    def _repr_html_(self) -> str:
        drawings = (standalone(panel.svg, dict(self.styles)) for panel in self.panels)
        return notebook.block([self.title, *self.caption], *map(notebook.image, drawings))

    def draw(self, axes) -> None:
        """Draw on matplotlib axes of your own; `axes.legend()` then names the series.

        Args:
            axes: one `Axes` for a figure of one chart, else at least as many as it has charts, such as
                `plt.subplots(2, 2)[1]`; those that are left over stay as they are.
        """
        axes_drawn = [axes] if hasattr(axes, "plot") else list(getattr(axes, "flat", axes))
        if len(axes_drawn) < len(self.charts):
            titles = ", ".join(repr(chart.title) for chart in self.charts)
            raise OpenworldError(
                f"the figure {self.name!r} came with {len(axes_drawn)} axes, expected one for each of its "
                f"{len(self.charts)} charts: {titles}."
            )
        for panel, chart in zip(axes_drawn, self.charts, strict=False):
            chart.draw(panel, self.styles)

    def save(self, path: str | Path) -> Path:
        """Write the figure as .pdf, .svg or .png, 3.25 inches a chart, in type of at least 7 points; return the path.

        More than six charts are narrower, three in a row, unless their
        texts need more room. Folders that are not there yet are made. Needs matplotlib:
        pip install 'openworld[plots]'.
        """
        path = Path(path)
        if path.suffix.lower() not in FORMATS:
            raise OpenworldError(f"{path.name} is no {', '.join(FORMATS)} file; give a path that ends in one of these.")
        if not self.charts:
            raise OpenworldError(f"the figure {self.name!r} has nothing to draw: {' '.join(self.caption)}")
        from openworld.report.charts.drawing.paper_figure import save_figure

        require_file("path", path)
        save_figure(self, path)
        return path
