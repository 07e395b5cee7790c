"""Tests between the learners of a table, from per-image outputs, and their verdicts in words.

A test holds the seeds fixed: it asks whether the difference of two means over seeds would stand on other images. All
pairs of a table are tested and corrected together (Holm, 1979), because which learner is called the best was chosen
on the same images.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import combinations

import numpy as np

from openworld.metrics import SeedAverage, average, holm, paired_test
from openworld.metrics.estimate import SIGNIFICANCE
from openworld.report.outcome import Outcome

HOLM = f"Holm, {100 * SIGNIFICANCE:.0f}\u00a0%"


def significant(p: float | None) -> bool:
    """Whether a p-value, after its correction, shows a difference; never where nothing was tested."""
    return p is not None and p < SIGNIFICANCE


@dataclass(frozen=True)
class Comparison:
    """`learner` minus `other` in OpenworldAUC on the same images; `p` is after Holm's correction over the table.

    p is None, with a `reason`, where no error of the difference is known. shared: on how many images both were scored,
    where either was scored on others too; the test is on these alone.
    """

    learner: str
    other: str
    difference: float | None
    p: float | None
    reason: str | None = None
    shared: int | None = None

    @property
    def better(self) -> bool:
        """Whether `learner` is shown to be better."""
        return significant(self.p) and self.difference > 0

    @property
    def worse(self) -> bool:
        """Whether `learner` is shown to be worse."""
        return significant(self.p) and self.difference < 0

    @property
    def differs(self) -> bool:
        """Whether a difference is shown at all."""
        return self.better or self.worse

    @property
    def p_words(self) -> str:
        """The p-value as one writes it, kept on one line.

        >>> Comparison("GMoP", "CoOp", 0.1, 0.031).p_words
        'p\xa0.03'
        """
        if self.p is None:
            return "not testable"
        shared = f" on {self.shared:,} shared images" if self.shared else ""
        if self.p < 0.001:
            return f"p\u00a0<\u00a0.001{shared}"
        return "p\u00a0" + f"{self.p:.{3 if self.p < 0.01 else 2}f}".removeprefix("0") + shared

    @property
    def words(self) -> str:
        """The verdict: better than, worse than, or does not differ from the other."""
        if self.p is None:
            return f"cannot be tested against {self.other}: {self.reason}"
        if not self.differs:
            return f"does not differ from {self.other} ({self.p_words})"
        return f"{'better' if self.better else 'worse'} than {self.other} ({self.p_words})"

    @property
    def short_words(self) -> str:
        """The verdict where the other learner is named elsewhere.

        >>> Comparison("GMoP", "CoOp", 0.1, 0.031).short_words
        'better, p\xa0.03'
        """
        if self.p is None:
            return self.p_words
        return f"{'better' if self.better else 'worse' if self.worse else 'does not differ'}, {self.p_words}"

    def reversed(self) -> "Comparison":
        """The same test told from the other learner's side."""
        difference = None if self.difference is None else -self.difference
        return replace(self, learner=self.other, other=self.learner, difference=difference)


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
