"""Probabilities in files of scores: as logits, also where they were rounded; and logits that are probabilities."""

import numpy as np

from openworld._errors import OpenworldError
from openworld.protocols._judging_layout import listed

EXACT = 1e-6
"""By which a row of float32 probabilities that nobody rounded may miss a sum of 1."""

WIDEST = 0.1
"""By which any row may miss it: where more is lost to rounding, the rest is no probability any more."""

_DIGITS = range(2, 7)  # float32 holds no more

_HALVES = {"float16": 2**-10, "bfloat16": 2**-7}
"""By how much a sum of 1 moves where every number was rounded to half precision, twice as much as one rounding."""

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
    wrong = np.flatnonzero(~_adds_up(table) | (table < 0).any(axis=1))
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


def are_probabilities(scores: np.ndarray) -> np.ndarray:
    """bool[n], whether a row of scores float[n, C] looks like a softmax: nothing below 0, and a sum of 1, or of 100.

    >>> are_probabilities(np.array([[0.9, 0.1], [90.0, 10.0], [2.0, -1.0]])).tolist()
    [True, True, False]
    """
    table = np.asarray(scores, np.float64)
    found = np.zeros(len(table), bool)
    for whole in (1, 100):
        likely = np.flatnonzero((np.abs(table.sum(axis=1) / whole - 1) <= WIDEST) & (table >= 0).all(axis=1))
        found[likely] = _adds_up(table[likely] / whole)
    return found


def _rounded(sums: np.ndarray) -> np.ndarray:
    return np.abs(sums - 1) > EXACT


def _adds_up(table: np.ndarray) -> np.ndarray:
    """bool[n], whether the sum is 1, but for what rounding can move it (and at most `WIDEST`)."""
    with np.errstate(invalid="ignore"):
        off = np.abs(table.sum(axis=1) - 1)
    moved = table.shape[1] * _half(_digits(table))
    return off <= min(max(EXACT, moved, _HALVES.get(_precision(table), 0)), WIDEST)


def _precision(table: np.ndarray) -> str:
    """ "float16" or "bfloat16" where that holds every number, whatever they are kept as; else ""."""
    with np.errstate(over="ignore"):
        half, single = table.astype(np.float16), table.astype(np.float32)
    if np.array_equal(table, single) and not (single.view(np.uint32) & 0xFFFF).any():
        return "bfloat16"  # the coarser of the two
    return "float16" if np.array_equal(table, half) else ""


def _nothing(table: np.ndarray) -> float:
    """What a 0 stands for in these numbers."""
    digits = _digits(table)
    if digits in _DIGITS:
        return _half(digits) / table.shape[1]
    return _LEAST_HALF / table.shape[1] if _precision(table) == "float16" else np.finfo(np.float64).tiny


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
