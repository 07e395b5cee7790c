"""Entries of score files as `Outputs` need them: tables of numbers, classes by number, probabilities as logits."""

from collections.abc import Sequence

import numpy as np

from openworld._errors import OpenworldError, unknown_name
from openworld._score_files import Columns
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


def score_table(columns: Columns, names: Sequence[str], order: Sequence[int] | None) -> np.ndarray:
    """Return float[n, C] of one wide column or of a column per class; `order` holds the places of classes there."""
    table = np.stack([columns[name] for name in names], axis=1) if ":" in names[0] else columns[names[0]]
    if table.ndim != 2:
        raise OpenworldError(f"column {names[0]} has shape {table.shape}, expected a row of numbers per image.")
    return table if order is None else table[:, order]


def class_numbers(labels: np.ndarray, classnames: Sequence[str] | None, order: Sequence[int] | None) -> np.ndarray:
    """Return class numbers of labels that are names, or numbers of classes in the order of the file."""
    labels = np.asarray(labels)
    if labels.dtype.kind == "f" and np.array_equal(labels, np.trunc(labels)) and np.isfinite(labels).all():
        labels = labels.astype(np.int64)  # whole numbers that passed through a data frame
    if labels.dtype.kind in "iu":
        if order is None or not np.isin(labels, order).all():  # numbers of no class are refused with the scores
            return labels
        return np.argsort(order)[labels]
    if labels.dtype.kind == "f":
        raise OpenworldError(
            "labels are fractions or infinite in some rows; every image needs a class, or none has one."
        )
    if classnames is None:
        raise OpenworldError("labels are names, but the classes have none; give numbers from 0, or class names.")
    number = {name: place for place, name in enumerate(classnames)}
    for name in labels.tolist():
        if name not in number:
            raise unknown_name("label", str(name), classnames)
    return np.array([number[name] for name in labels.tolist()], np.int64)


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
