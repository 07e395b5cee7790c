"""One model, several seeds on the same test images, or several test sets: the mean, and its interval over images.

Over sets each counts the same, however large it is. Sets may share images, such as the base images that stand beside
the new ones of several data sets. What such an image does to the mean is the sum of what it does in every set, so that
it counts as one observation and not as several.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean

import numpy as np

from openworld.core.arrays import as_groups
from openworld.core.errors import OpenworldError
from openworld.core.representation import short_repr
from openworld.core.types import checked
from openworld.metrics._design import Design, design
from openworld.metrics._openworld_auc import OpenworldAUC
from openworld.metrics.estimate import Estimated, Influence, MetricEstimate, combine
from openworld.metrics.paired import estimate_of


@dataclass(frozen=True)
class SeedAverage(Estimated):
    """Mean of OpenworldAUC (`value`) over seeds; every other quantity by `estimate`.

    Standard error and interval are over images, given these seeds: each image contributes its mean over the seeds.
    """

    results: tuple[OpenworldAUC, ...] = field(repr=False)

    __repr__ = short_repr

    @property
    def value(self) -> float | None:
        return self.estimate().value

    @property
    def reason(self) -> str | None:
        """Why the value is None."""
        return self.estimate().reason

    def _make(self, of: str) -> MetricEstimate:
        each = [result.estimate(of) for result in self.results]
        for place, part in enumerate(each, 1):
            if part.reason:
                return MetricEstimate(None, f"result {place} of {len(each)}: {part.reason}")
        value, ceiling = fmean(map(float, each)), each[0]._ceiling if len(each) == 1 else None
        shares = [1 / len(each)] * len(each)
        return MetricEstimate(value, None, lambda: combine([part.influence for part in each], shares), ceiling)

    @checked
    def seed_values(self, of: str = "openworld_auc") -> tuple[float | None, ...]:
        """The quantity for each seed, in the order given."""
        return tuple(result.estimate(of).value for result in self.results)


@checked
def average(results: Sequence[OpenworldAUC]) -> SeedAverage:
    """Average results of several seeds on the same test images.

    Args:
        results: one OpenworldAUC per seed; same images in the same order, same weights and groups.
    Returns:
        SeedAverage; value in [0, 1], None if that of any seed is.
    Raises:
        OpenworldError: no result, or results that differ in sizes, weights or groups.

    >>> from openworld.metrics._openworld_auc import openworld_auc
    >>> seeds = [openworld_auc([2, 3], right, [1, 0], [1, 1]) for right in ([1, 1], [1, 0], [0, 0])]
    >>> average(seeds).value  # mean of 1, .5 and 0
    0.5
    """
    results = tuple(results)
    if not results:
        raise OpenworldError("average needs at least one result, one per seed.")
    for place, result in enumerate(results[1:], 2):
        if not result.samples.design.same_as(results[0].samples.design):
            raise OpenworldError(
                f"result {place} has other samples, weights or groups than the first "
                f"({result.n_base} base and {result.n_new} new against {results[0].n_base} and {results[0].n_new}); "
                "average only over seeds on the same test images."
            )
    return SeedAverage(results)


@checked
def mean_over_sets(results: Sequence, groups: Sequence[tuple], of: str = "openworld_auc") -> MetricEstimate:
    """The mean of a quantity over test sets, with standard error and interval over images.

    Args:
        results: one per set: OpenworldAUC results, averages over seeds, or Estimates.
        groups: for each set (base_groups, new_groups), integers or strings from one name space over all sets; equal
            labels are not independent, within a set or between two.
        of: which of QUANTITIES; ignored for Estimates.
    Returns:
        MetricEstimate; the value is None if that of any set is.
    Raises:
        OpenworldError: no result, or another number of groups than of results or samples.

    >>> from openworld.metrics._auroc import auroc
    >>> sets = [auroc([2, 4, 3], [1, 0]), auroc([2, 4, 3], [3.5, 0, 1])]
    >>> shared, own = ["a", "b", "c"], (["d", "e"], ["f", "g", "h"])
    >>> round(mean_over_sets(sets, [(shared, one) for one in own]).value, 3)  # of 6/6 and 7/9
    0.889
    """
    each = [estimate_of(result, of) for result in results]
    if not each or len(each) != len(groups):
        raise OpenworldError(f"{len(each)} results came with groups of {len(groups)} sets; give one pair per result.")
    for place, part in enumerate(each, 1):
        if part.value is None:
            return MetricEstimate(None, f"set {place} of {len(each)}: {part.reason}")
    mean = fmean(map(float, each))
    influences = [part.influence for part in each if part.influence is not None]
    if len(influences) < len(each):
        return MetricEstimate(mean)
    stacked = _stack(influences, groups)
    return MetricEstimate(mean, None, lambda: stacked)


def _stack(influences: list[Influence], groups: Sequence[tuple]) -> Influence:
    """Return all sets as one, in which the images of each have an equal weight in sum."""
    designs = [influence.design for influence in influences]
    sides = [[getattr(of_set, name) for of_set in designs] for name in ("base", "new")]
    sizes = tuple(sum(side.n for side in of_side) for of_side in sides)
    weights = tuple(
        np.concatenate(
            [np.full(side.n, 1 / side.n) if side.weights is None else side.weights / side.total for side in of_side]
        )
        for of_side in sides
    )
    labels = tuple(_labels(place, designs, groups) for place in (0, 1))
    parts = ([getattr(influence, name) for influence in influences] for name in ("base", "new"))
    values = (None if part[0] is None else np.concatenate(part) for part in parts)
    return Influence(design(sizes, weights, labels), *values)


def _labels(place: int, designs: list[Design], groups: Sequence[tuple]) -> np.ndarray:
    """Return groups of all base (place 0) or all new images (1), set after set."""
    name = ("base", "new")[place]
    if any(len(pair) != 2 for pair in groups):
        raise OpenworldError("groups must hold a pair (base_groups, new_groups) for each set.")
    labels = [
        as_groups(pair[place], f"{name}_groups", getattr(of_set, name).n)
        for pair, of_set in zip(groups, designs, strict=True)
    ]
    if len({label.dtype.kind in "US" for label in labels if label.size}) > 1:
        raise OpenworldError(f"{name}_groups mix numbers and strings over the sets; use one kind for all.")
    return np.concatenate(labels)
