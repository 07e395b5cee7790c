"""The table of errors for a terminal of any width: methods by lines; where not all lines fit, their average alone."""

from collections.abc import Sequence
from dataclasses import dataclass

from openworld.report.estimates.numbers import AVERAGE, ErrorTable
from openworld.report.estimates.run import EstimateRun
from openworld.report.estimates.words import caption, starred
from openworld.report.figures.figure import signed
from openworld.report.tables import bracketed


def terminal_estimates(run: EstimateRun | ErrorTable) -> "Terminal":
    """The main table as rich prints it: points with one decimal, 95 % in brackets, the test against AC in words."""
    return Terminal(run if isinstance(run, ErrorTable) else ErrorTable(run))


@dataclass(frozen=True, eq=False)
class Terminal:
    """A table that asks the console how wide it is."""

    table: ErrorTable

    def __rich_console__(self, console, options):
        from rich.measure import Measurement

        several = self.table.rows if len(self.table.rows) > 1 else ()
        for rows in (several, ()):
            drawn = self.drawn(rows)
            if Measurement.get(console, options.update(max_width=1000), drawn).maximum <= options.max_width:
                break
        yield drawn

    def drawn(self, rows: Sequence[str]):
        """A `rich.table.Table` with these lines beside the average."""
        from rich.table import Table as RichTable
        from rich.text import Text

        table, several = self.table, len(self.table.rows) > 1
        lacking = " For want of room without the lines; all are in the report." if several and not rows else ""
        told = Text(caption(table) + lacking)
        drawn = RichTable(box=None, pad_edge=False, caption=told, caption_justify="left", header_style="bold")
        drawn.add_column("method", no_wrap=True)
        for title in (*rows, AVERAGE.lower() if several else table.rows[0], "bias"):
            drawn.add_column(title, justify="right", no_wrap=True)
        if several:
            drawn.add_column("best in", justify="right", no_wrap=True)
        drawn.add_column(f"against {table.run.yardstick}" if len(table.labels) > 1 else "", no_wrap=True)
        for label in table.labels:
            drawn.add_row(*self._cells(label, rows))
        return drawn

    def _cells(self, label: str, rows: Sequence[str]):
        from rich.text import Text

        table = self.table
        errors, several = table.cells[AVERAGE][label], len(table.rows) > 1
        lead = "bold" if label == table.leader and len(table.labels) > 1 else ""
        yield Text(label, lead)
        for row in rows:
            best = label in table.best[row] and len(table.labels) > 1
            yield Text(starred(table.cells[row][label]), "bold" if best else "")
        yield Text(f"{starred(errors)} {bracketed(errors.interval)}".strip(), lead)
        yield Text("–" if errors.bias is None else signed(errors.bias), lead)
        if several:
            yield Text(f"{table.firsts(label) or '–'}", lead)
        test = table.tests[AVERAGE].get(label)
        yield Text("" if test is None else test.short_words, lead or "dim")
