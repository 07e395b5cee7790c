"""Source temperature scaling (Guo et al., 2017): one divisor T of all logits, by least negative log-likelihood.

With b = 1/T the likelihood's slope is mean_i (E_p[z_i] - z_i,y), p = softmax(b z); it rises with b, so the optimum is
unique and a Newton step that leaves its bracket is replaced by halving. T stays in [0.01, 100]. The public code of COT
(luyuzhe111/COT @ 392c0ff) stops its L-BFGS early, up to 0.4 % off.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import sqrt

import numpy as np
from scipy.special import xlogy

from openworld.estimators.engine.outputs import Outputs

BOUNDS = (0.01, 100.0)
STEPS = 100
TOLERANCE = 1e-13  # of log T
BLOCK = 2**16  # numbers of a block of rows: what is computed at a time stays in the cache, 1.6 times as fast as 2**22


@dataclass(frozen=True)
class Temperature:
    """T, and a sentence where it could not be had as usual."""

    value: float
    # How far each image pulls ln T, float64[n]: their mean over a resample is, to first order, how much ln T differs
    # (the infinitesimal jackknife). 0 where T was not fitted.
    pulls: np.ndarray = field(repr=False)
    warning: str | None = None


def source_temperature(logits: np.ndarray, labels: np.ndarray) -> Temperature:
    """Return the T that makes softmax(logits / T) most likely; 1 with a warning where no image is named wrong."""
    if not Outputs(logits, labels).mistakes:
        return Temperature(1.0, np.zeros(len(logits)), _FAULTLESS)
    low, high = 1 / BOUNDS[1], 1 / BOUNDS[0]
    for end, least in ((low, True), (high, False)):
        slope = _slopes(logits, labels, end)[0]
        if slope >= 0 if least else slope <= 0:
            return Temperature(1 / end, np.zeros(len(logits)), _OUTSIDE)
    inverse = 1.0
    for _ in range(STEPS):  # Newton's steps, halving in log b where they leave the bracket
        slope, curvature = _slopes(logits, labels, inverse)
        low, high = (inverse, high) if slope < 0 else (low, inverse)
        following = inverse - slope / curvature if curvature > 0 else high
        if not low < following < high:
            following = sqrt(low * high)
        if abs(following - inverse) <= TOLERANCE * inverse or slope == 0:
            break
        inverse = following
    return Temperature(1 / inverse, _pulls(logits, labels, inverse))


def temperature_of(source: Outputs) -> Temperature:
    """Return `source_temperature` of labelled outputs, found once."""
    return source.once("temperature", lambda: source_temperature(source.logits, source.array("labels")))


_FAULTLESS = "no source image is named wrong, so no temperature can be fitted; 1 is used"
_OUTSIDE = f"the source likelihood has no optimum inside {BOUNDS}; its end is used"


def _slopes(logits: np.ndarray, labels: np.ndarray, inverse: float) -> tuple[float, float]:
    """First and second derivative of the mean negative log-likelihood by b = 1/T."""
    slope = curvature = 0.0
    for rows in blocks(*logits.shape):
        z = logits[rows]
        p = probabilities(z, 1 / inverse)
        products = p * z
        mean = products.sum(axis=1)
        slope += float((mean - z[np.arange(len(z)), labels[rows]]).sum())
        curvature += float((np.einsum("ij,ij->i", products, z) - mean**2).sum())
    return slope / len(logits), curvature / len(logits)


def _pulls(logits: np.ndarray, labels: np.ndarray, inverse: float) -> np.ndarray:
    """Slope of each image's own likelihood over the curvature of the mean, by ln T; they add up to 0."""
    pulls = np.empty(len(logits))
    for rows in blocks(*logits.shape):
        z = logits[rows]
        mean = np.einsum("ij,ij->i", probabilities(z, 1 / inverse), z)
        pulls[rows] = mean - z[np.arange(len(z)), labels[rows]]
    return pulls / (_slopes(logits, labels, inverse)[1] * inverse)


def probabilities(logits: np.ndarray, temperature: float) -> np.ndarray:
    """Return softmax(logits / temperature), float64[n, C]; rows add up to 1."""
    powers = np.exp((logits - logits.max(axis=1, keepdims=True)) / temperature)
    return powers / powers.sum(axis=1, keepdims=True)


def confidences(logits: np.ndarray, temperature: float) -> np.ndarray:
    """Largest probability of each row, float64[n] in (0, 1]."""
    largest = np.empty(len(logits))
    for rows in blocks(*logits.shape):
        z = logits[rows]
        largest[rows] = 1 / np.exp((z - z.max(axis=1, keepdims=True)) / temperature).sum(axis=1)
    return largest


def negative_entropies(logits: np.ndarray, temperature: float) -> np.ndarray:
    """Return sum_c p_c ln p_c of each row, float64[n] in [-ln C, 0]; a probability of 0 adds 0."""
    entropies = np.empty(len(logits))
    for rows in blocks(*logits.shape):
        p = probabilities(logits[rows], temperature)
        entropies[rows] = xlogy(p, p).sum(axis=1)
    return entropies


def confidences_of(outputs: Outputs, temperature: float) -> np.ndarray:
    """`confidences` of outputs, found once."""
    return outputs.per_image(("confidences", temperature), lambda own: confidences(own.logits, temperature))


def negative_entropies_of(outputs: Outputs, temperature: float) -> np.ndarray:
    """`negative_entropies` of outputs, found once."""
    return outputs.per_image(("entropies", temperature), lambda own: negative_entropies(own.logits, temperature))


def response(given: np.ndarray, logits: np.ndarray, temperature: float) -> float:
    """Return how much the mean of probabilities p_i,a(i) rises with ln T: the mean of p (sum_c p_c ln p_c - ln p)."""
    return float((given * negative_entropies(logits, temperature) - xlogy(given, given)).mean())


def blocks(rows: int, columns: int) -> Iterator[slice]:
    """Slices of rows that keep what is computed at a time small."""
    size = max(1, BLOCK // columns)
    return (slice(start, start + size) for start in range(0, rows, size))
