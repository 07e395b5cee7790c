"""Learners on other mixes of base and new images: with one half shrunk (imbalance), and over a sweep of ratios.

The records hold means over draws of the images. Which images a draw keeps is chance; how many of every class is not, so
the mean over all possible draws is OpenworldAUC with every image weighted by the share that its class keeps. Intervals
and tests are of that number, over images and clustered by group, as those of the natural mix are.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from openworld.evaluations.recognition.comparison import average_over_seeds, compare_all
from openworld.evaluations.recognition.outcome import Outcome
from openworld.evaluations.recognition.summary import Interval, Row, Table
from openworld.metrics.thinning import kept_share
from openworld.report.comparison import Comparison
from openworld.report.remembering import remembered

SHRUNK = {"forward": "new", "backward": "base"}
"""Which half has fewer images, by the paper's names of the two tasks."""

SWEPT = {
    "openworld_auc": "OpenworldAUC",
    "harmonic_mean": "HM",
    "auroc": "AUROC",
    "base_accuracy": "base",
    "new_accuracy": "new",
    "overall_accuracy": "overall accuracy",
}
"""The numbers of a sweep over ratios, as tables call them."""


@dataclass(frozen=True)
class Shrunk:
    """One learner with one half shrunk, its seeds joined; fractions in [0, 1], None where undefined.

    Args:
        openworld_auc, overall_accuracy: means over the draws and the seeds.
        over_images: 95 % of the mean over all possible draws, given the seeds.
        deviation: standard deviation of OpenworldAUC in one draw; None where there was but one.
    """

    learner: str
    openworld_auc: float | None
    over_images: Interval | None
    deviation: float | None
    overall_accuracy: float | None


@dataclass(frozen=True, eq=False)
class Imbalance:
    """All learners of a table with one half shrunk.

    Args:
        side: "base" or "new", the half that is shrunk; factor: by how much.
        resamples: how many draws every mean is of; n_base, n_new: images of a draw.
        learners: in the order of the table.
        comparisons: the tests of all pairs, corrected together (Holm).
    """

    side: str
    factor: float
    resamples: int
    n_base: int
    n_new: int
    learners: tuple[Shrunk, ...]
    comparisons: dict[tuple[str, str], Comparison]

    def compare(self, learner: str, other: str) -> Comparison | None:
        """The test of `learner` against `other`, or None for a learner against itself."""
        if learner == other:
            return None
        found = self.comparisons.get((learner, other))
        return found or self.comparisons[other, learner].reversed()


@remembered  # a page asks twice, for the table and for its download
def imbalance(table: Table, direction: str) -> Imbalance | None:
    """The learners of a table in one direction; None where a record does not hold it.

    Args:
        table: of `summarise`.
        direction: of SHRUNK.
    """
    outcomes = [outcome for row in table.rows for outcome in row.outcomes]
    if not all("imbalance" in outcome.metrics for outcome in outcomes):
        return None
    side, first = SHRUNK[direction], outcomes[0].metrics["imbalance"][direction]
    weighted = {row.learner: [_weighted(outcome, side, direction) for outcome in row.outcomes] for row in table.rows}
    learners = tuple(_shrunk(row, direction, weighted[row.learner]) for row in table.rows)
    told = (first[name] for name in ("factor", "resamples", "n_base", "n_new"))
    return Imbalance(side, *told, learners, compare_all(weighted))


def variation(row: Row) -> dict[str, tuple[float | None, float | None]]:
    """Of each of SWEPT the mean and the sample variance over the ratios, of one draw, means over draws and seeds.

    Empty where a record holds none. Fractions: 10,000 times a variance is in squared points, as the paper prints it.
    """
    found = [outcome.metrics.get("ratio_variation") for outcome in row.outcomes]
    if not all(found):
        return {}
    return {name: tuple(_mean([one[name][of] for one in found]) for of in ("mean", "variance")) for name in SWEPT}


def ratios(table: Table) -> tuple[float, ...]:
    """The ratios of the sweep that the table's records hold."""
    return tuple(point["ratio"] for point in table.rows[0].outcomes[0].metrics.get("ratio_sweep") or ())


def _weighted(outcome: Outcome, side: str, direction: str) -> Outcome:
    """The same images, those of the shrunk half by their chance to be drawn."""
    label = np.asarray(outcome.images["label"])
    share = kept_share(label[outcome.is_base == (side == "base")], outcome.metrics["imbalance"][direction]["factor"])
    return replace(outcome, weights=(share, None) if side == "base" else (None, share))


def _shrunk(row: Row, direction: str, weighted: Sequence[Outcome]) -> Shrunk:
    told = [outcome.metrics["imbalance"][direction] for outcome in row.outcomes]
    mean, deviations = average_over_seeds(weighted), [one["standard_deviation"] for one in told]
    return Shrunk(
        learner=row.learner,
        openworld_auc=_mean([one["openworld_auc"] for one in told]),
        over_images=None if mean is None or mean.value is None else mean.interval(),
        deviation=None if None in deviations else sqrt(np.mean(np.square(deviations))),
        overall_accuracy=_mean([one["overall_accuracy"] for one in told]),
    )


def _mean(values: Sequence[float | None]) -> float | None:
    return None if not values or None in values else float(np.mean(values))
