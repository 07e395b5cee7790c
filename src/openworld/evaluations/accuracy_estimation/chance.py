"""How far a mean error would move with other shifts and other trainings: a bootstrap that draws both, and its tests.

Estimates of one model on many conditions, and of many models on one condition, err together. So shifts (a corruption
at all its severities, a domain) and trainings (all checkpoints of one model and seed) are drawn with replacement,
independently, and a cell counts as often as its shift times its training: the pigeonhole bootstrap for crossed data
(Owen, 2007, "The pigeonhole bootstrap", section 3), which errs on the careful side. Where there is a single shift or
a single training, that side is held fixed and the interval speaks of the other alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from openworld.evaluations.accuracy_estimation.run import EstimateRun
from openworld.metrics import holm
from openworld.metrics.estimate import ROUNDING
from openworld.report.comparison import Comparison

REPLICATES, SEED = 2000, 20
NOTHING_TO_DRAW = "one shift and one training: nothing to draw anew"
NO_ESTIMATE = "one of the two gave no estimate"
NO_VARIANCE = "the difference is the same in every draw, and a zero variance is no evidence"


@dataclass(frozen=True, eq=False)
class Chance:
    """Draws of shifts and trainings of a run.

    Replicates are means over the conditions of a row, or, for row None, the unweighted means of the rows' means.
    """

    run: EstimateRun

    @cached_property
    def trainings(self) -> int:
        """How many trainings are drawn from."""
        return len({model.training for model in self.run.models})

    def shifts(self, row: str | None = None) -> int:
        """How many shifts are drawn from, in a row or in all rows together."""
        rows = self.run.rows if row is None else (row,)
        return sum(len(_of(self.run, one)) for one in rows)

    def interval(self, values: np.ndarray, row: str | None = None) -> tuple[float, float] | None:
        """95 % percentile interval of the mean of `values`, float[M, C]; None where nothing can be drawn anew."""
        found = self.replicates(values, row)
        if not self.freedom(row) or found.size < REPLICATES // 2 or np.ptp(found) <= ROUNDING:
            return None
        low, high = np.quantile(found, [0.025, 0.975])
        return float(low), float(high)

    def freedom(self, row: str | None = None) -> int:
        """Degrees of freedom of a test: of whatever there is less of, shifts or trainings; 0 where there is none."""
        rows = self.run.rows if row is None else (row,)
        sides = (self.shifts(row) - len(rows), self.trainings - 1)
        return min((side for side in sides if side > 0), default=0)

    def replicates(self, values: np.ndarray, row: str | None = None) -> np.ndarray:
        """float[R] means of `values` over drawn shifts and trainings; draws that meet no value are left out."""
        rows = self.run.rows if row is None else (row,)
        known = np.isfinite(values)
        sums = (self._models @ np.where(known, values, 0.0)) * self._conditions
        counts = (self._models @ known.astype(float)) * self._conditions
        means = []
        for one in rows:
            chosen = self.run.of_row(one)
            total = counts[:, chosen].sum(axis=1)
            with np.errstate(invalid="ignore"):
                means.append(np.where(total > 0, sums[:, chosen].sum(axis=1) / np.maximum(total, 1e-300), np.nan))
        found = np.mean(means, axis=0)
        return found[np.isfinite(found)]

    def compare(self, label: str, other: str, row: str | None = None) -> Comparison:
        """Whether `label` errs less than `other`: `difference` is the mean error spared, p not yet corrected."""
        places = [self.run.labels.index(name) for name in (other, label)]
        spared = np.abs(self.run.off[places[0]]) - np.abs(self.run.off[places[1]])
        mean = mean_of_rows(self.run, spared, row)
        if mean is None:
            return Comparison(label, other, None, None, NO_ESTIMATE)
        if not self.freedom(row):
            return Comparison(label, other, mean, None, NOTHING_TO_DRAW)
        error = float(self.replicates(spared, row).std(ddof=1))
        if error <= ROUNDING:
            return Comparison(label, other, mean, None, NO_VARIANCE)
        from scipy.special import stdtr

        return Comparison(label, other, mean, 2 * float(stdtr(self.freedom(row), -abs(mean) / error)))

    def against(self, other: str, row: str | None = None) -> dict[str, Comparison]:
        """Every other method against one, corrected together (Holm, 1979)."""
        tests = [self.compare(label, other, row) for label in self.run.labels if label != other]
        corrected = holm([test.p for test in tests])
        return {test.learner: replace(test, p=p) for test, p in zip(tests, corrected, strict=True)}

    @cached_property
    def _models(self) -> np.ndarray:
        """float[R, M], how often each model counts."""
        generator = np.random.default_rng([SEED, 0])
        return _weights([model.training for model in self.run.models], generator)

    @cached_property
    def _conditions(self) -> np.ndarray:
        """float[R, C], how often each condition counts; shifts are drawn within their row."""
        weights = np.ones((REPLICATES, len(self.run.conditions)))
        for place, row in enumerate(self.run.rows, 1):
            chosen = self.run.of_row(row)
            shifts = [one.shift for one in self.run.conditions if one.row == row]
            weights[:, chosen] = _weights(shifts, np.random.default_rng([SEED, place]))
        return weights


def mean_of_rows(run: EstimateRun, values: np.ndarray, row: str | None = None) -> float | None:
    """Mean of `values`, float[M, C], over a row, or the unweighted mean over the rows; None where one has none."""
    rows = run.rows if row is None else (row,)
    found = [values[:, run.of_row(one)] for one in rows]
    known = [one[np.isfinite(one)] for one in found]
    return float(np.mean([one.mean() for one in known])) if all(one.size for one in known) else None


def _of(run: EstimateRun, row: str) -> set[str]:
    return {condition.shift for condition in run.conditions if condition.row == row}


def _weights(groups: Sequence, generator: np.random.Generator) -> np.ndarray:
    """float[R, N], how often each of N members counts when their groups are drawn with replacement."""
    known = list(dict.fromkeys(groups))
    if len(known) == 1:
        return np.ones((REPLICATES, len(groups)))
    drawn = generator.multinomial(len(known), np.full(len(known), 1 / len(known)), REPLICATES)
    return drawn[:, [known.index(group) for group in groups]].astype(float)
