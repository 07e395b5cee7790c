"""Validation of arrays: what counts as a number, shapes, and messages that name the first offending indices.

Everything that a user gives passes through `as_array`: booleans, integers and floats of any width, byte order and
strides come out as NumPy's own; what is no plain number (complex, dates, records, text) or hides some (a mask) is
refused. Nothing is ever written into the arrays that came.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any, Protocol

import numpy as np

from openworld.core.errors import OpenworldError
from openworld.core.reading import Range

LARGEST = 1e140
"""The largest size of a number that is squared somewhere: its square, times any number of samples, is finite."""
SUM_ROUNDING = 1e-4  # a float32 softmax over thousands of classes need not sum to 1 exactly
MANY = 10_000_000
"""The most classes, bins or resamples that may be asked for: as many numbers are kept, and more would fill memory."""
LARGEST_LABEL = 2**31 - 1
"""The largest class index; NumPy writes outside its memory when it counts labels near 2^63."""
_PLAIN = (bool, np.bool_, Real, Decimal)


class ArrayLike(Protocol):
    """Numbers that NumPy can read: a list, an array, a column of a data frame, a torch tensor on the CPU."""

    def __len__(self) -> int: ...

    def __getitem__(self, place: Any, /) -> Any: ...


def as_array(values: ArrayLike, name: str) -> np.ndarray:
    """Anything NumPy can read as plain numbers, of any shape: bool, integers or floats in native byte order.

    Arrays of objects that are numbers, columns and torch tensors on the CPU too; None among numbers is NaN.
    """
    array = _from_objects(as_entries(values, name), name)
    if array.dtype.kind not in "biuf":
        held = f" and holds {_short(array.ravel()[:1].tolist()[0])}" if array.size else ""
        raise OpenworldError(
            f"{name} has dtype {array.dtype}{held}, expected plain numbers (bool, integer or float); convert it first."
        )
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def as_entries(values: Any, name: str) -> np.ndarray:
    """What NumPy makes of values, of whatever dtype; a mask that hides something raises."""
    _require_no_mask(values, name)
    try:
        return np.asarray(values.detach() if hasattr(values, "detach") else values)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise OpenworldError(f"{name} cannot be read as an array of numbers: {error}.") from error


def as_groups(values: ArrayLike, name: str, length: int | None = None) -> np.ndarray:
    """Labels of groups, integer[N] or string[N]; objects that are all integers or all text are read as such."""
    array = as_entries(values, name)
    if array.dtype.kind in "OT" and all(isinstance(value, str) for value in array.ravel()):
        array = np.array(array.tolist(), dtype=str)
    array = _from_objects(array, name)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iuUS"):
        raise OpenworldError(
            f"{name} has shape {array.shape} and dtype {array.dtype}, expected one integer or string per sample."
        )
    require_length(array, name, length)
    return array


def as_scores(values: ArrayLike, name: str) -> np.ndarray:
    """Anything NumPy can read as a finite float64[N]; NaN or infinity raises and names the first indices."""
    array = _floats(values, name)
    _require_vector(array, name)
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        raise OpenworldError(
            f"{name} holds {bad.size} value(s) that are NaN or infinite, first at index {_first(bad)}; "
            "every sample needs a finite number: drop or repair those samples before scoring."
        )
    return array


def as_correct(values: ArrayLike, name: str, length: int | None = None) -> np.ndarray:
    """Anything NumPy can read as bool[N]; numbers must be 0 or 1."""
    array = as_answers(values, name)
    _require_vector(array, name)
    require_length(array, name, length)
    return array


def as_answers(values: ArrayLike, name: str) -> np.ndarray:
    """Like `as_correct`, of any shape."""
    array = as_array(values, name)
    if array.dtype == bool:
        return array
    odd = array[~np.isin(array, (0, 1))]
    if odd.size:
        raise OpenworldError(f"{name} must hold True/False or 0/1; it holds {odd.tolist()[0]!r}.")
    return array.astype(bool, copy=False)


def as_labels(values: ArrayLike, name: str, length: int | None = None) -> np.ndarray:
    """Anything NumPy can read as int64[N] class indices (0-based, not negative, at most `LARGEST_LABEL`)."""
    array = as_array(values, name)
    _require_vector(array, name)
    if array.size == 0:
        array = array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise OpenworldError(f"{name} must hold integer class indices; it has dtype {array.dtype}.")
    if array.size and array.min() < 0:
        raise OpenworldError(f"{name} holds the negative class index {array.min()}; classes count from 0.")
    if array.size and array.max() > LARGEST_LABEL:
        raise OpenworldError(
            f"{name} holds {array.max()}, expected class indices of at most {LARGEST_LABEL}; number the classes from 0."
        )
    require_length(array, name, length)
    return array.astype(np.int64)


def as_table(values: ArrayLike, name: str, dimensions: tuple[int, ...], present=None) -> np.ndarray:
    """A finite float64 array of one of `dimensions`; entries where the mask `present` is False become 0."""
    array = _floats(values, name)
    if array.ndim not in dimensions:
        wanted = " or ".join(str(dimension) for dimension in dimensions)
        raise OpenworldError(f"{name} has shape {array.shape}, expected {wanted} dimension(s).")
    if present is not None:
        array = np.where(as_mask(present, "present", array.shape), array, 0.0)
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        where = bad[:, 0] if array.ndim == 1 else [tuple(index.tolist()) for index in bad]
        raise OpenworldError(
            f"{name} holds {len(bad)} value(s) that are NaN or infinite, first at index {_first(where)}; "
            "a missing number must be left out or masked by the caller, never passed as NaN."
        )
    return array


def as_fractions(values: ArrayLike, name: str, dimensions: tuple[int, ...] = (1,)) -> np.ndarray:
    """Like `as_table`, and every value must lie in [0, 1]: fractions, not percent."""
    array = as_table(values, name, dimensions)
    outside = array[(array < 0) | (array > 1)]
    if outside.size:
        raise OpenworldError(f"{name} holds {outside[0]:g}, outside [0, 1]; pass fractions, not percent.")
    return array


MOST = {
    "threads": 1024,
    "views": 10_000,
    "shots": 1_000_000,
    "epochs": 1_000_000,
    "resamples": 1_000_000,
    "steps": 10_000_000,
    "side": 2**14,
    **dict.fromkeys(("detectors", "levels"), 1000),
    **dict.fromkeys(
        ("context_length", "text_length", "image_length", "prompts", "contexts", "global_contexts", "per_step"), 10_000
    ),
    **dict.fromkeys(("tokens", "token_width", "depth", "text_depth", "image_depth", "block", "reduction"), 10_000),
}
"""The largest values of settings that tell how much work there is: more ends in no memory, or never."""
LARGEST_NUMBER, MOST_SEEDS = 2**63 - 1, 1000


def as_distributions(values: ArrayLike, name: str) -> np.ndarray:
    """Probabilities of classes, float64[N, C]: not negative, and every row sums to 1."""
    table = as_table(values, name, (2,))
    if len(table) and not table.shape[1]:
        raise OpenworldError(f"{name} has shape {table.shape}, expected at least one class.")
    require_size(table, name)
    sums = table.sum(axis=1)
    odd = np.flatnonzero((np.abs(sums - 1) > SUM_ROUNDING) | (table < 0).any(axis=1))
    if odd.size:
        raise OpenworldError(
            f"row {odd[0]} of {name} sums to {sums[odd[0]]:g} with smallest value {table[odd[0]].min():g}; pass "
            "probabilities, not logits or percent."
        )
    return table


def require_at_least(least: float, **numbers: float) -> None:
    """Raise unless every number is `least` or more, and at most what `MOST` or a machine's integer allows."""
    for name, number in numbers.items():
        if not number >= least:  # said so that NaN is refused too
            raise OpenworldError(f"{name} is {number}, expected {least} or more.")
        most = MOST.get(name.partition("[")[0], LARGEST_NUMBER) if isinstance(number, int) else LARGEST
        if number > most:
            raise OpenworldError(f"{name} is {number}, expected at most {most}.")


