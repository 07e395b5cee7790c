"""What a result looks like at a prompt or at the end of a notebook's cell: a few lines, however much it holds."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

_ENTRIES, _LETTERS = 6, 80


def short_repr(value: Any) -> str:
    """Return name and fields of a dataclass: of arrays the type and shape, of long lists and texts the beginning."""
    parts = ", ".join(f"{one.name}={_short(getattr(value, one.name))}" for one in fields(value) if one.repr)
    return f"{type(value).__qualname__}({parts})"


def _short(value: Any) -> str:
    if hasattr(value, "shape") and hasattr(value, "dtype") and len(value.shape):
        return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
    if isinstance(value, Mapping):
        return _listed([f"{key!r}: {_short(one)}" for key, one in _first(value.items())], len(value), "{}")
    if type(value) in (tuple, list):
        return _listed([_short(one) for one in _first(value)], len(value), "()" if isinstance(value, tuple) else "[]")
    if is_dataclass(value) and not isinstance(value, type):
        return short_repr(value)
    text = " ".join(repr(value).split())
    return text if len(text) <= _LETTERS else f"{text[:_LETTERS]}..."


def _first(entries) -> list:
    entries = list(entries)
    return entries if len(entries) <= _ENTRIES else entries[: _ENTRIES // 2]


def _listed(texts: list[str], count: int, brackets: str) -> str:
    more = f", ... {count} in all" if len(texts) < count else "," if count == 1 and brackets == "()" else ""
    return f"{brackets[0]}{', '.join(texts)}{more}{brackets[1]}"
