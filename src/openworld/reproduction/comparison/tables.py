"""A paper's table with ours for the terminal, and as CSV, Markdown and LaTeX."""

from collections.abc import Iterator, Sequence

from openworld import _terminal as terminal
from openworld._terminal import Head, TerminalTable
from openworld.report.data_files import csv_text
from openworld.report.text_tables import as_tex, markdown_table, plain
from openworld.reproduction.comparison.cells import Column, Pair
from openworld.reproduction.comparison.compare import Beside
from openworld.reproduction.comparison.wording import (
    bracketed,
    caption,
    difference,
    number,
    row_title,
    rows_title,
    title,
)

WIDTH = 100
LATEX_COLUMNS = 4
HEADER = (
    *("paper", "table", "task", "dataset", "setting", "method", "metric", "ours", "low", "high", "over", "n"),
    *("seeds_low", "seeds_high", "seeds", "published", "published_std", "difference", "p", "verdict"),
    *("datasets", "backbone"),
)


def terminal_beside(shown: Beside):
    """A rich renderable at most 100 columns wide: the table in blocks of columns, then what comes of it in words."""
    from rich.console import Group
    from rich.constrain import Constrain
    from rich.text import Text

    texts = {column: _column_texts(shown, column) for column in shown.columns}
    heads = (terminal.name(rows_title(shown)), *(Head(title(shown, column), "name") for column in shown.columns))
    rows = [(row_title(row), *(texts[column][row] for column in shown.columns)) for row in shown.rows]
    told = [caption(shown), *shown.sentences, *(f"Note: {note}" for note in shown.notes)]
    table = TerminalTable(heads, rows, title=shown.table.heading)
    return Group(Constrain(table, WIDTH), *(Text(line, "dim") for line in told))


def _column_texts(shown: Beside, column: Column) -> dict[str, str]:
    """The cells of a column, their parts one under the other."""
    parts = {row: _parts(shown.pairs.get((row, column)), column) for row in shown.rows}
    widths = [max(map(len, place)) for place in zip(*parts.values(), strict=True)]
    used = [place for place, width in enumerate(widths) if width]
    return {row: " ".join(told[place].rjust(widths[place]) for place in used) for row, told in parts.items()}


def _parts(pair: Pair | None, column: Column) -> tuple[str, str, str, str]:
    """Ours, its interval, printed, difference; empty where there is none."""
    if pair is None:
        return ("", "", "", "")
    ours, metric = pair.ours, column.metric
    own = (
        ("", "")
        if ours is None
        else (number(ours.value, metric, screen=True), bracketed(ours.interval, metric, screen=True))
    )
    printed = "" if pair.published is None else number(pair.published, metric, screen=True)
    return (*own, printed, difference(pair.difference, metric, screen=True))


def beside_csv(shown: Beside) -> str:
    """Every cell as one line: numbers in the paper's unit, not rounded, both intervals, and the test."""
    return csv_text(HEADER, csv_rows(shown))


def csv_rows(shown: Beside) -> list[list]:
    """The lines of `beside_csv` without its header."""
    keys = [(row, column) for row in shown.rows for column in shown.columns]
    return [_line(shown, row, column) for row, column in keys if (row, column) in shown.pairs]


def _line(shown: Beside, row: str, column: Column) -> list:
    pair = shown.pairs[row, column]
    ours, own = pair.ours, {shown.table.rows: row}
    facts = {axis: own.get(axis) or getattr(ours or column, axis) for axis in ("task", "dataset", "setting", "method")}
    first = ours.intervals[0] if ours and ours.intervals else None
    seeds = next((one for one in ours.intervals if one.over == "seeds"), None) if ours else None
    return [
        *(shown.table.paper, shown.table.number, *facts.values(), column.metric),
        ours.value if ours else None,
        *((first.low, first.high, first.over, first.n) if first else (None,) * 4),
        *((seeds.low, seeds.high) if seeds else (None, None)),
        len(ours.per_seed) if ours else None,
        *(pair.published, pair.std, pair.difference, pair.p, pair.words),
        *(("; ".join(ours.datasets), ours.backbone) if ours else ("", "")),
    ]


def beside_markdown(shown: Beside) -> str:
    """One table: ours with its interval, then the printed number and the difference in parentheses."""
    heads = [plain(rows_title(shown)), *(plain(title(shown, column)) for column in shown.columns)]
    rows = [
        [plain(row_title(row)), *(plain(_in_words(shown.pairs.get((row, column)), column)) for column in shown.columns)]
        for row in shown.rows
    ]
    told = [caption(shown), *shown.sentences, *(f"Note: {note}" for note in shown.notes)]
    return "\n".join([markdown_table(shown.table.heading, heads, rows), *map(plain, told)]) + "\n"


def _in_words(pair: Pair | None, column: Column) -> str:
    if pair is None:
        return ""
    ours, metric = pair.ours, column.metric
    printed = "" if pair.published is None else number(pair.published, metric)
    if ours is None:
        return printed if column.printed_only else f"({printed})"
    own = f"{number(ours.value, metric)} {bracketed(ours.interval, metric)}".strip()
    beside = ", ".join(filter(None, (printed, difference(pair.difference, metric))))
    return f"{own} ({beside})" if beside else own


def beside_latex(shown: Beside) -> str:
    """booktabs tables of at most four columns each: ours, printed and difference under every head."""
    blocks = [shown.columns[place : place + LATEX_COLUMNS] for place in range(0, len(shown.columns), LATEX_COLUMNS)]
    told = [f"% {as_tex(line)}" for line in (shown.table.heading, caption(shown), *shown.sentences)]
    return "\n".join([*told, *(_latex_block(shown, block) for block in blocks)]) + "\n"


def _latex_block(shown: Beside, block: Sequence[Column]) -> str:
    heads = " & ".join(rf"\multicolumn{{3}}{{c}}{{{as_tex(title(shown, column))}}}" for column in block)
    kinds = " & ".join("ours & printed & diff." for _ in block)
    lines = [rf"\begin{{tabular}}{{l{'rrr' * len(block)}}}", r"\toprule", rf" & {heads} \\"]
    lines += [rf"{as_tex(rows_title(shown))} & {kinds} \\", r"\midrule"]
    for row in shown.rows:
        cells = [cell for column in block for cell in _latex_cells(shown.pairs.get((row, column)), column)]
        lines.append(" & ".join([as_tex(row_title(row)), *cells]) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def _latex_cells(pair: Pair | None, column: Column) -> Iterator[str]:
    ours = pair.ours if pair else None
    texts = (
        number(ours.value, column.metric) if ours else "",
        "" if pair is None or pair.published is None else number(pair.published, column.metric),
        difference(pair.difference, column.metric) if pair else "",
    )
    yield from map(as_tex, texts)
