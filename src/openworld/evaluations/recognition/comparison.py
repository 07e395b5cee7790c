"""Tests between the learners of a setting, from per-image outputs.

A test holds the seeds fixed: it asks whether the difference of two means over seeds would stand on other images. All
pairs of a setting are tested and corrected together (Holm, 1979), because which learner is called the best was chosen
on the same images. Of many learners only those pairs are tested that are shown, and corrected as one of all pairs.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import combinations

import numpy as np

from openworld.evaluations.recognition.class_imbalance import SHRUNK
from openworld.evaluations.recognition.outcome import ImageScores, Outcome
from openworld.metrics import SeedAverage, average, paired_test
from openworld.metrics.thinning import kept_share
from openworld.results import METRICS, Comparison, Metric, comparison_of, correct_for_many

AUC = METRICS["openworld_auc"]
Place = Mapping[str, str | int | float]


def average_over_seeds(scores: Sequence[ImageScores]) -> SeedAverage | None:
    """The mean over seeds with its intervals; None where the seeds were scored on different images."""
    same = all(np.array_equal(seed.ids, scores[0].ids) for seed in scores)
    return average([seed.result for seed in scores]) if same else None


def weigh(outcome: Outcome, direction: str) -> ImageScores:
    """Return the test images of an outcome, those of the half that a mix shrinks by their chance to be drawn."""
    # Which images a draw keeps is chance; how many of every class is not, so that the mean over all possible draws is
    # OpenworldAUC with every image weighted by the share that its class keeps.
    side, test = SHRUNK[direction], outcome.test
    label = np.asarray(test.images["label"])
    share = kept_share(label[test.is_base == (side == "base")], outcome.facts["imbalance_factor"])
    return replace(test, weights=(share, None) if side == "base" else (None, share))


def mix_comparisons(
    learners: Mapping[str, Sequence[Outcome]], place: Place, against: Sequence[str] = ()
) -> Iterator[Comparison]:
    """Yield the tests of all pairs, or `against` some, in both directions of an imbalance, corrected in each."""
    drawn = all(outcome.facts.get("imbalance_factor") for outcomes in learners.values() for outcome in outcomes)
    for direction in SHRUNK if drawn else ():
        scores = {name: [weigh(outcome, direction) for outcome in outcomes] for name, outcomes in learners.items()}
        yield from compare_all(scores, {**place, "mix": direction}, against=against)


def compare_all(
    by_learner: Mapping[str, Sequence[ImageScores]],
    where: Place | None = None,
    metric: Metric = AUC,
    against: Sequence[str] = (),  # whom alone all are tested against, corrected as if all pairs were
) -> tuple[Comparison, ...]:
    """Return the tests of a metric between all pairs, in the order of the learners, corrected together."""
    # Learners that were not scored on the same images are tested on those that all their seeds share.
    averages = {learner: average_over_seeds(scores) for learner, scores in by_learner.items()}
    tests = []
    pairs = [pair for pair in combinations(by_learner, 2) if not against or set(pair) & set(against)]
    for learner, other in pairs:
        same = np.array_equal(by_learner[learner][0].ids, by_learner[other][0].ids)
        if same and averages[learner] and averages[other]:
            test = paired_test(averages[learner], averages[other], metric.key)
            tests.append(comparison_of(learner, other, metric, test, where=where))
        else:
            tests.append(_on_shared_images(learner, other, by_learner, where or {}, metric))
    return correct_for_many(tests, among=len(by_learner) * (len(by_learner) - 1) // 2)


def _on_shared_images(
    learner: str, other: str, by_learner: Mapping[str, Sequence[ImageScores]], where, metric: Metric
) -> Comparison:
    """The test on the images that every seed of both learners has in common, if all say the same of these."""

    def refused(reason: str) -> Comparison:
        return Comparison(learner, other, metric, None, None, reason, where=where)

    every = (*by_learner[learner], *by_learner[other])
    if any(len(np.unique(scores.ids)) < len(scores) for scores in every):
        return refused("they were not scored on the same images, and ids stand twice")
    shared = reduce(np.intersect1d, (scores.ids for scores in every))
    if not shared.size:
        return refused("they were not scored on the same images, and share none")
    sides = [[scores.only(shared) for scores in by_learner[name]] for name in (learner, other)]
    first = sides[0][0]
    if not all(same_facts(scores, first) for side in sides for scores in side):
        return refused("they say different things of the images that they share")
    test = paired_test(*(average([scores.result for scores in side]) for side in sides), metric.key)
    return comparison_of(learner, other, metric, test, where=where, shared=int(shared.size))


def same_facts(scores: ImageScores, others: ImageScores) -> bool:
    """Whether both say the same of every image, whatever was predicted; images in the same order."""
    return all(np.array_equal(fact, other) for fact, other in zip(scores.facts, others.facts, strict=True))
