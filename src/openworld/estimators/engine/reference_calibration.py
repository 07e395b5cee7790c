"""Test-time calibration (TTC) of a reference model: the temperature at which it speaks on the judged model's scale.

"Bridging Domain Expertise and Generalization for Performance Estimation" (FRAP), section 4.2: tau minimises the mean
Jensen-Shannon divergence between softmax(similarities / tau) and the judged model's probabilities, without labels.
The paper names no optimiser. Here the lowest of 41 points on log tau in [1e-3, 1e2] is found on some of the images;
from there, on all of them, the slope leads to the two points between which it turns, and Brent's method to its zero.
Random references end at the upper bound, where all classes are equally likely.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from math import exp, fsum

import numpy as np
from scipy.optimize import brentq

from openworld.core.arrays import as_distributions, as_table, require_size
from openworld.core.errors import OpenworldError
from openworld.core.types import checked
from openworld.estimators.engine.temperature import blocks

BOUNDS = (1e-3, 1e2)
POINTS = 41
NUMBERS, LEAST = 20_000, 200  # the points are compared on so many numbers, of at least so many images
PRECISION = 1e-12  # of log tau
TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True)
class ReferenceTemperature:
    """tau, the mean Jensen-Shannon divergence there in [0, ln 2], and a sentence where tau lies on a bound.

    informative: whether the reference tells classes apart at tau; if not, an estimate rests on the judged model alone.
    """

    value: float
    divergence: float
    warning: str | None = None
    informative: bool = True


@checked
def reference_temperature(base: np.ndarray, similarities: np.ndarray) -> ReferenceTemperature:
    """The tau at which the reference model's probabilities come nearest to the judged model's.

    Args:
        base: float64[n, C], probabilities of the judged model. similarities: float64[n, C] of the reference model.
    Raises:
        OpenworldError: rows of base that are no probabilities, shapes that differ, no image.
    Returns:
        ReferenceTemperature; the same to the last bit in any order of the images.
    Source: FRAP, equation 2.

    >>> base = np.array([[0.75, 0.25]])  # e^(.1 / tau) = 3 at tau = .1 / ln 3, where both are the same
    >>> round(reference_temperature(base, np.array([[0.2, 0.1]])).value, 5)
    0.09102
    """
    base = as_distributions(base, "base")
    similarities = require_size(as_table(similarities, "similarities", (2,)), "similarities")
    if base.shape != similarities.shape or not base.size:
        raise OpenworldError(
            f"base has shape {base.shape} and similarities {similarities.shape}, expected [n, C] alike, n >= 1."
        )
    both = _Pair(base, similarities)
    if not np.ptp(similarities, axis=1).any():
        return ReferenceTemperature(1.0, both.divergence(1.0), _FLAT, informative=False)
    grid = np.linspace(*np.log(BOUNDS), POINTS)
    few = slice(None, None, -(-len(base) // max(LEAST, NUMBERS // base.shape[1])))
    some = _Pair(base[few], similarities[few])
    slope = cache(lambda u: both.slope(exp(u)))
    # The point that rises (or is flat) and whose neighbour before falls; 0 or POINTS where there is none.
    place = int(np.argmin([some.divergence(exp(u)) for u in grid]))
    while place < POINTS and slope(grid[place]) < 0:
        place += 1
    while place > 0 and slope(grid[place - 1]) >= 0:
        place -= 1
    if place in (0, POINTS):
        end = BOUNDS[place > 0]
        return ReferenceTemperature(end, both.divergence(end), _UPPER if place else _LOWER, informative=not place)
    tau = exp(brentq(slope, grid[place - 1], grid[place], xtol=PRECISION))
    return ReferenceTemperature(tau, both.divergence(tau))


def divergence(base: np.ndarray, similarities: np.ndarray, temperature: float) -> float:
    """Return the mean Jensen-Shannon divergence of softmax(similarities / temperature) and base, in [0, ln 2]."""
    return _Pair(base, similarities).divergence(temperature)


class _Pair:
    """Probabilities of the judged model and similarities of the reference, with what no temperature changes."""

    def __init__(self, base: np.ndarray, similarities: np.ndarray):
        self.base, self.similarities = base, similarities
        self.entropies = np.concatenate([_entropies(base[rows]) for rows in blocks(*base.shape)])

    def divergence(self, temperature: float) -> float:
        """Mean over images."""
        divergences: list[float] = []
        for rows, q, logs in self._soften(temperature):
            entropies = -np.einsum("ij,ij->i", q, logs)
            middle = _entropies((self.base[rows] + q) / 2)
            divergences += (middle - (entropies + self.entropies[rows]) / 2).tolist()
        return max(0.0, fsum(divergences) / len(divergences))  # fsum: no order of the images shows in the last bit

    def slope(self, temperature: float) -> float:
        """Its derivative by log tau: mean of -1/2 sum_c q_c (l_c - sum_k q_k l_k) ln(q_c / m_c), with l = ln q."""
        slopes: list[float] = []
        for rows, q, logs in self._soften(temperature):
            centred = logs - np.einsum("ij,ij->i", q, logs)[:, None]
            ratio = logs - np.log(np.maximum((self.base[rows] + q) / 2, TINY))
            slopes += np.einsum("ij,ij->i", q * centred, ratio).tolist()
        return -fsum(slopes) / len(slopes) / 2

    def _soften(self, temperature: float) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
        """Rows, softmax(similarities / temperature) of them, and its logarithm, finite where the softmax is 0."""
        for rows in blocks(*self.base.shape):
            logs = self.similarities[rows] - self.similarities[rows].max(axis=1, keepdims=True)
            logs /= temperature
            q = np.exp(logs)
            total = q.sum(axis=1, keepdims=True)
            logs -= np.log(total)
            q /= total
            yield rows, q, logs


def _entropies(p: np.ndarray) -> np.ndarray:
    """-sum_c p_c ln p_c of each row; a probability of 0 adds 0."""
    return -np.einsum("ij,ij->i", p, np.log(np.maximum(p, TINY)))


_FLAT = "the reference is uninformative: it finds every class equally similar, so that its temperature is of no matter"
_UPPER = (
    f"the reference is uninformative: its best temperature is the upper bound {BOUNDS[1]:g}, where all classes are "
    "equally likely, so that the estimate rests on the judged model alone"
)
_LOWER = (
    f"the reference's best temperature is the lower bound {BOUNDS[0]:g}: the judged model is more certain than the "
    "reference's similarities can be made"
)
