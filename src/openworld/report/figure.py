"""A figure: charts side by side with a caption, its data, its drawings for a page, and files of it.

Viewers and editors of SVG know classes but few know CSS variables, on which the colours of a page rest. So a drawing of
a page as a file of its own has rules of the page's own style sheet, in light colours, as far as it uses them.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Protocol

from markupsafe import Markup

from openworld.core import representation
from openworld.core.csv_files import csv_text
from openworld.core.errors import OpenworldError
from openworld.report.charts.drawing.svg import element, hatches, shapes
from openworld.report.data_files import csv_address
from openworld.report.series_style import SeriesStyle
from openworld.runs.outputs import require_file

FORMATS = (".pdf", ".svg", ".png")
FONT = 'svg { font-family: system-ui, "Segoe UI", Roboto, "Liberation Sans", Arial, sans-serif; }'


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
    def panels(self) -> tuple[tuple[str, Markup], ...]:
        """The title of every chart and its drawing for a page."""
        alone = len(self.charts) == 1
        return tuple((chart.title, chart.svg(self.styles, alone=alone)) for chart in self.charts)

    def _repr_html_(self) -> str:
        drawings = (standalone(svg, self.styles) for _, svg in self.panels)
        return representation.block([self.title, *self.caption], *map(representation.image, drawings))

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
        from openworld.report.charts.drawing.paper import save_figure

        require_file("path", path)
        save_figure(self, path)
        return path


def standalone(drawn: Markup, styles: Mapping[str, SeriesStyle]) -> str:
    """Return a drawing as an SVG file: with its markers, and with colours that no style sheet has to resolve."""
    head, _, body = str(drawn).partition(">")
    sheet = re.sub(r"/\*.*?\*/", "", asset("page.css"), flags=re.DOTALL)
    sheet = re.sub(r"@media[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", "", sheet)  # what holds on every screen and in print
    colours = dict(re.findall(r"(--[\w-]+):\s*([^;]+);", sheet[: sheet.index("}")]))
    inks = {series.css_class: series.light for series in styles.values()}
    inks |= {name: _resolve(ink, colours) for name, ink in re.findall(r"\.([\w-]+) \{ --ink: ([^;]+); \}", sheet)}
    inks = {name: ink for name, ink in inks.items() if name in body}
    rules, definitions = [*_rules(sheet, body, colours, inks)], shapes()
    if any("url(#hatch" in rule for rule in rules):
        definitions += hatches()
        rules += _rules(sheet, hatches(), colours, {})
    paper = element("rect", width="100%", height="100%", fill=colours["--paper"])
    start = head.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    style = "\n".join([FONT, *rules])
    return f"{start}><style>\n{style}\n</style><defs>{definitions}</defs>{paper}{body}\n"


def _rules(sheet: str, body: str, known: dict[str, str], inks: dict[str, str]) -> Iterator[str]:
    """Rules of drawings that the drawing uses; those in a colour of their own once for every class that has one."""
    for selectors, declarations in re.findall(r"([^{}]+)\{([^{}]*)\}", sheet):
        names = (name for name in map(str.strip, selectors.split(",")) if not set(name) & set(":[]"))
        names = (name.removeprefix("svg ") for name in names if name.startswith("svg "))  # of what stands in a drawing
        used = [name for name in names if all(part in body for part in re.findall(r"[\w-]+", name))]
        plain = "; ".join(rule.strip() for rule in declarations.split(";") if rule.strip() and "color-mix" not in rule)
        if not used:
            continue
        if not re.search(r"var\(--ink[,)]", plain):
            yield f"{', '.join(used)} {{ {_resolve(plain, known)} }}"
            continue
        for css_class, ink in inks.items():  # the class of a group, or of the mark itself
            coloured = ", ".join(f".{css_class} {name}, {name}.{css_class}" for name in used)
            yield f"{coloured} {{ {_resolve(plain, known | {'--ink': ink})} }}"


def asset(name: str) -> str:
    """The text of a file that lies beside this one."""
    return files("openworld.report").joinpath(name).read_text(encoding="utf-8")


def _resolve(declarations: str, known: dict[str, str]) -> str:
    return re.sub(r"var\((--[\w-]+)(?:,[^()]*(?:\([^()]*\))?)?\)", lambda match: known[match[1]], declarations)
