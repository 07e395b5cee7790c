"""Plain JSON of our own values, one canonical spelling of it, and its SHA-256.

Two equal values have the same canonical text on every machine: keys sorted, no white space, floats by `repr`
(the shortest text that reads back exactly), tuples as lists. NaN and infinity are refused, because JSON has
no word for them. What cannot be said in JSON is an error that names its place, never a guess.
"""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from openworld.core.errors import OpenworldError


def to_json(value: Any, path: str = "value") -> Any:
    """`value` as None, bool, int, float, str, list and dict only; a copy that shares nothing with it.

    Reads dataclasses, mappings with text keys, tuples, lists, NumPy scalars and arrays; refuses all else.
    """
    kind = type(value)
    if value is None or kind in (bool, int) or (kind is float and math.isfinite(value)):  # most of what comes
        return value
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(value, path)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise OpenworldError(f"{path} is {value}, which JSON cannot hold; say None and give the reason beside it.")
        return float(value)
    if isinstance(value, list | tuple):
        return [to_json(entry, f"{path}[{index}]") for index, entry in enumerate(value)]
    if is_dataclass(value) and not isinstance(value, type):
        value = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
    if isinstance(value, Mapping):
        return {_key(key, path): to_json(entry, f"{path}.{key}") for key, entry in value.items()}
    raise OpenworldError(
        f"{path} is a {type(value).__name__}, which JSON cannot hold; pass numbers, text, lists or dicts."
    )


def canonical_json(value: Any, path: str = "value") -> str:
    """The one canonical JSON text of `value` (see `to_json` for what it reads and refuses).

    >>> canonical_json({"b": (1.0, 1), "a": None})
    '{"a":null,"b":[1.0,1]}'
    """
    return json.dumps(to_json(value, path), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest(value: Any, path: str = "value") -> str:
    """SHA-256 of the canonical JSON of `value` in UTF-8: 64 hexadecimal digits."""
    return hashlib.sha256(canonical_json(value, path).encode()).hexdigest()


def readable_json(value: Any, path: str = "value") -> bytes:
    """The bytes of a JSON file for people: keys sorted, indented, UTF-8, one newline at the end."""
    text = json.dumps(to_json(value, path), sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False)
    return text.encode() + b"\n"


def _key(key: Any, path: str) -> str:
    if not isinstance(key, str):
        raise OpenworldError(f"{path} has the key {key!r}, a {type(key).__name__}; JSON keys are text.")
    return _text(key, f"a key of {path}")


def _text(value: str, path: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise OpenworldError(f"{path} is the text {value!r}, which is not valid Unicode.") from error
    return str(value)
