"""One model on several test sets: the mean over the sets, each counting the same, however large it is.

Sets may share images, such as the base images that stand beside the new ones of several data sets. What such an image
does to the mean is the sum of what it does in every set, so that it counts as one observation and not as several.
"""

from collections.abc import Sequence
from statistics import fmean

import numpy as np

from openworld.core.arrays import as_groups
from openworld.core.errors import OpenworldError
from openworld.core.types import checked
from openworld.metrics._design import Design, design
from openworld.metrics.estimate import Influence, MetricEstimate
from openworld.metrics.paired import estimate_of


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
