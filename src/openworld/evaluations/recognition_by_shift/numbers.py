"""OpenworldAUC of every learner at every level, averaged over seeds, with intervals over drawings and paired tests.

Made anew from the pictures of the records: intervals of a mean over seeds do not follow from those of the seeds.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from openworld.evaluations.recognition_by_shift.run import OpenWorldShiftRun
from openworld.metrics import SeedAverage, average, holm, openworld_auc, paired_test
from openworld.results import significant
from openworld.runs import Record

Averages = tuple[SeedAverage | None, ...]
TOLD = (("near", "semantic"), ("near", "covariate"), ("same_looks", "covariate"))
"""What is told by level: a view, and an axis."""


@dataclass(frozen=True)
class Test:
    """A learner minus the yardstick at a level; `p` after Holm over all learners and levels, None where untestable."""

    difference: float | None
    p: float | None

    @property
    def sign(self) -> int:
        """1 where it is shown to be better, -1 where it is shown to be worse, else 0."""
        return int(np.sign(self.difference)) if significant(self.p) else 0


class Levels:
    """Averages over the seeds by learner, view, axis and level; None where there are too few pictures."""

    def __init__(self, run: OpenWorldShiftRun):
        self.run = run
        self._columns = {name: tuple(map(_Columns.of, records)) for name, records in run.records.items()}
        self._found: dict[tuple[str, str, str], Averages] = {}

    @cached_property
    def overall(self) -> dict[str, SeedAverage]:
        """By learner, all base test pictures against all new ones."""
        return {name: average([one.held(one.new) for one in ones]) for name, ones in self._columns.items()}

    def of(self, learner: str, view: str, axis: str) -> Averages:
        """The averages at each level."""
        key = learner, view, axis
        if key not in self._found:
            per_seed = [list(_levels(one, view, axis, self._enough(view, axis))) for one in self._columns[learner]]
            together = zip(*per_seed, strict=True)
            self._found[key] = tuple(None if None in ones else average(ones) for ones in together)
        return self._found[key]

    def values(self, learner: str, view: str, axis: str, part: str = "openworld_auc") -> list[float | None]:
        """One quantity at each level."""
        return [None if one is None else one.estimate(part).value for one in self.of(learner, view, axis)]

    def tests(self, view: str, axis: str) -> dict[str, list[Test]]:
        """By learner but the yardstick, at each level; empty without a yardstick."""
        run = self.run
        others = [name for name in run.learners if name != run.yardstick] if run.yardstick else []
        found = {name: list(self._differences(name, view, axis)) for name in others}
        corrected = iter(holm([p for tests in found.values() for _, p in tests]))
        return {name: [Test(difference, next(corrected)) for difference, _ in tests] for name, tests in found.items()}

    def _differences(self, learner: str, view: str, axis: str) -> Iterator[tuple[float | None, float | None]]:
        pairs = zip(self.of(learner, view, axis), self.of(self.run.yardstick, view, axis), strict=True)
        for one, other in pairs:
            test = None if one is None or other is None else paired_test(one, other)
            yield (None, None) if test is None else (test.difference, test.p_value)

    def _enough(self, view: str, axis: str) -> list[bool]:
        """Which levels are not N/A: by the records."""
        return [one is not None for one in self.run.any[view][axis]]


@dataclass(frozen=True, eq=False)
class _Columns:
    """The pictures of one record: base test pictures, and the pool's."""

    base: Mapping[str, np.ndarray]
    pool: Mapping[str, np.ndarray]

    @classmethod
    def of(cls, record: Record) -> "_Columns":
        tables = [{name: np.asarray(column) for name, column in record.table(one).items()} for one in ("base", "pool")]
        return cls(*tables)

    @cached_property
    def new(self) -> np.ndarray:
        """bool[N], which pictures of the pool are of new classes."""
        return self.pool["side"] == "new"

    def held(self, new: np.ndarray, base: np.ndarray | None = None):
        """Some new pictures against all base test pictures, or against some base pictures of the pool; bool[N]."""
        chosen = {name: self.pool[name][new] for name in ("score", "correct", "group")}
        if base is None:
            own = self.base
            chosen["group"] = chosen["group"] + int(own["group"].max(initial=-1)) + 1  # another image set
        else:
            own = {name: self.pool[name][base] for name in chosen}
        groups = {"base_groups": own["group"], "new_groups": chosen["group"]}
        return openworld_auc(own["score"], own["correct"], chosen["score"], chosen["correct"], **groups)


def _levels(one: _Columns, view: str, axis: str, enough: list[bool]) -> Iterator:
    for level, there in enumerate(enough):
        members = one.pool[f"{axis}_level"] == level
        base = members & ~one.new if view == "same_looks" else None
        yield one.held(members & one.new, base) if there else None


def estimate_errors(run: OpenWorldShiftRun, estimator: str, learner: str | None = None) -> np.ndarray:
    """float[L, R, C], estimated minus true accuracy, means over the seeds, of one learner or of all; NaN where N/A."""
    names = run.learners if learner is None else (learner,)
    return np.array([(run.estimated(name, estimator) - run.truth(name)).mean(axis=0) for name in names])


def mean_of(values: np.ndarray, axis: str | None = None, level: int = 0) -> float | None:
    """The mean of what is there of [..., R, C], on the whole or at one level of an axis.

    >>> mean_of(np.array([[0.5, np.nan], [0.25, 1.0]]), "semantic", 0), mean_of(np.array([[np.nan]]))
    (0.375, None)
    """
    chosen = values if axis is None else np.take(values, level, axis=-1 if axis == "semantic" else -2)
    known = chosen[np.isfinite(chosen)]
    return float(known.mean()) if known.size else None