def require_fraction(ends: str = "()", /, **numbers: float | None) -> None:
    """Raise unless every number is a fraction, or None; `ends` as of `Range` say whether 0 and 1 may come."""
    limits = Range(0, 1, ends)
    for name, number in numbers.items():
        if number is not None and (isinstance(number, bool) or not isinstance(number, Real)):
            raise OpenworldError(f"{name} is {number!r}, expected {limits.words}, such as 0.05.")
        if number is not None:
            limits.require(number, name)


def require_seeds(seeds: Sequence[int]) -> None:
    """Raise unless seeds are not negative, fit into 63 bits, and are at most `MOST_SEEDS`."""
    if len(seeds) > MOST_SEEDS:
        raise OpenworldError(f"{len(seeds)} seeds came, expected at most {MOST_SEEDS}.")
    require_at_least(0, **{f"seeds[{place}]": seed for place, seed in enumerate(seeds)})


def require_at_most(most: float, **numbers: float) -> None:
    """Raise unless every number is `most` or less; the message names the first that is not."""
    for name, number in numbers.items():
        if not number <= most:
            raise OpenworldError(f"{name} is {number}, expected {most} or less.")


def require_length(array: np.ndarray, name: str, length: int | None) -> None:
    """Raise unless `array` has `length` entries along its first axis; None for any number."""
    if length is not None and len(array) != length:
        raise OpenworldError(f"{name} has {len(array)} entries, expected {length}: one per sample.")


