"""Tables for the terminal, the page, Markdown, LaTeX and CSV: all say the same."""

from openworld.report.render.forms import csv_table, markdown_table, plain, plain_html_table, terminal_table
from openworld.report.render.latex import as_tex, latex_table
from openworld.report.render.texts import Text, texts

__all__ = [
    "Text",
    "as_tex",
    "csv_table",
    "latex_table",
    "markdown_table",
    "plain",
    "plain_html_table",
    "terminal_table",
    "texts",
]
