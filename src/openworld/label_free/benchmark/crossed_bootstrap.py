"""How far a mean would move with other shifts and other trainings: a bootstrap that draws both, and its tests.

Estimates of one model on many conditions, and of many models on one condition, err together. So shifts (a corruption
at all its severities, a domain) and trainings (all checkpoints of one model and seed) are drawn with replacement,
independently, and a cell counts as often as its shift times its training: the pigeonhole bootstrap for crossed data
(Owen, 2007, "The pigeonhole bootstrap", section 3), which errs on the careful side. Where there is a single shift or
a single training, that side is held fixed and the interval speaks of the other alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb

import numpy as np

from openworld.label_free.benchmark.arrays import AVERAGE, RunArrays, finite
from openworld.label_free.benchmark.cards import ERROR
from openworld.metrics.estimate import ROUNDING, student_p
from openworld.results import Comparison, Interval, Metric, Result, Value, correct_for_many, student

REPLICATES, SEED = 2000, 20
OVER = "pairs of a shift and a training"
NOTHING_TO_DRAW = "one shift and one training: nothing to draw anew"
NO_ESTIMATE = "one of the two gave no estimate"
NO_VARIANCE = "the difference is the same in every draw, and a zero variance is no evidence"


@dataclass(frozen=True, eq=False)
class CrossedBootstrap:
    """Draws of shifts and trainings of a run; means are over the conditions of a line, or over the means of lines."""

    arrays: RunArrays

    @cached_property
    def trainings(self) -> int:
        return len({model.training for model in self.arrays.models})

    def shifts(self, line: str) -> int:
        """Return how many shifts are drawn from, in a line or in all lines together."""
        return sum(row in self._rows(line) for row, _ in self.arrays.shifts)

    def degrees_of_freedom(self, line: str) -> int:
        """Return those of a test: of whatever there is less of, shifts or trainings; 0 where there is none."""
        sides = (self.shifts(line) - len(self._rows(line)), self.trainings - 1)
        return min((side for side in sides if side > 0), default=0)

    def mean(self, values: np.ndarray, line: str) -> float | None:
        """Return the mean of `values`, float[M, C], over a line, of the average that of the lines; None without one."""
        rows = [finite(values[:, self.arrays.chosen(row=row)]) for row in self._rows(line)]
        return float(np.mean([row.mean() for row in rows])) if all(row.size for row in rows) else None

    def intervals(self, values: np.ndarray, line: str) -> tuple[Interval, ...]:
        """Return the 95 % percentile interval of the mean of `values`, float[M, C]; () where nothing can be drawn."""
        if not self.degrees_of_freedom(line):
            return ()
        means = self.replicates(values, line)
        if means.size < REPLICATES // 2 or np.ptp(means) <= ROUNDING:
            return ()
        low, high = np.quantile(means, [0.025, 0.975])
        return (Interval(float(low), float(high), OVER, self.shifts(line) * self.trainings),)

    def result(self, entity: str, metric: Metric, values: np.ndarray, line: str, reason: str, **where: str) -> Result:
        """Return the mean of `values`, float[M, C], over a line, with intervals, deviation and every seed's number."""
        arrays, place = self.arrays, self.arrays.place(line) | where
        mean = self.mean(values, line)
        if mean is None:
            return Result(entity, metric, Value(None, reason=reason), place)
        models = np.array([model.seed for model in arrays.models])
        per_seed = tuple(self.mean(np.where((models == seed)[:, None], values, np.nan), line) for seed in arrays.seeds)
        intervals = (*self.intervals(values, line), *student(per_seed, metric))
        numbers = finite(values[:, arrays.of_line(line)])
        deviation = float(numbers.std(ddof=1)) if line != AVERAGE and numbers.size > 1 else None
        return Result(entity, metric, Value(mean, intervals, "", deviation), place, arrays.seeds, per_seed)

    def replicates(self, values: np.ndarray, line: str) -> np.ndarray:
        """Return float[R] means of `values` over drawn shifts and trainings, without draws that meet no value."""
        present = np.isfinite(values)
        sums = (self._models @ np.where(present, values, 0.0)) * self._conditions
        counts = (self._models @ present.astype(float)) * self._conditions
        means = []
        for row in self._rows(line):
            chosen = self.arrays.chosen(row=row)
            total = counts[:, chosen].sum(axis=1)
            mean = sums[:, chosen].sum(axis=1) / np.maximum(total, 1e-300)
            means.append(np.where(total > 0, mean, np.nan))
        return finite(np.mean(means, axis=0))

    def compare(self, label: str, other: str, line: str) -> Comparison:
        """Test whether `label` errs less than `other` where both gave an estimate; p is not corrected yet."""
        sizes = [np.abs(self.arrays.signed_error[self.arrays.labels.index(name)]) for name in (label, other)]
        difference = sizes[0] - sizes[1]
        mean, freedom = self.mean(difference, line), self.degrees_of_freedom(line)
        p, reason = None, NO_ESTIMATE if mean is None else "" if freedom else NOTHING_TO_DRAW
        if mean is not None and freedom:
            error = float(self.replicates(difference, line).std(ddof=1))
            reason = NO_VARIANCE if error <= ROUNDING else ""
            p = None if reason else student_p(mean, error, freedom)
        interval = None if p is None else next(iter(self.intervals(difference, line)), None)
        return Comparison(label, other, ERROR, mean, p, reason, interval, self.arrays.place(line))

    def compare_all(self, other: str, line: str, *, chosen: bool = False) -> tuple[Comparison, ...]:
        """Test every other method against one, corrected together (Holm, 1979); `chosen`: for being the best here."""
        labels = self.arrays.labels
        tests = (self.compare(label, other, line) for label in labels if label != other)
        return correct_for_many(tests, among=comb(len(labels), 2) if chosen else 0)

    @cached_property
    def _models(self) -> np.ndarray:
        """float[R, M], how often each model counts."""
        generator = np.random.default_rng([SEED, 0])
        return _weights([model.training for model in self.arrays.models], generator)

    @cached_property
    def _conditions(self) -> np.ndarray:
        """float[R, C], how often each condition counts; shifts are drawn within their row."""
        conditions = self.arrays.conditions
        weights = np.ones((REPLICATES, len(conditions)))
        for place, row in enumerate(self.arrays.rows, 1):
            shifts = [condition.shift for condition in conditions if condition.row == row]
            chosen = self.arrays.chosen(row=row)
            weights[:, chosen] = _weights(shifts, np.random.default_rng([SEED, place]))
        return weights

    def _rows(self, line: str) -> tuple[str, ...]:
        return self.arrays.rows if line == AVERAGE else (line,)


def _weights(groups: Sequence, generator: np.random.Generator) -> np.ndarray:
    """float[R, N], how often each of N members counts when their groups are drawn with replacement."""
    units = list(dict.fromkeys(groups))
    if len(units) == 1:
        return np.ones((REPLICATES, len(groups)))
    drawn = generator.multinomial(len(units), np.full(len(units), 1 / len(units)), REPLICATES)
    return drawn[:, [units.index(group) for group in groups]].astype(float)
