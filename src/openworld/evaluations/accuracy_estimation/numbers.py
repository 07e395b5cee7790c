"""Mean absolute error of every method in every line of the table, as FRAP's Table 1, with its bias, spread and chance.

An error is |estimated - true| of one model on one condition; a line pools all its conditions with all models,
checkpoints and seeds. The last line is the unweighted mean of the lines.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from openworld.evaluations.accuracy_estimation.chance import Chance, mean_of_rows
from openworld.evaluations.accuracy_estimation.run import EstimateRun
from openworld.report.comparison import Comparison

AVERAGE = "Average"


@dataclass(frozen=True)
class Errors:
    """Of one method in one line (or on average); fractions in [0, 1], None where there is no estimate.

    Args:
        mean: mean absolute error (MAE). bias: mean of estimated minus true accuracy, above 0 = too hopeful.
        spread: standard deviation of the absolute errors, the +- of FRAP's tables: how unequal they are, not how sure
            their mean is. None of the average, and of a single error.
        median, worst: of the absolute errors.
        count: estimates that were given, out of `asked`.
        interval: 95 % of `mean`, of `Chance`.
    """

    mean: float | None
    bias: float | None
    spread: float | None
    median: float | None
    worst: float | None
    count: int
    asked: int
    interval: tuple[float, float] | None

    @property
    def whole(self) -> bool:
        """Whether an estimate was given every time; only then can a method be the best."""
        return self.count == self.asked > 0


@dataclass(frozen=True, eq=False)
class ErrorTable:
    """All methods in all lines; `rows` are the lines, `AVERAGE` stands for their mean."""

    run: EstimateRun

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the methods, in the order of the run."""
        return self.run.labels

    @property
    def rows(self) -> tuple[str, ...]:
        """Lines of the table without the average."""
        return self.run.rows

    @property
    def lines(self) -> tuple[str, ...]:
        """All lines; the average where there are several."""
        return (*self.rows, AVERAGE) if len(self.rows) > 1 else self.rows

    @cached_property
    def chance(self) -> Chance:
        """Draws of shifts and trainings."""
        return Chance(self.run)

    @cached_property
    def cells(self) -> dict[str, dict[str, Errors]]:
        """{line: {method: Errors}}."""
        found = {row: {label: self._pooled(row, label) for label in self.labels} for row in self.rows}
        return found | {AVERAGE: {label: self._averaged(label, found) for label in self.labels}}

    @cached_property
    def best(self) -> dict[str, frozenset[str]]:
        """{line: methods of the smallest error}, among those that always gave an estimate."""
        return {line: _smallest(self.cells[line]) for line in (*self.rows, AVERAGE)}

    @property
    def leader(self) -> str | None:
        """The method of the smallest error on average, of several the first; None where none is whole."""
        return next((label for label in self.labels if label in self.best[AVERAGE]), None)

    def firsts(self, label: str) -> int:
        """In how many lines a method has the smallest error."""
        return sum(label in self.best[row] for row in self.rows)

    @cached_property
    def tests(self) -> dict[str, dict[str, Comparison]]:
        """{line: {method: test against the yardstick}}, corrected together within each line."""
        found = {row: self.chance.against(self.run.yardstick, row) for row in self.rows}
        return found | {AVERAGE: self.chance.against(self.run.yardstick)}

    @cached_property
    def against_leader(self) -> dict[str, Comparison]:
        """{method: test against the leader} on average, corrected together."""
        return {} if self.leader is None else self.chance.against(self.leader)

    def _pooled(self, row: str, label: str) -> Errors:
        run, place = self.run, self.labels.index(label)
        asked = np.isfinite(run.accuracy) & run.of_row(row)
        off = np.where(asked, run.off[place], np.nan)
        given = off[np.isfinite(off)]
        interval = self.chance.interval(np.abs(off), row)
        return _errors(given, int(asked.sum()), interval)

    def _averaged(self, label: str, found: dict[str, dict[str, Errors]]) -> Errors:
        cells, off = [found[row][label] for row in self.rows], self.run.off[self.labels.index(label)]
        given = off[np.isfinite(off)]
        sizes = sum(one.count for one in cells), sum(one.asked for one in cells)
        mean, bias = mean_of_rows(self.run, np.abs(off)), mean_of_rows(self.run, off)
        median, worst = (float(of(np.abs(given))) if given.size else None for of in (np.median, np.max))
        interval = None if mean is None else self.chance.interval(np.abs(off))
        return Errors(mean, bias, None, median, worst, *sizes, interval)


def _errors(off: np.ndarray, asked: int, interval: tuple[float, float] | None) -> Errors:
    """From the errors, with their signs, of the estimates that were given."""
    if not off.size:
        return Errors(None, None, None, None, None, 0, asked, None)
    size = np.abs(off)
    spread = float(size.std(ddof=1)) if size.size > 1 else None
    told = (float(size.mean()), float(off.mean()), spread, float(np.median(size)), float(size.max()))
    return Errors(*told, off.size, asked, interval)


def _smallest(cells: dict[str, Errors]) -> frozenset[str]:
    """Errors that differ in their last bits only are the same."""
    means = {label: round(one.mean, 12) for label, one in cells.items() if one.whole and one.mean is not None}
    return frozenset(label for label, mean in means.items() if mean == min(means.values()))
