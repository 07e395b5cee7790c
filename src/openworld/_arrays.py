"""Validation of arrays: shapes, finite numbers, and messages that name the first offending indices."""

import numpy as np

from openworld._errors import OpenworldError


def as_scores(values, name: str) -> np.ndarray:
    """Anything NumPy can read as a finite float64[N]; NaN or infinity raises and names the first indices.

    >>> as_scores([1, 2.5], "score")
    array([1. , 2.5])
    """
    array = _as_array(values, name, np.float64)
    _require_vector(array, name)
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        raise OpenworldError(
            f"{name} holds {bad.size} value(s) that are NaN or infinite, first at index {_first(bad)}; "
            "every sample needs a finite number: drop or repair those samples before scoring."
        )
    return array


def as_correct(values, name: str, length: int | None = None) -> np.ndarray:
    """Anything NumPy can read as bool[N]; numbers must be 0 or 1.

    >>> as_correct([1, 0, True], "base_correct")
    array([ True, False,  True])
    """
    array = _as_array(values, name, None)
    _require_vector(array, name)
    if array.dtype != bool:
        if array.size and not np.isin(array, (0, 1)).all():
            odd = array[~np.isin(array, (0, 1))].tolist()[0]
            raise OpenworldError(f"{name} must hold True/False or 0/1; it holds {odd!r}.")
        array = array.astype(bool)
    if length is not None:
        require_length(array, name, length)
    return array


def as_labels(values, name: str, length: int | None = None) -> np.ndarray:
    """Anything NumPy can read as int64[N] class indices (0-based, not negative)."""
    array = _as_array(values, name, None)
    _require_vector(array, name)
    if array.size == 0:
        array = array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise OpenworldError(f"{name} must hold integer class indices; it has dtype {array.dtype}.")
    if array.size and array.min() < 0:
        raise OpenworldError(f"{name} holds the negative class index {array.min()}; classes count from 0.")
    if length is not None:
        require_length(array, name, length)
    return array.astype(np.int64)


def as_table(values, name: str, dimensions: tuple[int, ...], present=None) -> np.ndarray:
    """Anything NumPy can read as a finite float64 array whose number of dimensions is one of `dimensions`.

    Only entries where the bool mask `present` is True are looked at (None = all); the others become 0.

    >>> as_table([[1, 2], [3, 4]], "accuracy", (1, 2)).shape
    (2, 2)
    """
    array = _as_array(values, name, np.float64)
    if array.ndim not in dimensions:
        wanted = " or ".join(str(dimension) for dimension in dimensions)
        raise OpenworldError(f"{name} has shape {array.shape}, expected {wanted} dimension(s).")
    if present is not None:
        array = np.where(_as_mask(present, array.shape), array, 0.0)
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        where = bad[:, 0] if array.ndim == 1 else [tuple(index.tolist()) for index in bad]
        raise OpenworldError(
            f"{name} holds {len(bad)} value(s) that are NaN or infinite, first at index {_first(where)}; "
            "a missing number must be left out or masked by the caller, never passed as NaN."
        )
    return array


def as_fractions(values, name: str, dimensions: tuple[int, ...] = (1,)) -> np.ndarray:
    """Like `as_table`, and every value must lie in [0, 1]: fractions, not percent.

    >>> as_fractions([0.25, 1], "accuracy")
    array([0.25, 1.  ])
    """
    array = as_table(values, name, dimensions)
    outside = array[(array < 0) | (array > 1)]
    if outside.size:
        raise OpenworldError(f"{name} holds {outside[0]:g}, outside [0, 1]; pass fractions, not percent.")
    return array


def require_at_least(least: float, **numbers: float) -> None:
    """Raise unless every number is `least` or more; the message names the first that is not.

    >>> require_at_least(1, epochs=10, batch_size=32)
    """
    for name, number in numbers.items():
        if not number >= least:  # said so that NaN is refused too
            raise OpenworldError(f"{name} is {number}, expected {least} or more.")


def require_length(array: np.ndarray, name: str, length: int) -> None:
    """Raise unless `array` has `length` entries along its first axis."""
    if len(array) != length:
        raise OpenworldError(f"{name} has {len(array)} entries, expected {length}: one per sample.")


def _as_array(values, name: str, dtype) -> np.ndarray:
    try:
        return np.asarray(values, dtype=dtype)
    except (TypeError, ValueError, RuntimeError) as error:
        raise OpenworldError(f"{name} cannot be read as an array of numbers: {error}.") from error


def _as_mask(present, shape) -> np.ndarray:
    mask = np.asarray(present)
    if mask.dtype != bool or mask.shape != shape:
        raise OpenworldError(f"present has shape {mask.shape} and dtype {mask.dtype}, expected bool of shape {shape}.")
    return mask


def _require_vector(array: np.ndarray, name: str) -> None:
    if array.ndim != 1:
        raise OpenworldError(f"{name} has shape {array.shape}, expected one dimension: one entry per sample.")


def _first(indices, count: int = 5) -> str:
    shown = ", ".join(str(index) for index in indices[:count])
    return shown + (", ..." if len(indices) > count else "")
