"""Tables of a paper with ours, as one self-contained page."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from openworld._errors import OpenworldError
from openworld.papers import PAPERS
from openworld.report.page import Page, Section, render, write_page
from openworld.report.provenance import Part
from openworld.report.sentences import counted
from openworld.report.series_style import SeriesStyle, series_styles
from openworld.report.table import Cell, Column, Row, Table
from openworld.reproduction.comparison.against_printed import against_printed
from openworld.reproduction.comparison.compare import PaperComparison
from openworld.reproduction.comparison.compared_results import compared_results
from openworld.reproduction.comparison.table import details_of, table_of
from openworld.reproduction.figures.drawing import MadeFigure
from openworld.results import Metric, Value
from openworld.runs.atomic import write_file

BASELINES = ("CLIP", "zero-shot", "zero-shot-ensemble")
COUNT = Metric("cells", "cells", "count", 0, 0, (0.0, None))


def write_comparison_page(
    folder: Path | str,
    comparisons: Sequence[PaperComparison],
    figures: Sequence[MadeFigure] = (),
    *,
    output: Path | str | None = None,
) -> Path:
    """Write the page of tables and figures of a paper with ours, and all numbers of the tables as `results.parquet`.

    Args:
        folder: where both are written, the page as `report.html`; made where it is missing.
        comparisons: of `compare_with_paper`.
        figures: of `draw_plan`.
        output: another path, if wanted.

    Returns:
        The path of the page.

    Raises:
        OpenworldError: when there is neither a table nor a figure.
    """
    page = comparison_page(comparisons, figures)
    Path(folder).mkdir(parents=True, exist_ok=True)
    if comparisons:
        write_file(Path(folder) / "results.parquet", compared_results(comparisons).to_parquet())
    return write_page(folder, output, page)


def comparison_page(comparisons: Sequence[PaperComparison], figures: Sequence[MadeFigure] = ()) -> str:
    """Return the page as HTML text; the same bytes for the same tables and figures."""
    if not comparisons and not figures:
        raise OpenworldError("there is no table to show; give at least one, as compare_with_paper makes them.")
    styles = page_styles(comparisons, figures)
    papers = [PAPERS[comparison.table.paper] for comparison in comparisons] + [figure.paper for figure in figures]
    backbones = dict.fromkeys(name for part in (*comparisons, *figures) for name in part.backbones)
    page = Page(
        f"{' and '.join(dict.fromkeys(papers))} beside ours",
        tuple(filter(None, (*_count(comparisons, figures), ", ".join(backbones)))),
        tuple(_verdict(comparisons, figures)),
        (*_sections(comparisons, styles), *(figure.styled(styles).section for figure in figures)),
        styles,
        "Series" if figures else "Methods",
    )
    parts = [
        *((made.table.short_heading, made) for made in comparisons),
        *((made.figure.title, made) for made in figures),
    ]
    facts = tuple((heading, " · ".join(("; ".join(made.datasets), *made.backbones))) for heading, made in parts)
    return render(page, compared_results(comparisons), made=[Part("What ours were measured on", facts=facts)])


def page_styles(comparisons: Sequence[PaperComparison], figures: Sequence[MadeFigure]) -> dict[str, SeriesStyle]:
    """Return the style of every series, the same in all charts of the page."""
    methods = [method for comparison in comparisons for method in comparison.methods]
    series = [name for figure in figures for name in figure.figure.styles]
    return series_styles(list(dict.fromkeys((*methods, *series))), BASELINES)


def _count(comparisons: Sequence[PaperComparison], figures: Sequence[MadeFigure]) -> Iterator[str]:
    """The only table or figure, or how many there are."""
    headings = [*(comparison.table.heading for comparison in comparisons), *(figure.heading for figure in figures)]
    if len(headings) == 1:
        yield headings[0]
        return
    kinds = {"table": len(comparisons), "figure": len(figures)}
    yield from (counted(number, kind) for kind, number in kinds.items() if number)


def _verdict(comparisons: Sequence[PaperComparison], figures: Sequence[MadeFigure]) -> Sequence[str]:
    if len(comparisons) > 1:
        return _summary(comparisons)
    remarks = (sentence for figure in figures for sentence in figure.remarks)
    return comparisons[0].sentences if comparisons else tuple(dict.fromkeys(remarks))


def _sections(comparisons: Sequence[PaperComparison], styles) -> list[Section]:
    several = len(comparisons) > 1
    orders = (agreement for comparison in comparisons for agreement in comparison.agreements)
    comparable = any(comparison.same_data for comparison in comparisons) or any(each.tau is not None for each in orders)
    overview = [Section("Every table", tables=(_overview(comparisons),))] if several and comparable else []
    tables = [
        Section(
            comparison.table.short_heading,
            text=comparison.sentences if several else (),
            tables=(table_of(comparison, styles, f"table-{place}"),),
            folded=(
                Section("Intervals and tests", tables=(details_of(comparison, styles, f"details-{place}"),)),
                *([Section("What is known of the printed table", text=comparison.notes)] if comparison.notes else []),
            ),
        )
        for place, comparison in enumerate(comparisons, 1)
    ]
    figure = against_printed(comparisons, styles)
    return [*overview, *tables, *([Section(figure.title, figures=(figure,))] if figure else [])]


def _summary(comparisons: Sequence[PaperComparison]) -> list[str]:
    """Return what holds for all tables, and how often the orders agree."""
    orders = [agreement for table in comparisons for agreement in table.agreements if agreement.tau is not None]
    same = sum(table.same_data for table in comparisons)
    data = {
        0: "All of ours are of other data than the paper's",
        len(comparisons): "All of ours are of the paper's data",
    }
    whose = data.get(same, f"In {same} of {len(comparisons)} tables ours are of the paper's data")
    return [
        f"{whose}; every table says what its numbers are of, and what was subtracted and tested.",
        f"The orders of the methods can be compared in {counted(len(orders), 'column')}, and are shown to be related "
        f"in {sum(agreement.related for agreement in orders)} (Kendall's tau, Holm within a table)."
        if orders
        else "The orders of the methods can be compared in no column.",
    ]


def _overview(comparisons: Sequence[PaperComparison]) -> Table:
    same = any(comparison.same_data for comparison in comparisons)
    titles = ("reproduced", "ours higher", "lower", "not told apart", "not tested") if same else ()
    columns = tuple(Column(COUNT, title) for title in (*titles, "orders related", "of"))
    rows = tuple(
        Row(comparison.table.short_heading, tuple(_overview_cells(comparison, counted=same)))
        for comparison in comparisons
    )
    tests = "Cells of every table by the test of ours against the printed number; and in " if same else "In "
    text = f"{tests}how many columns our order of the methods is shown to be related to the printed one, of how many."
    return Table("overview", "Every table", text, "table", columns, rows)


def _overview_cells(comparison: PaperComparison, *, counted: bool) -> list[Cell]:
    orders = [order for order in comparison.agreements if order.tau is not None]
    counts = [Value(count) if comparison.same_data else None for count in comparison.verdicts] if counted else []
    note = "; ".join(order.short for order in orders)
    related = (sum(order.related for order in orders), len(orders))
    return [*map(Cell, counts), *(Cell(Value(count), note=note) for count in related)]
