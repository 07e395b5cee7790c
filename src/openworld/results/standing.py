"""Who has the best number of several, and what of that is shown: every sentence that names a best rests on this.

The best of k is chosen on the very images that it is tested on, so that a test must hold whichever was chosen. Each is
therefore corrected as one of all k (k - 1) / 2 pairs (Holm, 1979), of which those that were not made count as p = 1;
where all k are equal, a difference is claimed in 5 % of samples at most. Whether an AUROC is above or below chance is
one family as well, of all that are looked at together. Detectors of one model err alike, so that the largest of their
k statistics, drawn jointly, is hardly larger than one: against chance that shows more than Holm's correction (58 and 38
in 100 of twelve that share .9 of their variance; `bench/best_of_noise.py`), and is used where the images are at hand.
Between pairs, whose shared errors cancel, it shows no more.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from math import erfc, sqrt
from statistics import NormalDist
from typing import Literal

import numpy as np

from openworld.core.arrays import ArrayLike, as_table
from openworld.core.types import checked
from openworld.metrics.estimate import LEVEL
from openworld.results.comparison import Comparison, correct_for_many
from openworld.results.results import Result
from openworld.results.value import Interval, Value

CHANCE_NAME = "chance"
CHANCE = 0.5
"""The AUROC of scores that know nothing."""

DRAWS = 20_000
"""Of the largest statistic."""

SAME_DIGITS = 12
"""Decimals that two numbers share to be called the same: beyond lies the rounding of floats."""


@dataclass(frozen=True)
class Standing:
    """The best of several.

    Args:
        names: who has the best number; several where it is the same to the last digit.
        others: who has another one.
        tests: of the best against each other that there is a test of; of several best the least sure one.
        without: whose number is not defined.
    """

    names: tuple[str, ...]
    others: tuple[str, ...] = ()
    tests: tuple[Comparison, ...] = ()
    without: tuple[str, ...] = ()

    @property
    def alone(self) -> bool:
        """Whether the best is shown to be better than every other."""
        return len(self.names) == 1 and bool(self.others) and len(self.beaten) == len(self.others)

    @property
    def beaten(self) -> tuple[str, ...]:
        """The others that the best is shown to be better than."""
        return tuple(test.other for test in self.tests if test.better)


@checked
def standing(
    values: Mapping[str, float | None],
    compare: Callable[[str, str], Comparison | None] | None = None,
    better: Literal[1, -1] = 1,
) -> Standing | None:
    """Return who has the best of some numbers and over whom that is shown; None where there is no number.

    Args:
        values: by name; None where it is not defined.
        compare: the corrected test of one against another, None where there is none; None where nothing is tested.
        better: 1 where larger numbers are better, -1 where smaller ones are.

    >>> standing({"CoOp": 0.4, "GMoP": 0.5, "TCP": 0.5}).names
    ('GMoP', 'TCP')
    """
    rounded = {name: round(better * value, SAME_DIGITS) for name, value in values.items() if value is not None}
    if not rounded:
        return None
    names = tuple(name for name in rounded if rounded[name] == max(rounded.values()))
    others = tuple(name for name in rounded if name not in names)
    tests = []
    for other in others:
        found = [test for name in names if compare is not None and (test := compare(name, other)) is not None]
        tests += sorted(found, key=lambda test: 2.0 if test.p is None else test.p)[-1:]
    return Standing(names, others, tuple(tests), tuple(name for name in values if name not in rounded))


def over_images(area: Value) -> Interval | None:
    """Return the interval of an AUROC over images, or over these and seeds; None where there is none."""
    return area.over("images") or area.over("seeds and images")


@checked
def against_chance(rows: Iterable[Result], correlation: ArrayLike | None = None) -> tuple[Comparison, ...]:
    """Return the tests of AUROCs against chance, as one family, from their intervals over images.

    An interval of 95 % that ends at chance is p = .05; beyond, its half towards chance is taken for that of a normal.

    Args:
        rows: the AUROCs. correlation: float[k, k] of their errors, for the largest of all statistics (Westfall and
            Young, 1993); None for Holm's correction.

    >>> from openworld.results import METRICS, Interval, Value
    >>> area = Value(0.3, (Interval(0.2, 0.4, "images"),))
    >>> [test.verdict for test in against_chance([Result("turned", METRICS["auroc"], area)])]
    ['worse, p\xa0<\xa0.001']
    """
    tests, distances = [], []
    quantile = NormalDist().inv_cdf((1 + LEVEL) / 2)
    for row in rows:
        area, interval = row.value.value, over_images(row.value)
        if area is None:
            continue
        distances.append(0.0)
        test = Comparison(row.entity, CHANCE_NAME, row.metric, area - CHANCE, where=row.where)
        half = 0.0 if interval is None else area - interval.low if area > CHANCE else interval.high - area
        if interval is None or half <= 0:
            tests.append(replace(test, reason="no interval is known of it"))
            continue
        moved = replace(interval, low=interval.low - CHANCE, high=interval.high - CHANCE)
        distances[-1] = quantile * abs(area - CHANCE) / half
        tests.append(replace(test, p=erfc(distances[-1] / sqrt(2)), interval=moved))
    correlation = None if correlation is None else as_table(correlation, "correlation", (2,))
    if correlation is None or correlation.shape != (len(tests), len(tests)):
        return correct_for_many(tests)
    drawn = np.random.default_rng(0).multivariate_normal(np.zeros(len(tests)), correlation, DRAWS, method="eigh")
    largest = np.sort(np.abs(drawn).max(axis=1))
    above = DRAWS - np.searchsorted(largest, distances)
    return tuple(
        replace(test, p=None if test.p is None else max(test.p, float(count + 1) / (DRAWS + 1)))
        for test, count in zip(tests, above, strict=True)
    )
