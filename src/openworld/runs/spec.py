"""Read a spec from TOML, JSON or a dict into frozen dataclasses, checking every key and every type.

The schema is an ordinary dataclass; its annotations say what is allowed: bool, int, float, str, None, Literal,
tuple[X, ...], tuple[X, Y], dict[str, X], unions, Any, and dataclasses in turn. Its defaults fill what is not
given, its `__post_init__` may refuse values. An integer where a float is expected becomes that float (so that
1 and 1.0 give one key); nothing else is converted. `read_spec(to_json(spec), type(spec)) == spec`.
"""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

from openworld.core.errors import OpenworldError, unknown_name
from openworld.core.plain_files import read_text
from openworld.core.reading import at, describe, is_plain, join, plain_types, read, wrong
from openworld.core.types import checked
from openworld.runs.canonical import to_json

Schema = TypeVar("Schema")


@checked
def read_spec(source: Path | str | Mapping[str, Any], schema: type[Schema]) -> Schema:
    """The instance of the dataclass `schema` that a .toml or .json file, or such a mapping, describes.

    Raises OpenworldError naming the file and the key path: an unknown key, a missing one, a wrong type.
    """
    given = read_given(source)
    try:
        return read(given, schema, "", _otherwise)
    except OpenworldError as error:
        if given is source:
            raise
        raise OpenworldError(f"{source}: {error}") from error


@checked
def read_given(source: Path | str | Mapping[str, Any]) -> Mapping[str, Any]:
    """What a .toml or .json file says, before anything is checked; a mapping is returned as it is."""
    if isinstance(source, Mapping):
        return source
    path = Path(source)
    text = read_text(path, "save it as UTF-8.")
    try:
        return json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except RecursionError as error:
        raise at(str(source), "lists or tables are nested too deep to be read; write it flatter.") from error
    except ValueError as error:  # no TOML, no JSON, a number of thousands of digits
        raise at(str(source), f"not a valid {path.suffix or 'TOML'} file: {error}.") from error


def _otherwise(value: Any, kind: Any, path: str) -> Any:
    if kind is Any:
        return to_json(value, path)
    if is_dataclass(kind):
        return _read_dataclass(value, kind, path)
    raise TypeError(f"the schema asks for {kind!r} at {path!r}, which specs cannot hold")


def _read_dataclass(value: Any, kind: type, path: str) -> Any:
    if isinstance(value, kind):
        value = to_json(value, path)
    if not isinstance(value, Mapping):
        raise wrong(value, "a table of keys", path)
    hints, known, plain = _fields(kind)
    for key in value:
        if key not in known:
            raise at(join(path, key), unknown_name("key", str(key), known))
    for name, field in known.items():
        if name not in value and field.default is MISSING and field.default_factory is MISSING:
            expected = "a table of keys" if is_dataclass(hints[name]) else describe(hints[name])
            raise at(join(path, name), f"this key is missing; expected {expected}.")
    given = {
        name: entry if is_plain(entry, plain[name]) else read(entry, hints[name], join(path, name), _otherwise)
        for name, entry in value.items()
    }
    try:
        return kind(**given)
    except OpenworldError as error:
        raise at(path, error) from error


@cache
def _fields(kind: type[Any]) -> tuple[dict[str, Any], dict[str, Field], dict[str, frozenset[type]]]:
    """The annotations of a dataclass, its fields, and which types of values need no reading, by name."""
    hints = get_type_hints(kind)
    plain = {name: plain_types(hint) for name, hint in hints.items()}
    return hints, {field.name: field for field in fields(kind) if field.init}, plain
