"""Tables of a paper beside ours, as one self-contained page in the template of every page."""

from collections.abc import Sequence
from pathlib import Path

from openworld import __version__
from openworld._errors import OpenworldError
from openworld.papers import PAPERS
from openworld.report.data_files import csv_address, csv_text
from openworld.report.grid import Cell, Grid, Line
from openworld.report.grid import Column as Head
from openworld.report.marks import swatch
from openworld.report.page import fill, write_page
from openworld.report.provenance import Part
from openworld.report.series_style import Look, looks
from openworld.reproduction.comparison.against_printed import against_printed
from openworld.reproduction.comparison.cells import Column, Pair
from openworld.reproduction.comparison.compare import Beside
from openworld.reproduction.comparison.tables import HEADER, csv_rows
from openworld.reproduction.comparison.wording import (
    bracketed,
    caption,
    difference,
    explained,
    number,
    row_title,
    rows_title,
    title,
)

YARDSTICKS = ("CLIP", "zero-shot", "zero-shot-ensemble")


def build_beside(folder: Path | str, besides: Sequence[Beside], *, output: Path | str | None = None) -> Path:
    """Write the page of one or more tables beside ours.

    Args:
        folder: where it is written, as `report.html`; made where it is missing.
        besides: of `beside`.
        output: another path, if wanted.

    Returns:
        The path of the page.

    Raises:
        OpenworldError: when there is no table.
    """
    page = render_beside(besides)
    Path(folder).mkdir(parents=True, exist_ok=True)
    return write_page(folder, output, page)


def render_beside(besides: Sequence[Beside]) -> str:
    """The page as HTML text; the same bytes for the same tables."""
    if not besides:
        raise OpenworldError("there is no table to show; give at least one, as report.beside.beside makes them.")
    methods = dict.fromkeys(method for one in besides for method in one.methods)
    chosen = looks(list(methods), YARDSTICKS)
    numbered = list(enumerate(besides, 1))
    figure = against_printed(besides, chosen)
    papers = " and ".join(dict.fromkeys(PAPERS[one.table.paper] for one in besides))
    return fill(
        chosen,
        title=f"{papers} beside ours",
        subtitle=_subtitle(besides),
        verdict=_verdict(besides),
        overview=_overview(besides) if len(besides) > 1 else None,
        tables=[_grid(one, chosen, f"table-{place}", several=len(besides) > 1) for place, one in numbered],
        further=[_further(one, chosen, f"further-{place}") for place, one in numbered],
        numbers=csv_address(csv_text(HEADER, [row for one in besides for row in csv_rows(one)])),
        figures=[figure] if figure else [],
        made=_made(besides),
    )


def _subtitle(besides: Sequence[Beside]) -> str:
    count = f"{len(besides)} tables" if len(besides) > 1 else besides[0].table.heading
    backbones = ", ".join(dict.fromkeys(name for one in besides for name in one.backbones))
    return " · ".join(filter(None, (count, backbones, f"openworld {__version__}")))


def _verdict(besides: Sequence[Beside]) -> list[str]:
    """Of one table all that is said of it; of several what holds for all, and how often the orders agree."""
    if len(besides) == 1:
        return [*besides[0].sentences, *(f"Known of the printed table: {note}" for note in besides[0].notes)]
    orders = [one for table in besides for one in table.agreements if one.tau is not None]
    same = sum(table.same_data for table in besides)
    data = {0: "All of ours are of other data than the paper's", len(besides): "All of ours are of the paper's data"}
    told = data.get(same, f"In {same} of {len(besides)} tables ours are of the paper's data")
    return [
        f"{told}; under every table stands what its numbers are of, and what was subtracted and tested.",
        f"The orders of the methods can be compared in {len(orders)} columns, and are shown to be related in "
        f"{sum(one.related for one in orders)} of them (Kendall's tau, Holm within a table).",
    ]


def _overview(besides: Sequence[Beside]) -> Grid:
    same = any(one.same_data for one in besides)
    titles = ["ours higher", "lower", "no difference shown", "not tested"] if same else []
    heads = (Head("table", words=True), *map(Head, titles), Head("orders related"), Head("of"))
    rows = tuple(Line(one.table.heading, tuple(_overview_cells(one, counted=same))) for one in besides)
    tests = "Cells of every table by the test of ours against the printed number; and in " if same else "In "
    told = f"{tests}how many columns our order of the methods is shown to be related to the printed one, of how many."
    return Grid("overview", "Every table", told, heads, rows)


def _overview_cells(one: Beside, *, counted: bool) -> list[Cell]:
    orders = [order for order in one.agreements if order.tau is not None]
    hint = "; ".join(order.short_words for order in orders)
    related = [Cell(str(sum(order.related for order in orders)), hint=hint), Cell(str(len(orders)), hint=hint)]
    counts = [str(count) if one.same_data else "–" for count in one.verdicts] if counted else []
    return [Cell(one.table.short_heading), *map(Cell, counts), *related]


def _grid(shown: Beside, chosen: dict[str, Look], name: str, *, several: bool) -> Grid:
    heads = (Head(rows_title(shown), words=True), *(Head(title(shown, column)) for column in shown.columns))
    rows = tuple(
        Line(row, (_head(row, chosen), *(_cell(shown.pairs.get((row, column)), column) for column in shown.columns)))
        for row in shown.rows
    )
    notes = (f"Known of the printed table: {note}" for note in shown.notes)
    told = " ".join((caption(shown), *shown.sentences, *notes)) if several else caption(shown)
    return Grid(name, shown.table.short_heading, f"{shown.table.heading}. {told}", heads, rows)


def _further(shown: Beside, chosen: dict[str, Look], name: str) -> Grid:
    """Every interval and every test in words."""
    heads = (Head(rows_title(shown), words=True), *(Head(title(shown, column), words=True) for column in shown.columns))
    rows = tuple(
        Line(row, (_head(row, chosen), *(_told(shown.pairs.get((row, column))) for column in shown.columns)))
        for row in shown.rows
    )
    name_of = shown.table.short_heading
    told = f"{name_of}: every 95 % interval, the printed deviation, and the test against the printed number."
    return Grid(name, f"{name_of}, intervals and tests", told, heads, rows)


def _cell(pair: Pair | None, column: Column) -> Cell:
    """Ours with its first interval, and fainter the printed number and the difference."""
    if pair is None:
        return Cell("")
    ours, metric = pair.ours, column.metric
    printed = "" if pair.published is None else number(pair.published, metric)
    beside = ", ".join(filter(None, (printed, difference(pair.difference, metric))))
    if ours is None:
        return Cell(printed, value=str(pair.published), css="printed")
    own = f"{number(ours.value, metric)} {bracketed(ours.interval, metric)}".strip()
    value = "" if ours.value is None else f"{ours.value:.6f}"
    return Cell(own, value, f"printed {beside}" if beside else "", hint=explained(pair), css="stacked")


def _told(pair: Pair | None) -> Cell:
    return Cell("" if pair is None else explained(pair), css="words")


def _head(row: str, chosen: dict[str, Look]) -> Cell:
    return Cell(row_title(row), picture=swatch(chosen[row])) if row in chosen else Cell(row_title(row))


def _made(besides: Sequence[Beside]) -> list[Part]:
    facts = tuple(
        (one.table.short_heading, f"{'; '.join(one.datasets)} · {', '.join(one.backbones)}") for one in besides
    )
    return [Part("What ours were measured on", facts=facts)]
