"""The page of a judgement in the template of every page, and its plot as a file of its own."""

from collections.abc import Iterator
from pathlib import Path

from openworld import __version__
from openworld.applications.estimate.figures import methods, over_time
from openworld.applications.estimate.grids import (
    classes_grid,
    details_grid,
    left_out_grid,
    methods_grid,
    stretches_grid,
)
from openworld.applications.estimate.results import Judgement, Method
from openworld.applications.estimate.wording import sentences
from openworld.report.class_names import names_section, read_audits
from openworld.report.data_files import csv_address, csv_text
from openworld.report.grid import Grid
from openworld.report.page import fill, write_page
from openworld.report.provenance import Part
from openworld.report.series_style import Look, looks
from openworld.report.standalone import standalone

PLOTS = {"methods.svg": methods, "over-time.svg": over_time}
"""A file -> the figure in it, if there is one."""

CSV = ("method", "accuracy", "low", "high", "warnings")


def build_judgement(folder: Path | str, judged: Judgement, *, output: Path | str | None = None) -> Path:
    """Write the page, `report.html` in the folder unless `output` says otherwise; returns its path."""
    return write_page(folder, output, render_judgement(judged, read_audits(folder)))


def render_judgement(judged: Judgement, audits=()) -> str:
    """The page as HTML text; the same bytes for the same judgement."""
    chosen = looks([one.name for one in judged.methods])
    figure = methods(judged, chosen)
    return fill(
        chosen,
        title=f"Accuracy on {judged.target.name}, estimated without labels",
        subtitle=_subtitle(judged),
        legend_of="Methods",
        verdict=[*sentences(judged), *(f"Note: {warning}." for warning in judged.warnings)],
        overview=None,
        tables=[methods_grid(judged, chosen)],
        further=[details_grid(judged, chosen)],
        numbers=csv_address(csv_text(CSV, [_csv_quote(judged), *map(_csv_row, judged.methods)])),
        figures=[figure] if figure else [],
        chapters=list(_chapters(judged, chosen)),
        class_names=names_section(audits),
        made=[Part("To do it again", facts=tuple(judged.made.items()))],
    )


def _chapters(judged: Judgement, chosen: dict[str, Look]) -> Iterator[dict]:
    """Over time, and class by class, where these were asked for."""
    if judged.stretches:
        figure = over_time(judged, chosen)
        yield _chapter("chunks", "Over time", stretches_grid(judged), [figure] if figure else [])
    if judged.classes:
        yield _chapter("classes", "Class by class", classes_grid(judged), [])
    if judged.learned is not None:
        yield _chapter("labelled", "Labelled shifts", left_out_grid(judged.learned), [])


def _chapter(name: str, heading: str, grid: Grid, figures: list) -> dict:
    return {"name": name, "heading": heading, "told": [], "grids": [{"grid": grid, "csv": ""}], "figures": figures}


def plots(judged: Judgement) -> dict[str, str]:
    """The figures as SVG files: {name: text}."""
    chosen = looks([one.name for one in judged.methods])
    drawn = {name: figure(judged, chosen) for name, figure in PLOTS.items()}
    return {name: standalone(figure.panels[0].svg, chosen) for name, figure in drawn.items() if figure is not None}


def _subtitle(judged: Judgement) -> str:
    target = judged.target
    parts = (
        f"{target.n:,} images, {target.classes} classes",
        f"source {judged.source.name}",
        f"openworld {__version__}",
    )
    return " · ".join(parts)


def _csv_quote(judged: Judgement) -> tuple:
    quote = judged.quote
    return "quoted", quote.accuracy, quote.low, quote.high, quote.why


def _csv_row(one: Method) -> tuple:
    return one.name, one.accuracy, *(one.interval or (None, None)), "; ".join(one.warnings)
