"""Columns of few distinct values, of ten million rows: a small integer a row, and the values once.

Text as NumPy keeps it takes four bytes a letter, and as Python objects some fifty bytes a row; a column of two, or of a
thousand, names takes one byte a row here, or two.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np


class Coded:
    """A column [n] as the places of its values in a list of distinct ones; reads as an array of them does."""

    __hash__ = None
    ndim = 1

    def __init__(self, codes: np.ndarray, names: Sequence):
        self.codes, self.names = codes, names

    @classmethod
    def of(cls, values: Iterable) -> "Coded":
        """Return values as a column, numbered as they first appear."""
        return cls.joined([values])

    @classmethod
    def joined(cls, blocks: Iterable[Any]) -> "Coded":
        """Return the values of blocks, one after the other, as a column; only one block is looked at a time."""
        places: dict[Any, int] = {}
        codes = []
        for block in blocks:
            values = block.tolist() if hasattr(block, "tolist") else list(block)
            codes.append(np.fromiter((places.setdefault(each, len(places)) for each in values), np.int32, len(values)))
        return cls(narrow(np.concatenate(codes) if codes else np.zeros(0, np.int8), len(places)), list(places))

    @classmethod
    def constant(cls, value: Any, count: int) -> "Coded":
        """Return a column of one value."""
        return cls(np.zeros(count, np.int8), [value])

    @property
    def shape(self) -> tuple[int]:
        return self.codes.shape

    @property
    def present(self) -> list:
        """The values that occur."""
        there = np.zeros(len(self.names), bool)
        there[self.codes] = True
        return [name for name, occurs in zip(self.names, there.tolist(), strict=True) if occurs]

    def renamed(self, names: Sequence) -> "Coded":
        """Return the column with other values in place of these; where two become one, so do their codes."""
        places: dict[Any, int] = {}
        moved = np.array([places.setdefault(name, len(places)) for name in names], np.int64)
        same = np.array_equal(moved, np.arange(len(moved)))
        return Coded(self.codes if same else narrow(moved, len(places))[self.codes], list(places))

    def tolist(self) -> list:
        return [self.names[code] for code in self.codes.tolist()]

    def __len__(self) -> int:
        return len(self.codes)

    def __iter__(self) -> Iterator:
        return iter(self.tolist())

    def __getitem__(self, rows):
        chosen = self.codes[rows]
        return Coded(chosen, self.names) if np.ndim(chosen) else self.names[int(chosen)]

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        whole = all(isinstance(name, int | np.integer) for name in self.names)
        names = np.array(self.names, np.int64) if whole else np.empty(len(self.names), object)
        if not whole:
            names[:] = self.names
        return (names[self.codes] if len(self.names) else names[:0]).astype(dtype or names.dtype, copy=False)

    def __eq__(self, other) -> np.ndarray:  # ty: ignore[incompatible-method-override]: by entry, as NumPy
        if not isinstance(other, Coded):
            return np.array([name == other for name in self.names], bool)[self.codes]
        places = {name: place for place, name in enumerate(self.names)}
        here = np.array([places.get(name, -1) for name in other.names], np.int32)
        return self.codes == here[other.codes]

    def __ne__(self, other) -> np.ndarray:  # ty: ignore[incompatible-method-override]: by entry, as NumPy
        return ~(self == other)


def narrow(codes: np.ndarray, count: int) -> np.ndarray:
    """Return integers below `count`, and above -`count`, in the fewest bytes that hold them."""
    kind = next(kind for kind in (np.int8, np.int16, np.int32, np.int64) if count <= np.iinfo(kind).max)
    return codes.astype(kind, copy=False)
