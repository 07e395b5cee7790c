"""Rows of scores that are probabilities: nothing below 0 and a sum of 1, but for what rounding makes of it."""

import numpy as np

from openworld.core.errors import OpenworldError
from openworld.tables.classes import listed

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


_LEAST_HALF = 2.0**-25  # half of the smallest float16: what a 0 in half precision stands for at most


def logarithms(probabilities: np.ndarray) -> np.ndarray:
    """Return logits of probabilities float[n, C]: logarithms of rows that add up to 1; refuse rows that are none."""
    table = np.asarray(probabilities, np.float64)
    wrong = np.flatnonzero(~adds_up(table) | (table < 0).any(axis=1))
    if wrong.size:
        raise OpenworldError(_complaint(table, wrong))
    sums, digits = table.sum(axis=1, keepdims=True), digits_of(table)
    if digits in DIGITS:
        least = half_unit(digits) / table.shape[1]
    else:
        least = _LEAST_HALF / table.shape[1] if precision_of(table) == "float16" else np.finfo(np.float64).tiny
    table = np.where(np.abs(sums - 1) > EXACT, table / sums, table)
    return np.log(np.maximum(table, least))


def rounded_rows(probabilities: np.ndarray) -> int:
    """Return how many rows do not add up to 1 as they stand."""
    sums = np.asarray(probabilities, np.float64).sum(axis=1)
    return int((np.abs(sums - 1) > EXACT).sum())


def _complaint(table: np.ndarray, wrong: np.ndarray) -> str:
    row = table[wrong[0]]
    what = (
        f"{wrong.size} row(s) of probabilities are negative or do not add up to 1, first {wrong[0]}: "
        f"{listed(row.round(4).tolist())}"
    )
    if (table < 0).any() or np.isnan(table).any():
        return f"{what}; what a model says before the softmax belongs into columns called logits."
    if (np.abs(table.sum(axis=1) - 100) <= 100 * WIDEST).all():
        return f"{what}; these are percent: divide them by 100."
    return f"{what}, their sum is {row.sum():.4g}; save all classes, with enough digits for a sum of 1."
