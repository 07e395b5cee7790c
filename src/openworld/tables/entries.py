"""The entries of columns: tables in Python as arrays, and what is no number, missing, masked or text, by its rows.

A column has one entry per image: numbers or text [n], or a row of numbers per image [n, C].
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from openworld.core.arrays import as_array, as_entries, require_once
from openworld.core.errors import OpenworldError
from openworld.tables.coded import Coded

Columns = dict[str, Any]  # arrays, and text as `Coded`


def is_table(what: Any) -> bool:
    """Whether this is a table in Python, as `columns_of` takes it."""
    return isinstance(what, Mapping) or hasattr(what, "columns") or hasattr(what, "column_names")


def column_names(table: Any) -> list[str]:
    """Return the names of the columns of a table in Python, as text."""
    if isinstance(table, Mapping):
        return list(map(str, table))
    names = getattr(table, "column_names", None)  # of pyarrow and datasets
    return [str(name) for name in (table.columns if names is None else names)]


def columns_of(table: Any, name: str = "the table") -> Columns:
    """Return {name: array} of a mapping of arrays or lists, or of a table of pandas, polars, pyarrow or `datasets`.

    Columns of lists become [n, C].
    """
    if not is_table(table):
        raise OpenworldError(
            f"{name} came as {type(table).__name__}, expected a mapping of arrays, or a table of pandas, polars, "
            "pyarrow or datasets."
        )
    require_once(column_names(table), name)
    names = table if isinstance(table, Mapping) else getattr(table, "column_names", None) or table.columns
    columns = {str(one): as_column(table[one], f"column {one} of {name}") for one in names}
    single = next((one for one, column in columns.items() if not column.ndim), None)
    if single is not None:
        raise OpenworldError(f"column {single} of {name} is a single value, expected one entry per image.")
    require_one_length(name, {one: len(column) for one, column in columns.items()})
    return columns


def as_column(values: Any, what: str) -> np.ndarray:
    """Return the values of a column as an array: a matrix of lists, None for every mark of a missing value."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
    elif hasattr(values, "to_numpy"):
        values = values.to_numpy()
    elif isinstance(values, list | tuple) and len({isinstance(entry, str) for entry in values}) > 1:
        values = np.array([*values, None], object)[:-1]  # which NumPy would make text of
    array = as_entries(values, what)
    if array.dtype.kind != "O" or array.ndim != 1:
        return array
    entries = [None if type(entry).__name__ in ("NAType", "NaTType") else entry for entry in array.tolist()]
    if entries and all(isinstance(entry, str) for entry in entries):
        return array.astype(str)
    if not any(isinstance(entry, list | tuple | np.ndarray) for entry in entries):
        array = np.empty(len(entries), object)
        array[:] = entries
        return array
    lengths = {len(entry) if isinstance(entry, list | tuple | np.ndarray) else -1 for entry in entries}
    if len(lengths) > 1:
        raise OpenworldError(f"the lists of {what} differ in length or are missing; expected one number a class.")
    return as_entries([as_column(entry, what) for entry in entries], what)


def finite_numbers(values: Any, what: str, first: int = 0, *, absent: bool = False) -> np.ndarray:
    """Return a column of scores as finite numbers (or -inf where `absent`), in the precision that they came in."""
    entries = np.asarray(values)
    if entries.dtype.kind == "b":
        raise OpenworldError(f"{what} holds true and false, expected numbers; write the scores.")
    if entries.dtype.kind in "OUST":
        flat, width = entries.reshape(-1).tolist(), max(1, entries.size // max(1, len(entries)))
        texts = [place for place, entry in enumerate(flat) if isinstance(entry, str | bytes) and entry]
        if texts:
            rows = list(dict.fromkeys(place // width for place in texts))
            raise OpenworldError(
                f"{what} holds text in {_rows(rows, first)}, such as {flat[texts[0]][:60]!r}; expected numbers alone."
            )
    numbers = as_array(entries, what)
    if numbers.dtype.kind != "f":
        return numbers
    wrong = ~np.isfinite(numbers)
    if absent:
        wrong &= numbers != -np.inf
    if wrong.any():
        rows = np.flatnonzero(wrong.reshape(len(wrong), -1).any(axis=1)).tolist()
        beside = " (-inf says that a name does not count)" if absent else ""
        raise OpenworldError(
            f"{what} holds NaN or infinite values, or nothing, in {_rows(rows, first)}; every image needs a finite "
            f"number{beside}: repair or drop those rows."
        )
    return numbers


def empty_entries(values: Any) -> np.ndarray:
    """Return which entries of a column are missing, bool[n]: None, NaN, no date, or no letter.

    >>> empty_entries(["cat", "", None]).tolist()
    [False, True, True]
    """
    if isinstance(values, Coded):
        return empty_entries(values.names)[values.codes]
    values = np.asarray(values)
    if values.dtype.kind in "fcmM":
        empty = np.asarray(values != values)
    elif values.dtype.kind == "O":
        flat = values.reshape(-1).tolist()
        empty = np.array([entry is None or entry == "" or entry != entry for entry in flat], bool).reshape(values.shape)
    else:
        empty = np.asarray(values == "") if values.dtype.kind in "UST" else np.zeros(values.shape, bool)
    return np.asarray(empty.reshape(len(values), -1).any(axis=1)) if values.ndim > 1 else empty


def require_filled(values: Any, what: str, first: int = 0) -> None:
    """Refuse a column with missing entries; `first` is the number of its first row."""
    rows = np.flatnonzero(empty_entries(values)).tolist()
    if rows:
        raise OpenworldError(f"{what} is empty in {_rows(rows, first)}; fill those entries in, or drop the rows.")


def _rows(rows: Sequence[int], first: int) -> str:
    """Say in which rows of a file something is, counted from 0."""
    listing = ", ".join(str(first + row) for row in rows[:3]) + (", ..." if len(rows) > 3 else "")
    return f"{len(rows)} row(s), first row {listing} (from 0)"


def require_one_length(where: Path | str, lengths: Mapping[str, int]) -> None:
    if len(set(lengths.values())) > 1:
        raise OpenworldError(f"the columns of {where} differ in length: {lengths}; expected one entry per image.")
