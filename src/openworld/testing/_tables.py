"""What every table promises: the terminal, the page, Markdown, LaTeX and CSV say the same numbers."""

import csv
import io
from html.parser import HTMLParser

from openworld._csv import is_number
from openworld.report.render import as_tex, csv_table, latex_table, markdown_table, plain, terminal_table, texts
from openworld.report.table import Table
from openworld.results import Comparison, Value


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

    console = Console(width=100_000, file=io.StringIO(), color_system=None)
    console.print(terminal_table(table))
    lines = [" ".join(line.split()) for line in console.file.getvalue().splitlines()]
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
        known = {float(field) for field in fields[1:] if is_number(field)}
        for at, column in enumerate(table.columns):
            content = table.cell(place, at).content
            value = content.value if isinstance(content, Value) else getattr(content, "difference", None)
            if isinstance(content, Value | Comparison) and value is not None and column.show != "interval":
                assert value in known, f"{value} of {column.heading} is not in {fields}"


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

    def handle_starttag(self, tag: str, attributes) -> None:
        if tag == "tbody":
            self._in_body = True
        elif tag == "tr" and self._in_body:
            self.rows.append([])
        elif tag in ("td", "th") and self._in_body:
            self.rows[-1].append(("", dict(attributes)))

    def handle_data(self, data: str) -> None:
        if self._in_body and self.rows and self.rows[-1]:
            text, attributes = self.rows[-1][-1]
            self.rows[-1][-1] = (text + data, attributes)

    def handle_endtag(self, tag: str) -> None:
        if tag == "tbody":
            self._in_body = False
