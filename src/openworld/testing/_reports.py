"""What every report of a run promises: all forms, nothing lost, a page that is whole by itself."""

import re
from collections import Counter

from openworld.report.charts.cells import CellChart
from openworld.report.page import figures_of
from openworld.report.report import FORMS, Report
from openworld.results import Results
from openworld.testing._tables import check_table

PAGE_BYTES = 1_500_000


def check_report(report: Report) -> None:
    """Raise AssertionError unless a run can be told in every form.

    Args:
        report: of a run in a folder that may be written to.
    """
    for check in REPORT_CHECKS:
        check(report)


def _has_every_form(report: Report) -> None:
    assert report.terminal_tables and len(report.results), "a report has a table and results"
    for form in FORMS:
        assert report.export(form), f"the form {form} is empty"


def _loses_nothing(report: Report) -> None:
    results = report.results
    assert Results.from_json(results.to_json()) == results, "JSON is not read back as it was"
    assert Results.from_arrow(results.to_arrow()) == results, "Parquet is not read back as it was"


def _every_renderer_says_the_same(report: Report) -> None:
    for table in (*report.terminal_tables, *report.papers, *_tables(report.page.sections)):
        check_table(table)


def _shows_every_number_once(report: Report) -> None:
    shown: dict[int, list[tuple]] = {}
    overview, *tables = _tables(report.page.sections)
    for table in (*tables, overview):
        for row in table.rows:
            for column, cell in zip(table.columns, row.cells, strict=True):
                content = getattr(cell, "content", cell)
                if content is not None and column.show != "interval":
                    shown.setdefault(id(content), []).append((table, column))
    on_maps = {
        number
        for figure in figures_of(report.page.sections)
        for chart in figure.charts
        if isinstance(chart, CellChart)
        for cell in chart.cells.values()
        for number in cell.row.items()
    }
    sharing = Counter(id(row.value) for row in report.results)
    for row in report.results:
        name = f"{row.metric.key} of {row.entity or 'nobody'} at {dict(row.where)}"
        places = shown.get(id(row.value), [])
        if not places and (row.metric.key, row.value.value) in on_maps:
            continue
        in_full = [place for place in places if place[0] is not overview]
        # The first table may set side by side what the tables after it tell in full; several rows may share a value.
        times = len(in_full or places) / sharing[id(row.value)]
        assert times == 1, f"{name} stands {times:g} times in {[table.name for table, _ in places]}"
        table, column = places[0]
        written = (row.metric.unit, row.metric.digits)  # rows may be metrics, where these are written alike
        assert written == (column.metric.unit, column.metric.digits), f"{name} stands under {column.metric.key}"
        over = [interval.over for interval in row.value.intervals[:1] if column.intervals]
        assert all(f"over {what}" in table.caption for what in over), f"{table.name} does not say over what {over} is"


def _names_places_once(report: Report) -> None:
    names = [table.name for table in _tables(report.page.sections)]
    names += [section.name for section in report.page.sections]
    assert len(set(names)) == len(names), f"two parts of the page have the same name: {sorted(names)}"


def _writes_a_page_that_loads_nothing(report: Report) -> None:
    path = report.write()
    page = path.read_text(encoding="utf-8")
    assert report.html() == page, "the page is another one the second time"
    assert len(page.encode()) < PAGE_BYTES, "the page is larger than 1.5 MB"
    assert not re.search(r'(?:src|href)="(?!data:|#)', page), "the page loads something"
    results, times = report.results.apart_from_times()
    assert Results.from_parquet(path.with_name("results.parquet")) == results
    assert not times or Results.from_parquet(path.with_name("times.parquet")) == times


REPORT_CHECKS = (
    _has_every_form,
    _loses_nothing,
    _every_renderer_says_the_same,
    _shows_every_number_once,
    _names_places_once,
    _writes_a_page_that_loads_nothing,
)


def _tables(sections):
    for section in sections:
        yield from section.tables
        yield from _tables(section.folded)
