"""Two runs of one evaluation in a table: both numbers, the difference, and whether it is more than chance."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property

from openworld import _html
from openworld._terminal import as_text
from openworld.report.data_files import json_text
from openworld.report.render import plain_html_table, terminal_table
from openworld.report.report_base import ReportBase
from openworld.report.sentences import counted
from openworld.report.table import Cell, Column, Row, Table
from openworld.results import TEXT, Metric, Pair, Results
from openworld.results.value import SHARES

Change = tuple[str, str, str]
SIGNED = {"percent": "points", "fraction": "difference"}
"""A unit -> that of a difference."""


@dataclass(frozen=True, repr=False)
class RunComparison(ReportBase):
    """What two runs have in common, and what differs.

    Args:
        names: what the runs are called.
        metric: which number is compared.
        pairs: of the numbers that both have, of this metric first; never none.
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

    @cached_property
    def results(self) -> Results:
        """The numbers of both runs, told apart by `where["run"]`, "first" or "second", and their tests."""
        rows = (
            replace(result, where={**result.where, "run": run})
            for pair in self.pairs
            for run, result in (("first", pair.first), ("second", pair.second))
        )
        return Results("compare", tuple(rows), tuple(pair.comparison for pair in self.pairs))

    @property
    def verdict(self) -> tuple[str, ...]:
        """Whether the second run is better, for each pair of numbers that was compared."""
        pairs = [pair for pair in self.pairs if _has_number(pair)]
        return tuple(f"{_title(pair)}: {pair.first.metric.title} {pair.comparison.verdict}." for pair in pairs)

    def _all_tables(self) -> tuple[Table, ...]:
        """A table per metric, a row per pair of which at least one run has a number."""
        return tuple(map(self._table, dict.fromkeys(pair.first.metric for pair in self.pairs if _has_number(pair))))

    @property
    def undefined(self) -> tuple[str, ...]:
        """Sentences on the metrics that neither run has a number of, with the reason."""
        lacking: dict[tuple[str, str], int] = {}
        for pair in self.pairs:
            if not _has_number(pair):
                key = pair.first.metric.title, pair.comparison.reason
                lacking[key] = lacking.get(key, 0) + 1
        return tuple(
            f"{title} of {counted(count, 'pair')}, which neither run has{f' ({reason})' if reason else ''}"
            for (title, reason), count in lacking.items()
        )

    def _table(self, metric: Metric) -> Table:
        pairs = [pair for pair in self.pairs if pair.first.metric == metric and _has_number(pair)]
        columns = (Column(metric, "first"), Column(metric, "second"), Column(TEXT, "second − first"))
        rows = tuple(Row(_title(pair), _cells(pair)) for pair in pairs)
        tested = sum(pair.comparison.p is not None for pair in pairs)
        over = dict.fromkeys(pair.comparison.interval.over for pair in pairs if pair.comparison.interval)
        test = f"paired, [95 % over {' or '.join(over)}]" if over else "paired"
        test = f" Difference: {test}" + (f"; p after Holm over {counted(tested, 'test')}." if tested else ".")
        unit = f", {metric.unit}" * (metric.unit in SHARES)
        basis = f"; {self.basis}" if self.basis else ""
        caption = f"First: {self.names[0]}. Second: {self.names[1]}. {metric.title}{unit}{basis}.{test}"
        name = "comparison" if metric == self.metric else f"comparison-{metric.key}"
        return Table(name, f"{metric.title} of two runs", caption, "", columns, rows, best="")

    def show(self, out) -> None:
        """Print it on a rich console."""
        for setting, before, after in self.changes:
            out.print(f"{setting.replace('_', ' ')}: {before} → {after}", markup=False)
        for table in self._all_tables():
            out.print(terminal_table(table))
        for sentence in (*self.undefined, *self.unpaired):
            out.print(f"Not compared: {sentence}.", style="dim", markup=False)

    def __repr__(self) -> str:
        return as_text(self.show)

    def _repr_html_(self) -> str:
        return _html.block(("", *self.undefined, *self.unpaired), *map(plain_html_table, self._all_tables()))

    def to_json(self) -> str:
        """The pairs in fractions, with their intervals, seeds and tests."""
        pairs = [
            {
                "entity": pair.first.entity,
                "metric": pair.first.metric.key,
                "where": dict(pair.first.where),
                "first": pair.first.value.value,
                "second": pair.second.value.value,
                "first_intervals": list(map(asdict, pair.first.value.intervals)),
                "second_intervals": list(map(asdict, pair.second.value.intervals)),
                "seeds": [seed for seed in pair.first.seeds if seed in pair.second.seeds],
                **{name: getattr(pair.comparison, name) for name in ("difference", "p", "equivalence_p", "reason")},
                "interval": pair.comparison.interval and asdict(pair.comparison.interval),
                "verdict": pair.comparison.verdict,
            }
            for pair in self.pairs
        ]
        about = {"of": self.metric.key, "changes": self.changes, "basis": self.basis}
        return json_text(about | {"pairs": pairs, "unpaired": self.unpaired})


def _has_number(pair: Pair) -> bool:
    """Whether at least one of the two runs has the number."""
    return pair.first.value.value is not None or pair.second.value.value is not None


def _title(pair: Pair) -> str:
    """Name what the numbers are of, with both places where they differ."""
    both = ((place, pair.second.where.get(name, place)) for name, place in pair.first.where.items())
    places = (f"{first}" if first == second else f"{first} → {second}" for first, second in both)
    return ", ".join(filter(None, (pair.first.entity, *places)))


def _cells(pair: Pair) -> tuple:
    test = pair.comparison
    signed = replace(test.metric, unit=SIGNED.get(test.metric.unit, test.metric.unit))
    interval = signed.write_interval(test.interval)
    reason = test.reason if test.p is None else ""
    return pair.first.value, pair.second.value, Cell(test, under=interval or reason)
