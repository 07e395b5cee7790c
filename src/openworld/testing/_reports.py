"""What every report of a run promises, and every table: nothing is lost, and all forms say the same numbers."""

import csv
import io
import re
from collections import Counter
from html.parser import HTMLParser

from openworld.core.csv_files import is_number
from openworld.report.charts.cells import CellChart
from openworld.report.page import figures_of
from openworld.report.render import as_tex, csv_table, latex_table, markdown_table, plain, terminal_table, texts
from openworld.report.report import FORMS, Report
from openworld.report.table import Table
from openworld.results import Comparison, Results, Value

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


def check_table(table: Table) -> None:
    """Raise AssertionError unless all renderers of a table say the same of every row.

    Args:
        table: any, with at least one row.
    """
    assert table.rows, f"table {table.name} has no row"
    for check in TABLE_CHECKS:
        check(table)


def _same_on_a_terminal(table: Table) -> None:
    from rich.console import Console

    screen = io.StringIO()
    Console(width=100_000, file=screen, color_system=None).print(terminal_table(table))
    lines = [" ".join(line.split()) for line in screen.getvalue().splitlines()]
    for row, cells in texts(table):
        words = [" ".join(part.split()) for part in (f"{row.label} {row.remark}", *(cell.line for cell in cells))]
        assert any(_in_order(words, line) for line in lines), f"{row.label}: {words} is in no line of the terminal"


def _same_in_markdown(table: Table) -> None:
    lines = markdown_table(table).splitlines()
    for row, cells in texts(table, 1):
        words = [plain(f"{row.label} {row.remark}".strip()), *(plain(cell.text) for cell in cells)]
        assert any(_in_order(words, line) for line in lines), f"{row.label}: {words} is in no line of Markdown"


def _same_in_latex(table: Table) -> None:
    text = latex_table(table)
    assert text.isascii(), "LaTeX is not ASCII"
    for row, cells in texts(table, 1):
        label = as_tex(f"{row.label} {row.remark}".strip())
        lines = " ".join(line for line in text.splitlines() if line.startswith(f"{label} &") or line == rf"{label} \\")
        words = [as_tex(cell.text) for cell in cells]
        assert all(word in lines for word in words), f"{row.label}: {words} is not in LaTeX"


def _same_on_the_page(table: Table) -> None:
    from openworld.report.render.html import html_table

    page = _Page()
    page.feed(str(html_table(table)))
    for place, (row, cells) in enumerate(texts(table)):
        label, *contents = page.rows[place]
        assert label[0].strip() == f"{row.label} {row.remark}".strip(), f"row {row.label!r} is {label[0]!r} on the page"
        for at, (cell, (text, attributes)) in enumerate(zip(cells, contents, strict=True)):
            assert text == f"{cell.text} {cell.faint}".rstrip(" ") or not cell.faint and text == cell.text, (cell, text)
            assert ("leads" in (attributes.get("class") or "").split()) == cell.bold, (cell, attributes)
            if cell.sort is not None:
                value, expected = float(attributes["data-value"]), float(f"{cell.sort:.6g}")
                assert value == expected, f"column {table.columns[at].heading} sorts by {value}, not {expected}"


def _same_in_csv(table: Table) -> None:
    rows = list(csv.reader(io.StringIO(csv_table(table))))
    assert len(rows) == len(table.rows) + 1, f"{len(rows)} lines of CSV for {len(table.rows)} rows"
    assert {len(row) for row in rows} == {len(rows[0])}, "lines of CSV differ in length"
    for place, fields in enumerate(rows[1:]):
        numbers = {float(field) for field in fields[1:] if is_number(field)}
        for at, column in enumerate(table.columns):
            content = table.cell(place, at).content
            value = content.value if isinstance(content, Value) else getattr(content, "difference", None)
            if isinstance(content, Value | Comparison) and value is not None and column.show != "interval":
                assert value in numbers, f"{value} of {column.heading} is not in {fields}"


TABLE_CHECKS = (_same_on_a_terminal, _same_in_markdown, _same_in_latex, _same_on_the_page, _same_in_csv)


def _in_order(words: list[str], line: str) -> bool:
    start = 0
    for word in words:
        place = line.find(word.strip(), start)
        if place < 0:
            return False
        start = place + len(word.strip())
    return True


class _Page(HTMLParser):
    """The rows of the body of a table: (text, attributes) of every cell."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[tuple[str, dict]]] = []
        self._in_body = False

    def handle_starttag(self, tag: str, attrs) -> None:
        if tag == "tbody":
            self._in_body = True
        elif tag == "tr" and self._in_body:
            self.rows.append([])
        elif tag in ("td", "th") and self._in_body:
            self.rows[-1].append(("", dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self._in_body and self.rows and self.rows[-1]:
            text, attributes = self.rows[-1][-1]
            self.rows[-1][-1] = (text + data, attributes)

    def handle_endtag(self, tag: str) -> None:
        if tag == "tbody":
            self._in_body = False
