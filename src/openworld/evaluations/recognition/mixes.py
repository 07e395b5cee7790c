"""Learners on other mixes of base and new images: with one half shrunk (imbalance), and over a sweep of ratios.

The records hold means over draws of the images. Which images a draw keeps is chance; how many of every class is not, so
the mean over all possible draws is OpenworldAUC with every image weighted by the share that its class keeps. Intervals
and tests are of that number, over images and clustered by group, as those of the natural mix are.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from openworld.evaluations.recognition.comparison import AUC, average_over_seeds, compare_all
from openworld.evaluations.recognition.outcome import ImageScores, Outcome
from openworld.evaluations.recognition.record import MIXED, Mix
from openworld.metrics.thinning import kept_share
from openworld.results import METRICS, Comparison, Metric, Result, interval_of, over_seeds

SHRUNK = {"forward": "new", "backward": "base"}
"""Which half has fewer images, by the paper's names of the two tasks."""

ALL_RATIOS = "all ratios"
"""The mix that means and variances over the sweep are of."""

VARIANCES = {
    name: Metric(f"{name}_variance", f"variance of {METRICS[name].title}", "squared points", 2, -1, (0.0, None))
    for name in MIXED
}

Learners = Mapping[str, Sequence[Outcome]]


@dataclass(frozen=True)
class ShrunkHalf:
    """What is done to the images in one direction: which half keeps one image in `factor`, and how often."""

    side: str
    factor: float
    resamples: int
    n_base: int
    n_new: int


def shrunk_halves(learners: Learners) -> dict[str, ShrunkHalf]:
    """Both directions; empty where a record does not hold them."""
    if not all(outcome.record.imbalance for own in learners.values() for outcome in own):
        return {}
    mixes = next(iter(learners.values()))[0].record.imbalance
    return {
        name: ShrunkHalf(side, *(getattr(mixes[name], part) for part in ("factor", "resamples", "n_base", "n_new")))
        for name, side in SHRUNK.items()
    }


def ratios(learners: Learners) -> tuple[float, ...]:
    """The ratios of the sweep that every record holds."""
    each = [[point.ratio for point in outcome.record.ratio_sweep] for own in learners.values() for outcome in own]
    return tuple(ratio for ratio in each[0] if all(ratio in own for own in each))


def share_of_new(learners: Learners, ratio: float) -> float:
    """The share of new images at a ratio of the sweep."""
    sweep = next(iter(learners.values()))[0].record.ratio_sweep
    point = next(point for point in sweep if point.ratio == ratio)
    return point.n_new / (point.n_base + point.n_new)


def mix_results(learners: Learners, place: Mapping) -> Iterator[Result]:
    """Every number of every mix that the records hold: means over draws and seeds; deviations are those of one draw."""
    for direction in shrunk_halves(learners):
        for name, own in learners.items():
            yield from _shrunk(name, own, direction, dict(place) | {"mix": direction})
    for ratio in ratios(learners):
        for name, own in learners.items():
            points = [next(one for one in outcome.record.ratio_sweep if one.ratio == ratio) for outcome in own]
            yield from _numbers(name, own, points, dict(place) | {"ratio": float(ratio)})
    if all(outcome.record.ratio_variation for own in learners.values() for outcome in own):
        for name, own in learners.items():
            yield from _variation(name, own, dict(place) | {"mix": ALL_RATIOS})


def mix_comparisons(learners: Learners, place: Mapping) -> tuple[Comparison, ...]:
    """The tests of all pairs in both directions, corrected together in each."""
    return tuple(
        test
        for direction in shrunk_halves(learners)
        for test in compare_all(
            {name: [_weighted(outcome, direction) for outcome in own] for name, own in learners.items()},
            dict(place) | {"mix": direction},
        )
    )


def _shrunk(learner: str, own: Sequence[Outcome], direction: str, place: Mapping) -> Iterator[Result]:
    """Of OpenworldAUC with the interval of the mean over all possible draws."""
    average = average_over_seeds([_weighted(outcome, direction) for outcome in own])
    ends = None if average is None or average.value is None else average.interval()
    over_images = interval_of(ends, "images", len(own[0].test.is_base))
    for row in _numbers(learner, own, [outcome.record.imbalance[direction] for outcome in own], place):
        intervals = (*over_images, *row.value.intervals) if row.metric == AUC and row.value.value is not None else ()
        yield replace(row, value=replace(row.value, intervals=intervals or row.value.intervals))


def _numbers(learner: str, own: Sequence[Outcome], mixes: Sequence[Mix], place: Mapping) -> Iterator[Result]:
    seeds = tuple(outcome.record.seed for outcome in own)
    for name in MIXED:
        per_seed = tuple(getattr(mix, name) for mix in mixes)
        value = over_seeds(per_seed, METRICS[name])
        deviations = [getattr(mix.spread, name) for mix in mixes]
        spread = None if None in deviations else sqrt(np.mean(np.square(deviations)))
        yield Result(learner, METRICS[name], replace(value, deviation=spread), place, seeds, per_seed)


def _variation(learner: str, own: Sequence[Outcome], place: Mapping) -> Iterator[Result]:
    seeds = tuple(outcome.record.seed for outcome in own)
    for name in MIXED:
        varied = [outcome.record.ratio_variation[name] for outcome in own]
        means, variances = (tuple(getattr(one, part) for one in varied) for part in ("mean", "variance"))
        yield Result(learner, METRICS[name], over_seeds(means, METRICS[name]), place, seeds, means)
        value = over_seeds(variances, VARIANCES[name], reason="it takes two ratios at least")
        yield Result(learner, VARIANCES[name], value, place, seeds, variances)


def _weighted(outcome: Outcome, direction: str) -> ImageScores:
    """The same images, those of the shrunk half by their chance to be drawn."""
    side, test = SHRUNK[direction], outcome.test
    label = np.asarray(test.images["label"])
    share = kept_share(label[test.is_base == (side == "base")], outcome.record.imbalance[direction].factor)
    return replace(test, weights=(share, None) if side == "base" else (None, share))
