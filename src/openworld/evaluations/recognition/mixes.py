"""Learners on other mixes of base and new images: with one half shrunk (imbalance), and over a sweep of ratios.

The records hold means over draws of the images. Which images a draw keeps is chance; how many of every class is not, so
the mean over all possible draws is OpenworldAUC with every image weighted by the share that its class keeps. Intervals
and tests are of that number, over images and clustered by group, as those of the natural mix are.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import sqrt

import numpy as np

from openworld.evaluations.recognition.comparison import AUC, Place, average_over_seeds, compare_all
from openworld.evaluations.recognition.outcome import ImageScores, Outcome
from openworld.evaluations.recognition.record import MIXED, SHRUNK, Mix, RatioMix, ShrunkMix
from openworld.metrics.thinning import kept_share
from openworld.results import METRICS, Comparison, Metric, Result, interval_of, over_seeds

ALL_RATIOS = "all ratios"
"""The mix that means and variances over the sweep are of."""

VARIANCES = {
    name: Metric(f"{name}_variance", f"variance of {METRICS[name].title}", "squared points", 2, -1, (0.0, None))
    for name in MIXED
}

Learners = Mapping[str, Sequence[Outcome]]


def shrunk_mixes(learners: Learners) -> Mapping[str, ShrunkMix]:
    """Both directions, as the first record has them; empty where a record does not hold them."""
    imbalances = [outcome.record.imbalance for outcomes in learners.values() for outcome in outcomes]
    return {direction: imbalances[0][direction] for direction in SHRUNK} if all(imbalances) else {}


def swept_mixes(learners: Learners) -> tuple[RatioMix, ...]:
    """The mixes of the sweep whose ratio every record holds, as the first record has them."""
    first, *others = (outcome.record.ratio_sweep for outcomes in learners.values() for outcome in outcomes)
    shared = set.intersection({mix.ratio for mix in first}, *({mix.ratio for mix in sweep} for sweep in others))
    return tuple(mix for mix in first if mix.ratio in shared)


def mix_results(learners: Learners, place: Place) -> Iterator[Result]:
    """Every number of every mix that the records hold: means over draws and seeds; deviations are those of one draw."""
    for direction in shrunk_mixes(learners):
        for learner, outcomes in learners.items():
            yield from _shrunk(learner, outcomes, direction, {**place, "mix": direction})
    for mix in swept_mixes(learners):
        for learner, outcomes in learners.items():
            sweeps = [{point.ratio: point for point in outcome.record.ratio_sweep} for outcome in outcomes]
            mixes = [sweep[mix.ratio] for sweep in sweeps]
            yield from _numbers(
                learner, outcomes, mixes, {**place, "ratio": float(mix.ratio), "new_share": mix.share_of_new}
            )
    if all(outcome.record.ratio_variation for outcomes in learners.values() for outcome in outcomes):
        for learner, outcomes in learners.items():
            yield from _variation(learner, outcomes, {**place, "mix": ALL_RATIOS})


def mix_comparisons(learners: Learners, place: Place, against: Sequence[str] = ()) -> Iterator[Comparison]:
    """The tests of all pairs, or `against` some, in both directions, corrected together in each."""
    for direction in shrunk_mixes(learners):
        scores = {
            learner: [_weigh(outcome, direction) for outcome in outcomes] for learner, outcomes in learners.items()
        }
        yield from compare_all(scores, {**place, "mix": direction}, against=against)


def _shrunk(learner: str, outcomes: Sequence[Outcome], direction: str, place: Place) -> Iterator[Result]:
    """Yield OpenworldAUC with the interval of the mean over all possible draws."""
    average = average_over_seeds([_weigh(outcome, direction) for outcome in outcomes])
    over_images = interval_of(average and average.interval(), "images", len(outcomes[0].test))
    for row in _numbers(learner, outcomes, [outcome.record.imbalance[direction] for outcome in outcomes], place):
        known = over_images if row.metric == AUC and row.value.value is not None else ()
        yield replace(row, value=replace(row.value, intervals=(*known, *row.value.intervals)))


def _numbers(learner: str, outcomes: Sequence[Outcome], mixes: Sequence[Mix], place: Place) -> Iterator[Result]:
    seeds = tuple(outcome.record.seed for outcome in outcomes)
    for name in MIXED:
        per_seed = tuple(getattr(mix, name) for mix in mixes)
        deviations = [getattr(mix.spread, name) for mix in mixes]
        spread = None if None in deviations else sqrt(np.mean(np.square(deviations)))
        value = replace(over_seeds(per_seed, METRICS[name]), deviation=spread)
        yield Result(learner, METRICS[name], value, place, seeds, per_seed)


def _variation(learner: str, outcomes: Sequence[Outcome], place: Place) -> Iterator[Result]:
    seeds = tuple(outcome.record.seed for outcome in outcomes)
    for name in MIXED:
        for metric, part in ((METRICS[name], "mean"), (VARIANCES[name], "variance")):
            per_seed = tuple(getattr(outcome.record.ratio_variation[name], part) for outcome in outcomes)
            reason = "it takes two ratios at least" if part == "variance" else ""
            yield Result(learner, metric, over_seeds(per_seed, metric, reason=reason), place, seeds, per_seed)


def _weigh(outcome: Outcome, direction: str) -> ImageScores:
    """Return the images, those of the shrunk half by their chance to be drawn."""
    side, test = SHRUNK[direction], outcome.test
    label = np.asarray(test.images["label"])
    share = kept_share(label[test.is_base == (side == "base")], outcome.record.imbalance[direction].factor)
    return replace(test, weights=(share, None) if side == "base" else (None, share))
