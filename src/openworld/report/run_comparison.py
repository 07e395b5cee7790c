"""Two runs of one evaluation in a table: both numbers, the difference, and whether it is more than chance."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from openworld.report.data_files import json_text
from openworld.report.render import terminal_table
from openworld.report.table import Cell, Column, Row, Table
from openworld.results import TEXT, Metric, Pair
from openworld.results.value import SHARES

Change = tuple[str, str, str]


@dataclass(frozen=True)
class RunComparison:
    """What two runs have in common, and what differs.

    Args:
        names: what the runs are called.
        metric: which number is compared.
        pairs: of the numbers that both have; never none.
        changes: (setting, in the first, in the second) that were asked for differently.
        basis: what the numbers rest on, for the caption.
        unpaired: sentences on what either run has alone.
    """

    names: tuple[str, str]
    metric: Metric
    pairs: Sequence[Pair]
    changes: Sequence[Change] = ()
    basis: str = ""
    unpaired: tuple[str, ...] = ()

    @property
    def table(self) -> Table:
        """A row per pair."""
        columns = (Column(self.metric, "first"), Column(self.metric, "second"), Column(TEXT, "second − first"))
        rows = tuple(Row(_title(pair), _cells(pair)) for pair in self.pairs)
        tested = sum(pair.comparison.p is not None for pair in self.pairs)
        over = dict.fromkeys(pair.comparison.interval.over for pair in self.pairs if pair.comparison.interval)
        test = f"paired, [95 % over {' or '.join(over)}]" if over else "paired"
        test = f" Difference: {test}; p after Holm over {tested} test{'s' * (tested != 1)}."
        unit = f", {self.metric.unit}" * (self.metric.unit in SHARES)
        basis = f"; {self.basis}" if self.basis else ""
        caption = f"First: {self.names[0]}. Second: {self.names[1]}. {self.metric.title}{unit}{basis}.{test}"
        return Table("comparison", f"{self.metric.title} of two runs", caption, "", columns, rows, best="")

    def show(self, out) -> None:
        """Print it on a rich console."""
        for setting, before, after in self.changes:
            out.print(f"{setting.replace('_', ' ')}: {before} → {after}", markup=False)
        out.print(terminal_table(self.table))
        for sentence in self.unpaired:
            out.print(f"Not compared: {sentence}.", style="dim", markup=False)

    def to_json(self) -> str:
        """The pairs in fractions, with their tests."""
        pairs = [
            {
                "entity": pair.first.entity,
                "where": dict(pair.first.where),
                "first": pair.first.value.value,
                "second": pair.second.value.value,
                **{name: asdict(pair.comparison)[name] for name in ("difference", "interval", "p", "reason")},
                "verdict": pair.comparison.verdict,
            }
            for pair in self.pairs
        ]
        content = {"of": self.metric.key, "changes": self.changes, "pairs": pairs, "unpaired": self.unpaired}
        return json_text(content)


def _title(pair: Pair) -> str:
    return ", ".join(filter(None, (pair.first.entity, *map(str, pair.first.where.values()))))


def _cells(pair: Pair) -> tuple:
    test = pair.comparison
    interval = test.metric.write_interval(test.interval)
    reason = test.reason if test.p is None else ""
    return pair.first.value, pair.second.value, Cell(test, under=interval or reason)
