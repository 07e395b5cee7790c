"""Probabilities in files of scores: as logits, also where they were rounded; and logits that are probabilities."""

import numpy as np

from openworld._errors import OpenworldError
from openworld.protocols._judging_layout import listed

EXACT = 1e-6
"""By which a row of float32 probabilities that nobody rounded may miss a sum of 1."""

WIDEST = 0.1
"""By which any row may miss it: where more is lost to rounding, the rest is no probability any more."""

_DIGITS = range(2, 7)  # float32 holds no more


def logarithms(probabilities: np.ndarray) -> np.ndarray:
    """Logits of probabilities float[n, C]: logarithms of rows that add up to 1.

    Rows that were rounded are divided by their sums. A 0 among numbers of d decimals says "less than half a unit of the
    last": all C classes share that half, which keeps the likelihood of a label that was rounded to 0 from deciding
    everything. Where numbers have all their decimals a 0 is the smallest number there is.

    Raises:
        OpenworldError: rows that are no probabilities, rounded or not.

    >>> logarithms(np.array([[1.0, 0.0], [0.98, 0.02]])).round(1).tolist()
    [[0.0, -6.0], [-0.0, -3.9]]
    """
    table = np.asarray(probabilities, np.float64)
    digits = _digits(table)
    wrong = np.flatnonzero(~_adds_up(table, digits) | (table < 0).any(axis=1))
    if wrong.size:
        raise OpenworldError(_complaint(table, wrong))
    sums = table.sum(axis=1, keepdims=True)
    table = np.where(_rounded(sums), table / sums, table)
    least = _half(digits) / table.shape[1] if digits in _DIGITS else np.finfo(np.float64).tiny
    return np.log(np.maximum(table, least))


def rounded_rows(probabilities: np.ndarray) -> int:
    """How many rows do not add up to 1 as they stand.

    >>> rounded_rows(np.array([[0.33, 0.33, 0.33], [0.5, 0.3, 0.2]]))
    1
    """
    return int(_rounded(np.asarray(probabilities, np.float64).sum(axis=1)).sum())


def are_probabilities(scores: np.ndarray) -> np.ndarray:
    """bool[n], whether a row of scores float[n, C] looks like a softmax: nothing below 0, and a sum of 1.

    >>> are_probabilities(np.array([[0.9, 0.1], [2.0, -1.0]])).tolist()
    [True, False]
    """
    return (scores >= 0).all(axis=1) & _adds_up(scores, _digits(scores))


def _rounded(sums: np.ndarray) -> np.ndarray:
    return np.abs(sums - 1) > EXACT


def _adds_up(table: np.ndarray, digits: int) -> np.ndarray:
    """bool[n], whether the sum is 1, but for what rounding to so many digits can move it (and at most `WIDEST`)."""
    with np.errstate(invalid="ignore"):
        off = np.abs(table.sum(axis=1) - 1)
    return off <= min(max(EXACT, table.shape[1] * _half(digits)), WIDEST)


def _digits(table: np.ndarray) -> int:
    """After how many decimals every number ends; one more than are looked at where one goes on."""
    ends = (count for count in _DIGITS if np.allclose(table, table.round(count), rtol=0, atol=1e-7))
    return next(ends, _DIGITS.stop)


def _half(digits: int) -> float:
    """Half a unit of the last decimal: by so much rounding moves a number at most."""
    return 0.5 * 10.0**-digits


def _complaint(table: np.ndarray, wrong: np.ndarray) -> str:
    row = table[wrong[0]]
    told = (
        f"{wrong.size} row(s) of probabilities are negative or do not add up to 1, first {wrong[0]}: "
        f"{listed(row.round(4).tolist())}"
    )
    if (table < 0).any() or np.isnan(table).any():
        return f"{told}; what a model says before the softmax belongs into columns called logits."
    if (np.abs(table.sum(axis=1) - 100) <= 100 * WIDEST).all():
        return f"{told}; these are percent: divide them by 100."
    return f"{told}, their sum is {row.sum():.4g}; save all classes, with enough digits for a sum of 1."
