"""Confidence-weighted fusion (CWF): one distribution between the judged model's and a reference model's.

"Bridging Domain Expertise and Generalization for Performance Estimation" (FRAP), section 4.1. The equations are lost
in print; each reading of the words is an option:

    weights    "linear": w_b = c_b / (c_b + c_f), with c the largest probability of each; "softmax": of (c_b, c_f)
    fusion     "arithmetic": w_b p_b + w_f p_f, which minimises sum w KL(p || q), and sum w ||p - q||^2 too;
               "geometric": p_b^w_b p_f^w_f, normalised, which minimises sum w KL(q || p)
"""

from typing import Literal

import numpy as np
from scipy.special import expit, logsumexp

from openworld._arrays import as_distributions
from openworld._errors import OpenworldError
from openworld._types import checked

Weighting = Literal["linear", "softmax"]
Fusion = Literal["arithmetic", "geometric"]


@checked
def base_weights(base: np.ndarray, reference: np.ndarray, weighting: Weighting = "linear") -> np.ndarray:
    """Weight of the judged model for each image, float64[n] in (0, 1); the reference's is 1 minus it.

    Args:
        base, reference: float64[n, C], probabilities of the judged and of the reference model.
    Raises:
        OpenworldError: rows that are no probabilities, shapes that differ.

    >>> base_weights(np.array([[0.9, 0.1]]), np.array([[0.4, 0.6]]))
    array([0.6])
    """
    of_base, of_reference = (rows.max(axis=1) for rows in _pair(base, reference))
    return of_base / (of_base + of_reference) if weighting == "linear" else expit(of_base - of_reference)


@checked
def fuse(
    base: np.ndarray, reference: np.ndarray, *, weighting: Weighting = "linear", fusion: Fusion = "arithmetic"
) -> np.ndarray:
    """The fused distribution q, float64[n, C]; rows add up to 1.

    Args:
        base, reference: float64[n, C], probabilities of the judged and of the reference model, the latter calibrated.
    Source: FRAP, section 4.1.

    >>> fuse(np.array([[0.9, 0.1]]), np.array([[0.4, 0.6]])).round(2).tolist()  # .6 * (.9, .1) + .4 * (.4, .6)
    [[0.7, 0.3]]
    """
    base, reference = _pair(base, reference)
    weights = base_weights(base, reference, weighting)[:, None]
    if fusion == "arithmetic":
        return weights * base + (1 - weights) * reference
    # a probability that underflowed to 0 keeps its logarithm finite, or a class refused by both would be 0 / 0
    least = np.finfo(np.float64).tiny
    logs = weights * np.log(np.maximum(base, least)) + (1 - weights) * np.log(np.maximum(reference, least))
    return np.exp(logs - logsumexp(logs, axis=1, keepdims=True))


def _pair(base, reference) -> tuple[np.ndarray, np.ndarray]:
    base, reference = as_distributions(base, "base"), as_distributions(reference, "reference")
    if base.shape != reference.shape:
        raise OpenworldError(f"reference has shape {reference.shape}, expected {base.shape} like base.")
    return base, reference
