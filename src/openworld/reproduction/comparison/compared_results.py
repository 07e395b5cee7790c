"""Every number of a comparison as tidy rows, with what the paper printed in further columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from openworld.papers import METRICS
from openworld.reproduction.comparison.cells import CellPair, PaperColumn
from openworld.reproduction.comparison.compare import PaperComparison
from openworld.results import Result, Results, Value

AXES = ("task", "dataset", "setting")


@dataclass(frozen=True)
class ComparedResults(Results):
    """Ours, one row per cell of the papers' tables.

    Args:
        pairs: what each row was compared with, by its key.
    """

    pairs: Mapping[tuple, CellPair] = field(default_factory=dict)

    def records(self) -> list[dict[str, Any]]:
        """The rows of all results, each with the printed number, its deviation as printed, the difference, the test."""
        return [
            record | _printed(self.pairs[row.key]) for record, row in zip(super().records(), self.rows, strict=True)
        ]


def compared_results(comparisons: Sequence[PaperComparison]) -> ComparedResults:
    """Return the numbers of several tables."""
    cells = [
        (_result(comparison, row, column, pair), pair)
        for comparison in comparisons
        for row in comparison.rows
        for column in comparison.columns
        if (pair := comparison.pairs.get((row, column)))
    ]
    tests = tuple(pair.test for _, pair in cells if pair.test)
    rows = tuple(row for row, _ in cells)
    return ComparedResults("reproduction", rows, tests, {row.key: pair for row, pair in cells})


def _result(comparison: PaperComparison, row: str, column: PaperColumn, pair: CellPair) -> Result:
    """Return our number as a result, or the reason where the method was not run."""
    row_name = {comparison.table.rows: row}
    names = {axis: row_name.get(axis) or getattr(pair.ours or column, axis) for axis in (*AXES, "method")}
    where = {"paper": comparison.table.paper, "table": comparison.table.number} | {axis: names[axis] for axis in AXES}
    if pair.ours is None:
        value = Value(None, reason="not measured")
        return Result(names["method"], METRICS[column.metric], value, where | {"datasets": "", "backbone": ""})
    where |= {"datasets": "; ".join(pair.ours.datasets), "backbone": pair.ours.backbone}
    ours = pair.ours
    return Result(names["method"], METRICS[column.metric], ours.value, where, ours.seeds, ours.per_seed)


def _printed(pair: CellPair) -> dict[str, Any]:
    p = pair.test.p if pair.test else None
    numbers = {"printed": pair.printed, "printed_deviation": pair.deviation}
    return numbers | {"difference": pair.difference, "p": p, "verdict": pair.verdict}
