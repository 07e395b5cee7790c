"""Tests between the learners of a course, or of a scenario, in the area under their curves, in words.

Over pictures (the rule): seeds are held fixed, and the difference of two means over seeds is asked to stand on other
pictures. Over seeds: pictures are held fixed, and it is asked to stand with other class orders, shots and trainings;
three seeds show large differences only. All pairs of a table are corrected together (Holm, 1979).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from openworld.evaluations.dynamic.answers import OTHER_SEEDS, Evidence
from openworld.metrics import PairedTest, area_test, holm, seeds_test
from openworld.report.comparison import Comparison

Comparisons = dict[tuple[str, str], Comparison]


def compare_on_pictures(found: Evidence, levels: Sequence[float]) -> Comparisons:
    """The tests of all pairs on the same pictures, each pair once in the order of the learners."""
    if found.errors is None:
        tests = {pair: PairedTest(None, None, None, None, found.reason) for pair in combinations(found.learners, 2)}
        return _corrected(tests)
    row = {learner: place for place, learner in enumerate(found.learners)}
    pairs = combinations(found.learners, 2)
    return _corrected({(one, two): area_test(found.errors, levels, row[one], row[two]) for one, two in pairs})


def compare_over_seeds(areas: Mapping[str, Mapping[int, float]]) -> Comparisons:
    """The paired t-tests of all pairs over seeds.

    Args:
        areas: {learner: {seed: area under its curve}}.
    """
    return _corrected({(one, two): _over_seeds(areas[one], areas[two]) for one, two in combinations(areas, 2)})


def against(comparisons: Comparisons, learner: str, other: str) -> Comparison | None:
    """The test of `learner` against `other`, or None for a learner against itself."""
    if learner == other:
        return None
    found = comparisons.get((learner, other))
    return comparisons[other, learner].reversed() if found is None else found


def _over_seeds(one: Mapping[int, float], two: Mapping[int, float]) -> PairedTest:
    if one.keys() != two.keys():
        return PairedTest(None, None, None, None, OTHER_SEEDS)
    return seeds_test(list(one.values()), [two[seed] for seed in one])


def _corrected(tests: Mapping[tuple[str, str], PairedTest]) -> Comparisons:
    told = {pair: Comparison(*pair, test.difference, test.p_value, test.reason) for pair, test in tests.items()}
    corrected = holm([test.p for test in told.values()])
    return {pair: replace(test, p=p) for (pair, test), p in zip(told.items(), corrected, strict=True)}
