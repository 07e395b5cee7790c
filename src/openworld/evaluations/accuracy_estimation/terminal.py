"""The table of errors for a terminal of any width: methods by lines; where not all lines fit, their average alone."""

from collections.abc import Iterator, Sequence

from openworld import _terminal as terminal
from openworld._terminal import FirstThatFits, Head, TerminalTable, styled
from openworld.evaluations.accuracy_estimation.numbers import AVERAGE, ErrorTable
from openworld.evaluations.accuracy_estimation.run import EstimateRun
from openworld.evaluations.accuracy_estimation.wording import caption, starred
from openworld.report.text import bracketed, signed


def terminal_estimates(run: EstimateRun | ErrorTable) -> FirstThatFits:
    """The main table as rich prints it: points with one decimal, 95 % in brackets, the test against AC in words."""
    table = run if isinstance(run, ErrorTable) else ErrorTable(run)
    several = table.rows if len(table.rows) > 1 else ()
    return FirstThatFits([_drawn(table, several), *([_drawn(table, ())] if several else [])])


def _drawn(table: ErrorTable, rows: Sequence[str]) -> TerminalTable:
    """The table with these lines beside the average."""
    several = len(table.rows) > 1
    lacking = " For want of room without the lines; all are in the report." if several and not rows else ""
    titles = [*rows, AVERAGE.lower() if several else table.rows[0], "bias", *(["best in"] if several else [])]
    against = f"against {table.run.yardstick}" if len(table.labels) > 1 else ""
    heads = (terminal.name("method"), *map(Head, titles), terminal.words(against))
    return TerminalTable(heads, [tuple(_cells(table, label, rows)) for label in table.labels], caption(table) + lacking)


def _cells(table: ErrorTable, label: str, rows: Sequence[str]) -> Iterator:
    errors, test = table.cells[AVERAGE][label], table.tests[AVERAGE].get(label)
    lead = "bold" if label == table.leader and len(table.labels) > 1 else ""
    yield from styled([label], lead)
    for row in rows:
        best = label in table.best[row] and len(table.labels) > 1
        yield from styled([starred(table.cells[row][label])], "bold" if best else "")
    told = [f"{starred(errors)} {bracketed(errors.interval)}".strip()]
    told.append("–" if errors.bias is None else signed(errors.bias))
    told += [f"{table.firsts(label) or '–'}"] if len(table.rows) > 1 else []
    yield from styled(told, lead)
    yield from styled(["" if test is None else test.short_words], lead or "dim")
