"""One model, several seeds, the same test images: the mean, and its interval over images."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean

from openworld.core.errors import OpenworldError
from openworld.core.representation import short_repr
from openworld.core.types import checked
from openworld.metrics._openworld_auc import OpenworldAUC
from openworld.metrics.estimate import Estimated, MetricEstimate, combine


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
