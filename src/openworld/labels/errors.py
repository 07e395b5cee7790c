"""The variance of an estimate over the draw, the weight of the proxies that makes it least, and over new images.

With e = psi - l psi^ the residual influence (psi^ that of the proxies), a batch contributes

    Poisson      V = N^-2 sum over labelled of (1 - q) / q^2 e^2
    strata       V = sum_h (N_h / N)^2 (1 - n_h / N_h) s_h^2(e) / n_h,   Satterthwaite (1946) degrees of freedom

times the square of its weight. One of several strata that showed no surprise may hold some: its s_h^2 is raised by
UNSEEN / n_h of the mean of psi^2, as if half a label more had been as far off as images are on average. The draw of the
labels is all the randomness there is for "these images"; for "images like these" the variance of the mean influence
over images (or groups of them) is added.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from openworld.labels.sample import Batch
from openworld.metrics.estimate import NO_VARIANCE, ROUNDING, Spread

UNSEEN = 0.5
"""How many labels of an average influence are added to those of each stratum; Jeffreys' half for a count."""


@dataclass(frozen=True, eq=False)
class Residuals:
    """A batch with psi and psi^ of the images it drew, float64[n] each, and the N of all images."""

    batch: Batch
    psi: np.ndarray
    hat: np.ndarray
    size: int

    def cross(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return what each stratum (Poisson: each image) adds to the covariance of the two totals' means."""
        batch = self.batch
        if batch.plan.is_poisson:
            q = batch.q[: batch.n]
            return batch.weight**2 * (1 - q) / q**2 * first * second / self.size**2
        drawn = np.maximum(batch.drawn, 1)
        centred = [values - (np.bincount(batch.stratum, values) / drawn)[batch.stratum] for values in (first, second)]
        covariance = np.bincount(batch.stratum, centred[0] * centred[1]) / np.maximum(batch.drawn - 1, 1)
        return batch.weight**2 * self.factors * covariance

    @cached_property
    def factors(self) -> np.ndarray:
        """Return (N_h / N)^2 (1 - n_h / N_h) / n_h of each stratum."""
        batch = self.batch
        share = batch.held / self.size
        return share**2 * (1 - batch.drawn / batch.held) / np.maximum(batch.drawn, 1)


def best_trust(parts: Sequence[Residuals]) -> float:
    """Return l*, the weight of the proxies, in [0, 1], with which the variance is least."""
    shared = sum(float(part.cross(part.psi, part.hat).sum()) for part in parts)
    own = sum(float(part.cross(part.hat, part.hat).sum()) for part in parts)
    return min(max(shared / own, 0.0), 1.0) if own > ROUNDING**2 else 0.0


def variance(parts: Sequence[Residuals], trust: float) -> tuple[float, float]:
    """Return the variance over the draw, and its degrees of freedom."""
    total = loose = 0.0
    weighed = [(part.batch.weight / part.batch.q[: part.batch.n], part.psi**2) for part in parts]
    # the mean of psi^2 over all images, from those drawn
    average = sum(float(each @ square) for each, square in weighed) / sum(float(each.sum()) for each, _ in weighed)
    for part in parts:
        error = part.psi - trust * part.hat
        terms = part.cross(error, error)
        if not part.batch.plan.is_poisson and part.batch.drawn.size > 1:
            unseen = UNSEEN * average / np.maximum(part.batch.drawn, 1)
            terms = terms + part.batch.weight**2 * part.factors * unseen
        total += float(terms.sum())
        if part.batch.plan.is_poisson:
            loose += float(np.square(terms).sum() - terms.sum() ** 2 / max(terms.size, 1)) / 2
        else:
            loose += float((terms**2 / np.maximum(part.batch.drawn - 1, 1)).sum())
    most = max(sum(part.batch.n for part in parts) - 1, 1)
    return total, float(min(total**2 / loose, most)) if loose > 0 else float(most)


def over_images(batches: Sequence[Batch], psi: Sequence[np.ndarray], pseudo: np.ndarray, groups: np.ndarray | None):
    """Return the variance of the mean influence over images like these, and its degrees of freedom."""
    # psi float64[m] is of each batch's images, pseudo float64[N] of the pseudo-outcomes, groups int64[N] are codes.
    size = pseudo.size
    alone = sum(batch.weight * float((each**2 / batch.q).sum()) for batch, each in zip(batches, psi, strict=True))
    if groups is None:
        return alone / (size * (size - 1)), float(size - 1)
    together = float(np.square(np.bincount(groups, pseudo)).sum() - np.square(pseudo).sum())
    count = int(groups.max()) + 1
    return max(alone + together, alone) / size**2 * count / max(count - 1, 1), float(max(count - 1, 1))


def spread_of(total: float, degrees: float, groups: tuple[float, ...]) -> Spread:
    error = float(np.sqrt(total))
    return Spread(None, None, NO_VARIANCE, groups) if error <= ROUNDING else Spread(error, degrees, None, groups)
