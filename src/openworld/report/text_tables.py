"""Tables of the page (`Grid`) as Markdown and LaTeX."""

from collections.abc import Iterable, Sequence

from openworld.report.grid import Grid, Line
from openworld.report.render.latex import as_tex as as_tex
from openworld.report.render.latex import booktabs
from openworld.report.render.markdown import piped, plain


def markdown_table(
    title: str, titles: Sequence[str], rows: Iterable[Iterable[str]], caption: str = "", *, left: int = 1
) -> str:
    """A table under its title, `left` columns to the left; nothing is escaped here but title and caption."""
    lines = [f"**{plain(title)}**", "", piped(titles), piped(["---"] * left + ["---:"] * (len(titles) - left))]
    return "\n".join([*lines, *map(piped, rows), *(["", plain(caption)] if caption else [])]) + "\n"


def grid_markdown(grid: Grid) -> str:
    """A table of the page."""
    rows = ([f"**{plain(text)}**" if bold else plain(text) for text, bold in _texts(row)] for row in grid.rows)
    titles = [plain(column.title) for column in grid.columns]
    return markdown_table(grid.label, titles, rows, grid.caption, left=_leading(grid))


def grid_latex(grid: Grid) -> str:
    """A table of the page."""
    bold = r"\textbf{{{}}}".format
    rows = [[bold(as_tex(text)) if leads else as_tex(text) for text, leads in _texts(row)] for row in grid.rows]
    titles = [as_tex(column.title) for column in grid.columns]
    return tabular([grid.label, grid.caption], titles, rows, left=_leading(grid))


def tabular(
    comments: Iterable[str], titles: Sequence[str], rows: Iterable[Sequence[str]], *, left: int = 1, rule: bool = False
) -> str:
    """A LaTeX table under comments, `left` columns to the left; with a `rule` the last row stands apart.

    Titles and cells are LaTeX already; comments are escaped here.
    """
    rows, columns = list(rows), "l" * left + "r" * (len(titles) - left)
    text = booktabs(columns, titles, rows, [len(rows) - 1] if rule else [])
    return "".join(f"% {as_tex(comment)}\n" for comment in comments) + text


def _texts(row: Line) -> list[tuple[str, bool]]:
    """What stands in every cell, and whether it is in bold."""
    return [(f"{cell.text} {cell.faint}".strip(), "leads" in cell.css) for cell in row.cells]


def _leading(grid: Grid) -> int:
    """How many columns at the left hold words."""
    words = [column.words for column in grid.columns]
    return words.index(False) if False in words else len(words)
