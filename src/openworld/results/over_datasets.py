"""Methods on several data sets: means with what their intervals are over, tests of all pairs, ranks (Demsar, 2006).

Two kinds of chance are kept apart. Over seeds: draws and training could have gone otherwise, on these data sets;
Student's t on the seeds' own means. Over data sets: these are a sample, and the mean might be another on others;
Student's t on the data sets' values. Ranks make no assumption of scale: Friedman's test asks whether any two methods
differ over data sets, and Nemenyi's critical difference which of them do.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from openworld.core.arrays import ArrayLike
from openworld.core.representation import short_repr
from openworld.metrics import friedman_test, nemenyi, seeds_test
from openworld.results.comparison import Comparison, comparison_of, correct_for_many
from openworld.results.join import mean, student
from openworld.results.results import Place, Result
from openworld.results.value import Metric, Value

MEAN_RANK = Metric("mean_rank", "mean rank", "fraction", 2, -1, (1.0, None))
CRITICAL_DIFFERENCE = Metric("critical_difference", "critical difference of mean ranks", "fraction", 2, 0, (0.0, None))
FRIEDMAN_P = Metric("friedman_p", "p of Friedman's test", "number", 2, 0)

SEEDS, DATA_SETS = "seeds", "data sets"
NOT_EVERYWHERE = "it has no value on every data set"
_SAME = 12  # decimals: numbers that differ in their last bits only have the same rank


def ranks(
    names: Sequence[str], scores: ArrayLike, where: Mapping[str, Place], rank: Metric = MEAN_RANK
) -> tuple[list[Result], list[Comparison]]:
    """Return the rows of methods ranked on every data set, and Nemenyi's tests of all pairs of data sets enough.

    Args:
        names: of the methods.
        scores: float[methods, data sets], the larger the better.
        where: the place of Friedman's p-value, Nemenyi's distance, and every mean rank.
        rank: what mean ranks are called.
    """
    scores = np.asarray(scores, dtype=float).round(_SAME)
    test, distance = friedman_test(scores), nemenyi(scores)
    rows = [
        Result("", FRIEDMAN_P, Value(test.p_value, reason=test.reason or ""), where),
        Result("", CRITICAL_DIFFERENCE, Value(distance.value, reason=distance.reason or ""), where),
    ]
    rows += [Result(name, rank, Value(mean), where) for name, mean in zip(names, distance.mean_ranks, strict=True)]
    p_values, tests = distance.p_values or (), []
    for first, second in combinations(range(len(p_values)), 2):
        difference, p = distance.mean_ranks[first] - distance.mean_ranks[second], p_values[first][second]
        tests.append(Comparison(names[first], names[second], rank, difference, p, where=where))
    return rows, tests


@dataclass(frozen=True, eq=False)
class DatasetMeans:
    """One metric of several methods on several data sets, at one place."""

    metric: Metric
    datasets: tuple[str, ...]
    numbers: Mapping[str, Sequence[Result | None]]  # {method: its result on every data set}; None where it has none
    where: Mapping[str, str | int | float]

    __repr__ = short_repr

    @cached_property
    def complete(self) -> tuple[str, ...]:
        """The methods that have a value on every data set; the others have no mean."""
        return tuple(
            name for name, rows in self.numbers.items() if all(row and row.value.value is not None for row in rows)
        )

    def mean(self, name: str) -> Result:
        """Return the mean of a method over the data sets, each counting the same."""
        if name not in self.complete:
            return Result(name, self.metric, Value(None, reason=NOT_EVERYWHERE), self.where)
        values, by_seed = self._values(name), self._by_seed(name)
        intervals = (*student(values, self.metric, DATA_SETS), *student(tuple(by_seed.values()), self.metric))
        return Result(
            name, self.metric, Value(mean(values), intervals), self.where, tuple(by_seed), tuple(by_seed.values())
        )

    @cached_property
    def _ranks(self) -> tuple[list[Result], list[Comparison]]:
        """Of the methods that have a value everywhere."""
        if not self.complete:
            return [], []
        sign = self.metric.better or 1
        scores = [self._values(name) for name in self.complete]
        return ranks(self.complete, sign * np.array(scores).reshape(len(scores), -1), self.where)

    def rows(self) -> Iterator[Result]:
        """Yield every mean, and the ranks."""
        yield from map(self.mean, self.numbers)
        yield from self._ranks[0]

    @cached_property
    def tests(self) -> tuple[Comparison, ...]:
        """All pairs: over data sets, paired by data set; over seeds, on these data sets; then by ranks."""
        # Each of the three families is corrected by itself; the place of those over seeds says so.
        return (*self._pairs(DATA_SETS), *self._pairs(SEEDS), *self._ranks[1])

    def _pairs(self, over: str) -> tuple[Comparison, ...]:
        where, tests = {**self.where, "over": SEEDS} if over == SEEDS else self.where, []
        for name, other in combinations(self.complete, 2):
            if over == DATA_SETS:
                test = seeds_test(self._values(name), self._values(other))
            else:
                first, second = self._by_seed(name), self._by_seed(other)
                shared = [seed for seed in first if seed in second]
                test = seeds_test([first[seed] for seed in shared], [second[seed] for seed in shared])
            tests.append(comparison_of(name, other, self.metric, test, over=over, where=where))
        return correct_for_many(tests)

    def _values(self, name: str) -> list[float]:
        return [row.value.value for row in self.numbers[name] if row is not None and row.value.value is not None]

    def _by_seed(self, name: str) -> dict[int, float]:
        """{seed: the mean over the data sets}; empty where they have other seeds, or a number is not defined."""
        rows = [row for row in self.numbers[name] if row is not None]
        if len({row.seeds for row in rows}) > 1 or any(None in row.per_seed for row in rows):
            return {}
        means = map(mean, zip(*(row.per_seed for row in rows), strict=True))
        return {seed: value for seed, value in zip(rows[0].seeds, means, strict=True) if value is not None}
