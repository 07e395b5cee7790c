"""Correlation and signed sensitivity of a metric along shift levels, for one curve or a two-way shift table.

"Rethinking the Evaluation of Out-of-Distribution Detection: A Sorites Paradox" (IS-OOD, reference commit
e771abb): correlation is Pearson's, sensitivity the size of the least-squares slope per level. Here the slope
keeps its sign, and a missing cell is named by a mask: zero is a value (the reference drops cells that hold 0).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ldexp

import numpy as np

from openworld.core.arrays import ArrayLike, as_answers, as_mask, as_table, require_length, require_size
from openworld.core.errors import OpenworldError
from openworld.core.types import checked

ROUNDING = 1e-12  # means of equal cells may differ in the last bit; that is no trend


@dataclass(frozen=True)
class Trend:
    """Pearson `correlation` of a curve with its levels and its least-squares `slope` per level.

    `sensitivity` is |slope|, as IS-OOD prints it; what is undefined is None, with `reason`.
    """

    correlation: float | None
    slope: float | None
    sensitivity: float | None
    n: int
    reason: str | None = None


@dataclass(frozen=True)
class ShiftTrend:
    """Trends of a shift table along both axes; a level without any present cell is None in its curve."""

    semantic: Trend
    covariate: Trend
    semantic_curve: tuple[float | None, ...]
    covariate_curve: tuple[float | None, ...]


@checked
def trend(levels: ArrayLike, values: ArrayLike) -> Trend:
    """Pearson correlation of `values` with `levels`, and the signed slope of the line fitted to them.

    Args:
        levels: float[T], any order, any unit.
        values: float[T], the metric at each level; the slope is in its unit per unit of level.
    Returns:
        Trend; correlation in [-1, 1]. Both are None for fewer than two distinct levels; the correlation alone
        is None where the values are constant.
    Raises:
        OpenworldError: NaN or lengths that differ.
    Source: IS-OOD, "correlation" and "sensitivity" (Pearson; least-squares slope).

    >>> trend([1, 2, 3], [50, 70, 60])  # sum of products 10, of squared levels 2, of squared values 200
    Trend(correlation=0.5, slope=5.0, sensitivity=5.0, n=3, reason=None)
    """
    levels, values = (
        require_size(as_table(numbers, name, (1,)), name) for name, numbers in (("levels", levels), ("values", values))
    )
    require_length(values, "values", levels.size)
    if np.unique(levels).size < 2:
        return Trend(None, None, None, levels.size, "fewer than two distinct levels have a value")
    (x, up), (y, across) = (_scale(numbers - numbers.mean()) for numbers in (levels, values))
    try:
        slope = ldexp(float(x @ y / (x @ x)), across - up)
    except OverflowError:
        return Trend(
            None, None, None, levels.size, "the levels are too near to one another for a slope that is a number"
        )
    if np.ptp(values) <= ROUNDING * np.abs(values).max():
        return Trend(None, 0.0, 0.0, levels.size, "the values are constant, so they correlate with nothing")
    correlation = float(np.clip(x @ y / np.sqrt((x @ x) * (y @ y)), -1, 1))
    return Trend(correlation, slope, abs(slope), levels.size)


def _scale(values: np.ndarray) -> tuple[np.ndarray, int]:
    """Values over a power of two, and its exponent, so that no square of them overflows or is lost; no bit changes."""
    exponent = int(np.frexp(np.abs(values).max())[1])
    return np.ldexp(values, -exponent), exponent


@checked
def shift_trend(table: ArrayLike, present: ArrayLike | None = None, *, common: bool = False) -> ShiftTrend:
    """Trends of a table of one metric over covariate (rows) and semantic (columns) shift levels, 0 the nearest.

    Each axis gives a curve: the plain mean over the present cells of the other axis. Levels without a present
    cell are left out of its trend. With cells missing in a corner the two axes are no longer independent: a
    missing hard cell lifts the mean of its row, and moves the trend. `common` averages every level of an axis over the
    same levels of the other: those that are present wherever any cell is.

    Args:
        table: float[R, C], the metric per cell; cells that are not present may hold anything, NaN included.
        present: bool[R, C], True where a cell was measured; None = everywhere.
        common: on the common rows (semantic curve) and the common columns (covariate curve) only; where there is none
            the curve is all None.
    Returns:
        ShiftTrend; slopes in the unit of the table per level.
    Raises:
        OpenworldError: NaN in a present cell, a table that is not two-dimensional, a mask of another shape.
    Source: IS-OOD, Tables 1 and 2, and its released analysis (a cell <= 1e-16 counts as missing there, and it knows no
        `common`).

    >>> table, present = [[1.0, 3.0], [0.0, 99.0]], [[True, True], [True, False]]
    >>> shift_trend(table, present).semantic_curve, shift_trend(table, present, common=True).semantic_curve
    ((0.5, 3.0), (1.0, 3.0))
    """
    table = require_size(as_table(table, "table", (2,), present), "table")
    present = np.ones(table.shape, dtype=bool) if present is None else as_mask(present, "present", table.shape)
    upright, across = _axes(present, common)
    semantic, covariate = _curve(table.T, upright), _curve(table, across)
    return ShiftTrend(_trend_of(semantic), _trend_of(covariate), semantic, covariate)


@checked
def shift_weights(present: ArrayLike, *, common: bool = False) -> dict[str, tuple[np.ndarray, np.ndarray | None]]:
    """What every cell weighs in the curve and the slope of each axis of `shift_trend`, which is linear in the table.

    Args:
        present: bool[R, C], as there. common: as there.
    Returns:
        For "semantic" and for "covariate": float64[L, R, C] of the curve, rows of 0 at a level without a present cell,
        and float64[R, C] of the slope; None where there is none.

    >>> shift_weights([[True, True], [True, False]])["semantic"][1]  # 2nd column's cell less the mean of the 1st
    array([[-0.5,  1. ],
           [-0.5,  0. ]])
    """
    present = as_answers(present, "present")
    if present.ndim != 2:
        raise OpenworldError(f"present has shape {present.shape}, expected two: covariate x semantic levels.")
    upright, across = _axes(present, common)
    weights = {}
    for axis, cells in (("semantic", upright), ("covariate", across)):
        shares = cells / np.maximum(cells.sum(axis=1, keepdims=True), 1)  # of the mean of each level
        curve = np.eye(len(cells))[:, :, None] * shares
        curve = curve.transpose(0, 2, 1) if axis == "semantic" else curve
        levels = np.flatnonzero(curve.any(axis=(1, 2)))
        x = levels - levels.mean() if levels.size > 1 else levels
        weights[axis] = curve, np.tensordot(x / (x @ x), curve[levels], 1) if levels.size > 1 else None
    return weights


def _axes(present: np.ndarray, common: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the cells that count for each semantic and for each covariate level, on rows common to all if asked."""
    if not common:
        return present.T, present
    rows, columns = (
        part[:, part.any(axis=0)].all(axis=1) & part.any(axis=1) for part in (present, present.T)
    )  # that have every column that any row has
    return present.T & rows, present & columns


def _curve(table: np.ndarray, present: np.ndarray) -> tuple[float | None, ...]:
    return tuple(float(row[here].mean()) if here.any() else None for row, here in zip(table, present, strict=True))


def _trend_of(curve: Sequence[float | None]) -> Trend:
    points = [(level, value) for level, value in enumerate(curve, start=1) if value is not None]
    return trend([level for level, _ in points], [value for _, value in points])