def require_once(names: Iterable[str], where: Any) -> None:
    """Raise where two columns have one name."""
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        raise OpenworldError(f"{where} has two columns {twice}; keep one of them.")


def require_size(array: np.ndarray, name: str) -> np.ndarray:
    """The array itself; a number larger than `LARGEST` is refused, because its square would be infinite."""
    if array.size and (size := np.abs(array).max()) > LARGEST:
        raise OpenworldError(f"{name} holds a number of size {size:g}, expected at most {LARGEST:g}; use another unit.")
    return array


def as_mask(values: ArrayLike, name: str, shape: tuple[int, ...]) -> np.ndarray:
    """bool array of a shape; numbers must be 0 or 1."""
    mask = as_answers(values, name)
    if mask.shape != shape:
        raise OpenworldError(f"{name} has shape {mask.shape}, expected bool of shape {shape}.")
    return mask


def _floats(values, name: str) -> np.ndarray:
    with np.errstate(over="ignore"):  # wider floats may become infinite, which the caller refuses
        return as_array(values, name).astype(np.float64, copy=False)


def _from_objects(array: np.ndarray, name: str) -> np.ndarray:
    """An array of Python numbers as an array of numbers; any other as it is."""
    if array.dtype.kind != "O":
        return array
    for place, value in enumerate(array.flat):
        if value is not None and not isinstance(value, _PLAIN):
            raise OpenworldError(
                f"{name} holds {_short(value)} ({type(value).__name__}) at position {place}, expected a number."
            )
    numbers = [np.nan if value is None else value for value in array.flat]
    try:
        result = np.array(numbers)
        result = result.astype(np.float64) if result.dtype.kind == "O" else result
    except OverflowError as error:
        raise OpenworldError(f"{name} holds an integer too large for a number: {error}.") from error
    return result.reshape(array.shape)


def _require_no_mask(values, name: str) -> None:
    parts = values if isinstance(values, Sequence) and not isinstance(values, str | bytes) else ()
    if not any(issubclass(kind, np.ma.MaskedArray) for kind in {type(values), *map(type, parts)}):
        return
    hidden = sum(int(np.ma.count_masked(one)) for one in (values, *parts) if isinstance(one, np.ma.MaskedArray))
    if hidden:
        raise OpenworldError(
            f"{name} has a mask that hides {hidden} value(s), which would be used like all others; drop them, as "
            "values.compressed() does, from everything that belongs to them."
        )


def _short(value) -> str:
    try:
        return repr(value)[:60]
    except Exception:  # another package's repr, or an integer too long to be written
        return "a value"


def _require_vector(array: np.ndarray, name: str) -> None:
    if array.ndim != 1:
        raise OpenworldError(f"{name} has shape {array.shape}, expected one dimension: one entry per sample.")


def _first(indices) -> str:
    return ", ".join(map(str, indices[:5])) + (", ..." if len(indices) > 5 else "")


def array_of(self: Any, name: str, what: str = "this") -> np.ndarray:
    """Return an array that outputs must hold, by the name of its field; `what` says what for. A method of theirs."""
    self.require((name,), what)
    return getattr(self, name)
