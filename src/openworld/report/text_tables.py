"""Tables as Markdown and LaTeX, whatever they hold: percent and points, as the page shows them."""

from collections.abc import Iterable, Sequence

from openworld.report.exports import piped, plain, tex
from openworld.report.grids import Grid, Line

SIGNS = {
    "Δ": r"$\Delta$",
    "τ": r"$\tau$",
    "→": r"$\rightarrow$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "−": "--",
    "–": "--",
    "\u00a0": "~",
}


def markdown_table(title: str, titles: Sequence[str], rows: Iterable[Iterable[str]], caption: str) -> str:
    """A table under its title, the first column to the left; nothing is escaped here but title and caption."""
    lines = [f"**{plain(title)}**", "", piped(titles), piped(["---", *["---:"] * (len(titles) - 1)])]
    return "\n".join([*lines, *map(piped, rows), "", plain(caption)]) + "\n"


def grid_markdown(grid: Grid) -> str:
    """A table of the page."""
    rows = ([f"**{plain(text)}**" if bold else plain(text) for text, bold in _told(row)] for row in grid.rows)
    return markdown_table(grid.label, [plain(column.title) for column in grid.columns], rows, grid.caption)


def grid_latex(grid: Grid) -> str:
    """A table of the page."""
    rows = [[rf"\textbf{{{as_tex(text)}}}" if bold else as_tex(text) for text, bold in _told(row)] for row in grid.rows]
    return tabular([grid.label, grid.caption], [as_tex(column.title) for column in grid.columns], rows)


def tabular(told: Iterable[str], titles: Sequence[str], rows: Iterable[Sequence[str]], *, rule: bool = False) -> str:
    """A LaTeX table under comments, the first column to the left; with a `rule` the last row stands apart."""
    body = [" & ".join(row) + r" \\" for row in rows]
    if rule:
        body.insert(len(body) - 1, r"\midrule")
    lines = [*(f"% {as_tex(text)}" for text in told), rf"\begin{{tabular}}{{l{'r' * (len(titles) - 1)}}}", r"\toprule"]
    return "\n".join([*lines, " & ".join(titles) + r" \\", r"\midrule", *body, r"\bottomrule", r"\end{tabular}"]) + "\n"


def as_tex(text: str) -> str:
    """Text in which nothing is a command to LaTeX, and every sign is one that it knows.

    >>> print(as_tex("near → far, 5 %"))
    near $\\rightarrow$ far, 5 \\%
    """
    return "".join(SIGNS.get(sign, tex(sign)) for sign in text)


def _told(row: Line) -> list[tuple[str, bool]]:
    return [(f"{cell.text} {cell.faint}".strip(), "leads" in cell.css) for cell in row.cells]
