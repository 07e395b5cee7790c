"""Test-time calibration (TTC) of a reference model: the temperature at which it speaks on the judged model's scale.

"Bridging Domain Expertise and Generalization for Performance Estimation" (FRAP), section 4.2: tau minimises the mean
Jensen-Shannon divergence between softmax(similarities / tau) and the judged model's probabilities, without labels.
The paper names no optimiser. Here the lowest of 201 points on log tau in [1e-3, 1e2] is found, and Brent's method
searches between its neighbours. Random references end at the upper bound, where all classes are equally likely.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, fsum

import numpy as np
from scipy.optimize import minimize_scalar

from openworld.estimators._temperature import blocks

BOUNDS = (1e-3, 1e2)
POINTS = 201
NUMBERS, LEAST = 200_000, 200  # the grid is looked at on so many numbers, of so many images; later steps look at all


@dataclass(frozen=True)
class ReferenceTemperature:
    """tau, the mean Jensen-Shannon divergence there in [0, ln 2], and a sentence where tau lies on a bound."""

    value: float
    divergence: float
    warning: str | None = None


def reference_temperature(base: np.ndarray, similarities: np.ndarray) -> ReferenceTemperature:
    """The tau at which the reference model's probabilities come nearest to the judged model's.

    Args:
        base: float64[n, C], probabilities of the judged model. similarities: float64[n, C] of the reference model.
    Returns:
        ReferenceTemperature; the same to the last bit in any order of the images.
    Source: FRAP, equation 2.

    >>> base = np.array([[0.75, 0.25]])  # e^(.1 / tau) = 3 at tau = .1 / ln 3, where both are the same
    >>> round(reference_temperature(base, np.array([[0.2, 0.1]])).value, 5)
    0.09102
    """
    if not np.ptp(similarities, axis=1).any():
        return ReferenceTemperature(1.0, divergence(base, similarities, 1.0), _FLAT)
    grid = np.linspace(*np.log(BOUNDS), POINTS)
    few = slice(None, None, -(-len(base) // max(LEAST, NUMBERS // base.shape[1])))
    coarse = [divergence(base[few], similarities[few], exp(point)) for point in grid]
    index = _descend(lambda i: divergence(base, similarities, exp(grid[i])), int(np.argmin(coarse)))
    near = minimize_scalar(
        lambda point: divergence(base, similarities, exp(point)),
        bounds=(grid[max(index - 1, 0)], grid[min(index + 1, POINTS - 1)]),
        method="bounded",
        options={"xatol": 1e-10},
    )
    if index in (0, POINTS - 1) and divergence(base, similarities, BOUNDS[index > 0]) <= near.fun:
        end = BOUNDS[index > 0]
        return ReferenceTemperature(end, divergence(base, similarities, end), _UPPER if index else _LOWER)
    return ReferenceTemperature(exp(near.x), float(near.fun))


def divergence(base: np.ndarray, similarities: np.ndarray, temperature: float) -> float:
    """Mean Jensen-Shannon divergence of softmax(similarities / temperature) and base, in [0, ln 2].

    >>> round(divergence(np.array([[1.0, 0.0]]), np.array([[0.0, 99.0]]), 0.1), 4)  # nothing in common: ln 2
    0.6931
    """
    found: list[float] = []
    for rows in blocks(*base.shape):
        p, shifted = base[rows], similarities[rows] - similarities[rows].max(axis=1, keepdims=True)
        shifted /= temperature
        q = np.exp(shifted)
        total = q.sum(axis=1)
        q /= total[:, None]
        own = np.log(total) - np.einsum("ij,ij->i", q, shifted)  # entropy of q, from its logarithm as it is
        found += (_entropies((p + q) / 2) - (own + _entropies(p)) / 2).tolist()
    return max(0.0, fsum(found) / len(found))  # fsum: no order of the images shows in the last bit


def _entropies(p: np.ndarray) -> np.ndarray:
    """-sum_c p_c ln p_c of each row; a probability of 0 adds 0."""
    return -np.einsum("ij,ij->i", p, np.log(np.maximum(p, np.finfo(np.float64).tiny)))


def _descend(height: Callable[[int], float], start: int) -> int:
    """The point of the grid from which neither neighbour lies lower, downhill from `start`."""
    known: dict[int, float] = {}
    while True:
        around = [i for i in (start, start - 1, start + 1) if 0 <= i < POINTS]
        known |= {i: height(i) for i in around if i not in known}
        lowest = min(around, key=known.__getitem__)
        if lowest == start:
            return start
        start = lowest


_FLAT = "the reference is uninformative: it finds every class equally similar, so that its temperature is of no matter"
_UPPER = (
    f"the reference is uninformative: its best temperature is the upper bound {BOUNDS[1]:g}, where all classes are "
    "equally likely, so that the estimate rests on the judged model alone"
)
_LOWER = (
    f"the reference's best temperature is the lower bound {BOUNDS[0]:g}: the judged model is more certain than the "
    "reference's similarities can be made"
)
