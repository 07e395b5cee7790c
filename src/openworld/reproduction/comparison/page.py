"""Tables of a paper with ours, as one self-contained page."""

from collections.abc import Sequence
from pathlib import Path

from openworld._errors import OpenworldError
from openworld.papers import PAPERS
from openworld.report.page import Page, Section, render, write_page
from openworld.report.provenance import Part
from openworld.report.series_style import series_styles
from openworld.report.table import Cell, Column, Row, Table
from openworld.reproduction.comparison.against_printed import against_printed
from openworld.reproduction.comparison.compare import PaperComparison
from openworld.reproduction.comparison.compared_results import compared_results
from openworld.reproduction.comparison.table import details_of, sentences, table_of
from openworld.results import Metric, Value

BASELINES = ("CLIP", "zero-shot", "zero-shot-ensemble")
COUNT = Metric("cells", "cells", "count", 0, 0, (0.0, None))


def write_comparison_page(
    folder: Path | str, found: Sequence[PaperComparison], *, output: Path | str | None = None
) -> Path:
    """Write the page of one or more tables of a paper with ours.

    Args:
        folder: where it is written, as `report.html`; made where it is missing.
        found: of `compare_with_paper`.
        output: another path, if wanted.

    Returns:
        The path of the page.

    Raises:
        OpenworldError: when there is no table.
    """
    page = comparison_page(found)
    Path(folder).mkdir(parents=True, exist_ok=True)
    return write_page(folder, output, page)


def comparison_page(found: Sequence[PaperComparison]) -> str:
    """Return the page as HTML text; the same bytes for the same tables."""
    if not found:
        raise OpenworldError("there is no table to show; give at least one, as compare_with_paper makes them.")
    styles = series_styles(list(dict.fromkeys(method for one in found for method in one.methods)), BASELINES)
    papers = " and ".join(dict.fromkeys(PAPERS[one.table.paper] for one in found))
    count = f"{len(found)} tables" if len(found) > 1 else found[0].table.heading
    subtitle = (count, ", ".join(dict.fromkeys(name for one in found for name in one.backbones)))
    page = Page(
        f"{papers} beside ours",
        tuple(filter(None, subtitle)),
        tuple(_summary(found) if len(found) > 1 else sentences(found[0])),
        tuple(_sections(found, styles)),
        styles,
        "Methods",
    )
    facts = tuple((one.table.short_heading, " · ".join(("; ".join(one.datasets), *one.backbones))) for one in found)
    return render(page, compared_results(found), made=[Part("What ours were measured on", facts=facts)])


def _sections(found: Sequence[PaperComparison], styles) -> list[Section]:
    several = len(found) > 1
    overview = [Section("Every table", tables=(_overview(found),))] if several else []
    tables = [
        Section(
            one.table.short_heading,
            text=tuple(sentences(one)) if several else (),
            tables=(table_of(one, styles, f"table-{place}"),),
            folded=(Section("Intervals and tests", tables=(details_of(one, styles, f"details-{place}"),)),),
        )
        for place, one in enumerate(found, 1)
    ]
    figure = against_printed(found, styles)
    return [*overview, *tables, *([Section(figure.title, figures=(figure,))] if figure else [])]


def _summary(found: Sequence[PaperComparison]) -> list[str]:
    """Return what holds for all tables, and how often the orders agree."""
    orders = [one for table in found for one in table.agreements if one.tau is not None]
    same = sum(table.same_data for table in found)
    data = {0: "All of ours are of other data than the paper's", len(found): "All of ours are of the paper's data"}
    whose = data.get(same, f"In {same} of {len(found)} tables ours are of the paper's data")
    return [
        f"{whose}; every table says what its numbers are of, and what was subtracted and tested.",
        f"The orders of the methods can be compared in {len(orders)} columns, and are shown to be related in "
        f"{sum(one.related for one in orders)} of them (Kendall's tau, Holm within a table).",
    ]


def _overview(found: Sequence[PaperComparison]) -> Table:
    same = any(one.same_data for one in found)
    titles = ("ours higher", "lower", "no difference shown", "not tested") if same else ()
    columns = tuple(Column(COUNT, title) for title in (*titles, "orders related", "of"))
    rows = tuple(Row(one.table.short_heading, tuple(_overview_cells(one, counted=same))) for one in found)
    tests = "Cells of every table by the test of ours against the printed number; and in " if same else "In "
    text = f"{tests}how many columns our order of the methods is shown to be related to the printed one, of how many."
    return Table("overview", "Every table", text, "table", columns, rows)


def _overview_cells(one: PaperComparison, *, counted: bool) -> list[Cell]:
    orders = [order for order in one.agreements if order.tau is not None]
    counts = [Value(count) if one.same_data else None for count in one.verdicts] if counted else []
    note = "; ".join(order.short for order in orders)
    related = (sum(order.related for order in orders), len(orders))
    return [*map(Cell, counts), *(Cell(Value(count), note=note) for count in related)]
