"""Tables for a notebook: HTML without the classes and buttons that only the page knows."""

from markupsafe import Markup, escape

from openworld import _html
from openworld.report.render.texts import Text, texts
from openworld.report.table import Table


def plain_html_table(table: Table) -> Markup:
    """A table that any page can show; every text is escaped, the best is in bold."""
    heads = (table.label, *(column.heading for column in table.columns))
    rows = ((f"{row.label} {row.remark}".strip(), *map(_cell, cells)) for row, cells in texts(table))
    return Markup(_html.table(heads, rows, table.caption))


def _cell(cell: Text) -> Markup:
    line = escape(cell.line)
    return Markup(f"<b>{line}</b>") if cell.bold else line
