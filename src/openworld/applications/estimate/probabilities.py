"""Probabilities in files of scores: as logits, also where they were rounded"""

import numpy as np

from openworld._errors import OpenworldError
from openworld.applications.estimate.columns import listed
from openworld.estimators.engine.probability_rows import (
    DIGITS,
    EXACT,
    WIDEST,
    adds_up,
    digits_of,
    half_unit,
    precision_of,
)

_LEAST_HALF = 2.0**-25
"""Half of the smallest float16: what a 0 in half precision stands for at most."""


def logarithms(probabilities: np.ndarray) -> np.ndarray:
    """Logits of probabilities float[n, C]: logarithms of rows that add up to 1.

    Rows that were rounded, to decimals or to half precision, are divided by their sums. A 0 among numbers of d decimals
    says "less than half a unit of the last": all C classes share that half, which keeps the likelihood of a label that
    was rounded to 0 from deciding everything. Where numbers have all decimals a 0 is the smallest number there is.

    Raises:
        OpenworldError: rows that are no probabilities, rounded or not.

    >>> logarithms(np.array([[1.0, 0.0], [0.98, 0.02]])).round(1).tolist()
    [[0.0, -6.0], [-0.0, -3.9]]
    """
    table = np.asarray(probabilities, np.float64)
    wrong = np.flatnonzero(~adds_up(table) | (table < 0).any(axis=1))
    if wrong.size:
        raise OpenworldError(_complaint(table, wrong))
    sums, least = table.sum(axis=1, keepdims=True), _nothing(table)
    table = np.where(_rounded(sums), table / sums, table)
    return np.log(np.maximum(table, least))


def rounded_rows(probabilities: np.ndarray) -> int:
    """How many rows do not add up to 1 as they stand.

    >>> rounded_rows(np.array([[0.33, 0.33, 0.33], [0.5, 0.3, 0.2]]))
    1
    """
    return int(_rounded(np.asarray(probabilities, np.float64).sum(axis=1)).sum())


def _rounded(sums: np.ndarray) -> np.ndarray:
    return np.abs(sums - 1) > EXACT


def _nothing(table: np.ndarray) -> float:
    """What a 0 stands for in these numbers."""
    digits = digits_of(table)
    if digits in DIGITS:
        return half_unit(digits) / table.shape[1]
    return _LEAST_HALF / table.shape[1] if precision_of(table) == "float16" else np.finfo(np.float64).tiny


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
