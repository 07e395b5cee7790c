"""Tests between the learners of a table, from per-image outputs, and their verdicts in words.

A test holds the seeds fixed: it asks whether the difference of two means over seeds would stand on other images. All
pairs of a table are tested and corrected together (Holm, 1979), because which learner is called the best was chosen
on the same images.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import combinations

import numpy as np

from openworld.evaluations.recognition.outcome import Outcome
from openworld.metrics import SeedAverage, average, holm, paired_test
from openworld.report.comparison import Comparison


def average_over_seeds(outcomes: Sequence[Outcome]) -> SeedAverage | None:
    """The mean over seeds with its intervals; None where the seeds were scored on different images."""
    same = all(np.array_equal(outcome.ids, outcomes[0].ids) for outcome in outcomes)
    return average([outcome.result for outcome in outcomes]) if same else None


def compare_all(by_learner: Mapping[str, Sequence[Outcome]]) -> dict[tuple[str, str], Comparison]:
    """The tests of all pairs, each pair once in the order of the learners, corrected together.

    Learners that were not scored on the same images are tested on those that all their seeds share.
    """
    averages = {learner: average_over_seeds(outcomes) for learner, outcomes in by_learner.items()}
    ids = {learner: outcomes[0].ids for learner, outcomes in by_learner.items()}
    tests = []
    for one, other in combinations(by_learner, 2):
        if averages[one] and averages[other] and np.array_equal(ids[one], ids[other]):
            tests.append(_test(one, other, averages))
        else:
            tests.append(_test_on_shared(one, other, by_learner))
    corrected = holm([test.p for test in tests])
    return {(test.learner, test.other): replace(test, p=p) for test, p in zip(tests, corrected, strict=True)}


def _test(one: str, other: str, averages: Mapping[str, SeedAverage]) -> Comparison:
    found = paired_test(averages[one], averages[other])
    return Comparison(one, other, found.difference, found.p_value, found.reason)


def _test_on_shared(one: str, other: str, by_learner: Mapping[str, Sequence[Outcome]]) -> Comparison:
    """The test on the images that every seed of both learners has in common, if it says the same of them."""
    every = (*by_learner[one], *by_learner[other])
    if any(len(np.unique(outcome.ids)) < len(outcome.ids) for outcome in every):
        return Comparison(one, other, None, None, "they were not scored on the same images, and ids stand twice")
    shared = reduce(np.intersect1d, (outcome.ids for outcome in every))
    if not shared.size:
        return Comparison(one, other, None, None, "they were not scored on the same images, and share none")
    parts = {name: [outcome.only(shared) for outcome in by_learner[name]] for name in (one, other)}
    if not _same_facts([*parts[one], *parts[other]]):
        return Comparison(one, other, None, None, "they say different things of the images that they share")
    averages = {name: average([outcome.result for outcome in found]) for name, found in parts.items()}
    return replace(_test(one, other, averages), shared=int(shared.size))


def _same_facts(outcomes: Sequence[Outcome]) -> bool:
    """Whether all say the same of every image, whatever was predicted; images in the same order."""
    facts = [one.facts for one in outcomes]
    return all(np.array_equal(mine, its) for own in facts for mine, its in zip(own, facts[0], strict=True))
