"""The page that every report shares: one HTML file that loads nothing.

Jinja2 escapes every text that comes from a run; a Content-Security-Policy forbids every request and any script or
style but the page's own, named by hash, so that even an escape gone wrong could not act.
"""

import base64
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup

from openworld import __version__
from openworld.report.album import Album
from openworld.report.charts.drawing.svg import hatches, shapes
from openworld.report.data_files import csv_address
from openworld.report.figure import Figure, asset, standalone
from openworld.report.provenance import Pairs
from openworld.report.render.forms import csv_table
from openworld.report.render.html import html_table, legend_key
from openworld.report.series_style import SeriesStyle, style_sheet
from openworld.report.table import Table
from openworld.results import Results

if TYPE_CHECKING:
    from openworld.datasets.names.audit import Audit

NUMBERS = 13_000  # in the tables and figures of a page, some 3 MB; what is folded beyond them is left to its files
RESULTS_BYTES = 200_000  # all results are offered on a page while they take no more; results.parquet has them anyhow


@dataclass(frozen=True)
class Section:
    heading: str
    text: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    albums: tuple[Album, ...] = ()
    folded: tuple["Section", ...] = ()

    @property
    def name(self) -> str:
        """Its place on the page, told apart from those of tables."""
        return "section-" + re.sub(r"[^a-z0-9]+", "-", self.heading.lower()).strip("-")


@dataclass(frozen=True)
class Page:
    """All that a page shows but class names and provenance, which every run has."""

    title: str
    subtitle: tuple[str, ...]
    verdict: tuple[str, ...]
    sections: tuple[Section, ...]
    styles: Mapping[str, SeriesStyle] = field(default_factory=dict)  # {series: how it is drawn}, the legend
    series: str = "Learners"
    facts: tuple[tuple[str, str], ...] = ()


def render(
    page: Page,
    results: Results,
    *,
    audits: Sequence["Audit"] = (),
    made: Sequence[tuple[str, str | Pairs]] = (),
) -> str:
    """Return the page as HTML text; the same bytes for the same page."""
    from openworld.report.class_names import WORST, names_sentences  # where no page is made, no names are audited

    by_class = {style.css_class: style for style in page.styles.values()}
    for figure in figures_of(page.sections):  # which may have series of their own
        for style in figure.styles.values():
            by_class.setdefault(style.css_class, style)
    numbers = results.to_csv()
    style, script = asset("page.css") + style_sheet(by_class.values()), asset("page.js")
    return _template().render(
        version=__version__,
        shapes=shapes() + hatches(),
        style=Markup(style),
        script=Markup(script),
        style_hash=Markup(policy_hash(style)),
        script_hash=Markup(policy_hash(script)),
        legend=[{"learner": name, "key": legend_key(style)} for name, style in page.styles.items()],
        title=page.title,
        subtitle=" · ".join([*page.subtitle, f"openworld {__version__}"]),
        legend_of=page.series,
        verdict=page.verdict,
        sections=within_budget(page.sections),
        table=lambda table: html_table(table, page.styles, download=csv_address(csv_table(table))),
        numbers=csv_address(numbers) if results and len(numbers) <= RESULTS_BYTES else "",
        many_numbers=f"All {len(results):,} numbers are in results.parquet in the folder of the run, times in "
        "times.parquet."
        if results
        else "",
        audits=audits,
        names_sentences=names_sentences(audits),
        worst=WORST,
        not_made=dict.fromkeys(check for audit in audits for check in audit.not_made),
        made=made,
    )


def within_budget(sections: Sequence[Section], most: int = NUMBERS) -> list[Section]:
    """Return the sections of a page with as many folded ones, in order, as there is room for beside what stands open.

    A folded section without room says how many numbers it has, and where they are.
    """
    room = most - sum(_count_numbers(replace(section, folded=())) for section in sections)
    shown = []
    for section in sections:
        folded = []
        for part in section.folded:
            count = _count_numbers(part)
            if count > room:
                where = f"{count:,} numbers, too many for one page: results.parquet, or the JSON, has all."
                part = replace(part, text=(*part.text, where), tables=(), figures=(), folded=())
            else:
                room -= count
            folded.append(part)
        shown.append(replace(section, folded=tuple(folded)))
    return shown


def _count_numbers(section: Section) -> int:
    tables = sum(len(table.rows) * len(table.columns) for table in section.tables)
    return tables + sum(len(figure.rows()) for figure in section.figures) + sum(map(_count_numbers, section.folded))


def figures_of(sections: Sequence[Section]) -> Iterator[Figure]:
    for section in sections:
        yield from section.figures
        yield from figures_of(section.folded)


def chart_files(page: Page, names: Sequence[str]) -> dict[str, bytes | None]:
    """Return figures of a page as SVG files, by the names of the files; None of a figure that it lacks."""
    figures = {figure.name: figure for figure in figures_of(page.sections) if figure.charts}
    drawn = {name: figures[name] for name in names if name in figures}
    return {f"{name}.svg": None for name in names} | {
        f"{name}.svg": standalone(figure.panels[0][1], figure.styles).encode() for name, figure in drawn.items()
    }


@cache
def _template() -> Template:
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=False)
    return environment.from_string(asset("page.html.j2"))


def policy_hash(text: str) -> str:
    """Return the source expression by which the policy of a page knows an inline style or script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
