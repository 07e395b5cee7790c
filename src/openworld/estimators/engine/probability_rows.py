"""Rows of scores that are probabilities: nothing below 0 and a sum of 1, but for what rounding makes of it."""

import numpy as np

EXACT = 1e-6
"""By which a row of float32 probabilities that nobody rounded may miss a sum of 1."""

WIDEST = 0.1
"""By which any row may miss it: where more is lost to rounding, the rest is no probability any more."""

DIGITS = range(2, 7)  # float32 holds no more

_HALVES = {"float16": 2**-10, "bfloat16": 2**-7}
"""By how much a sum of 1 moves where every number was rounded to half precision, twice as much as one rounding."""


def are_probabilities(scores: np.ndarray) -> np.ndarray:
    """Return bool[n], whether a row of scores looks like a softmax: nothing below 0, a sum of 1, or of 100."""
    table = np.asarray(scores, np.float64)
    probable = np.zeros(len(table), bool)
    for whole in (1, 100):
        likely = np.flatnonzero((np.abs(table.sum(axis=1) / whole - 1) <= WIDEST) & (table >= 0).all(axis=1))
        probable[likely] = adds_up(table[likely] / whole)
    return probable


def adds_up(table: np.ndarray) -> np.ndarray:
    """bool[n], whether the sum is 1, but for what rounding can move it (and at most `WIDEST`)."""
    with np.errstate(invalid="ignore"):
        off = np.abs(table.sum(axis=1) - 1)
    moved = table.shape[1] * half_unit(digits_of(table))
    return off <= min(max(EXACT, moved, _HALVES.get(precision_of(table), 0)), WIDEST)


def precision_of(table: np.ndarray) -> str:
    """ "float16" or "bfloat16" where that holds every number, whatever they are kept as; else ""."""
    with np.errstate(over="ignore"):
        half, single = table.astype(np.float16), table.astype(np.float32)
    if np.array_equal(table, single) and not (single.view(np.uint32) & 0xFFFF).any():
        return "bfloat16"  # the coarser of the two
    return "float16" if np.array_equal(table, half) else ""


def digits_of(table: np.ndarray) -> int:
    """After how many decimals every number ends; one more than are looked at where one goes on."""
    ends = (count for count in DIGITS if np.allclose(table, table.round(count), rtol=0, atol=1e-7))
    return next(ends, DIGITS.stop)


def half_unit(digits: int) -> float:
    """Half a unit of the last decimal: by so much rounding moves a number at most."""
    return 0.5 * 10.0**-digits
