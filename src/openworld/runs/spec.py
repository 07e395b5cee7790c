"""Read a spec from TOML, JSON or a dict into frozen dataclasses, checking every key and every type.

The schema is an ordinary dataclass; its annotations say what is allowed: bool, int, float, str, None, Literal,
tuple[X, ...], tuple[X, Y], dict[str, X], unions, Any, and dataclasses in turn. Its defaults fill what is not
given, its `__post_init__` may refuse values. An integer where a float is expected becomes that float (so that
1 and 1.0 give one key); nothing else is converted. `read_spec(to_json(spec), type(spec)) == spec`.
"""

import json
import math
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from openworld._errors import OpenworldError, unknown_name
from openworld.runs.canonical import to_json

Schema = TypeVar("Schema")


def read_spec(source: Path | str | Mapping[str, Any], schema: type[Schema]) -> Schema:
    """The instance of the dataclass `schema` that `source` describes.

    source: path of a .toml or .json file, or a mapping as such a file would give.
    Raises OpenworldError naming the file and the key path: unknown key (with the nearest spelling and the
    known ones), missing key, wrong type (what came, what was expected).

    >>> from dataclasses import dataclass
    >>> Training = dataclass(frozen=True)(type("Training", (), {"__annotations__": {"shots": int}, "shots": 16}))
    >>> read_spec({"shots": 4}, Training).shots
    4
    """
    given = read_given(source)
    if given is source:
        return _read(given, schema, "")
    try:
        return _read(given, schema, "")
    except OpenworldError as error:
        raise OpenworldError(f"{source}: {error}") from error


def read_given(source: Path | str | Mapping[str, Any]) -> Mapping[str, Any]:
    """What a .toml or .json file says, before anything is checked; a mapping is returned as it is.

    >>> read_given({"shots": 4})
    {'shots': 4}
    """
    if isinstance(source, Mapping):
        return source
    try:
        return _parse(Path(source))
    except OpenworldError as error:
        raise OpenworldError(f"{source}: {error}") from error


def _parse(path: Path) -> Mapping[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
        return json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except OSError as error:
        raise OpenworldError(f"cannot be read ({error.strerror}); give the path of a TOML file.") from error
    except RecursionError as error:
        raise OpenworldError("lists or tables are nested too deep to be read; write it flatter.") from error
    except ValueError as error:  # no TOML, no JSON, no UTF-8, a number of thousands of digits
        raise OpenworldError(f"not a valid {path.suffix or 'TOML'} file: {error}.") from error


def _read(value: Any, kind: Any, path: str) -> Any:
    """`value` read as the annotation `kind`; `path` is the dotted key, "" for the whole spec."""
    if kind is Any:
        return to_json(value, path)
    if is_dataclass(kind):
        return _read_dataclass(value, kind, path)
    return _READERS.get(get_origin(kind) or kind, _unsupported)(value, kind, path)


def _read_dataclass(value: Any, kind: type, path: str) -> Any:
    if isinstance(value, kind):
        value = to_json(value, path)
    if not isinstance(value, Mapping):
        raise _wrong(value, "a table of keys", path)
    hints = get_type_hints(kind)
    known = {field.name: field for field in fields(kind) if field.init}
    for key in value:
        if key not in known:
            raise _at(_join(path, key), unknown_name("key", str(key), known))
    for name, field in known.items():
        if name not in value and field.default is MISSING and field.default_factory is MISSING:
            raise _at(_join(path, name), f"this key is missing; expected {describe(hints[name])}.")
    given = {name: _read(entry, hints[name], _join(path, name)) for name, entry in value.items()}
    try:
        return kind(**given)
    except OpenworldError as error:
        raise _at(path, error) from error


def _read_plain(value: Any, kind: type, path: str) -> Any:
    if type(value) is not kind:
        raise _wrong(value, describe(kind), path)
    return value


def _read_float(value: Any, kind: type, path: str) -> float:
    if type(value) not in (int, float) or not math.isfinite(value):
        raise _wrong(value, "a finite number", path)
    return float(value)


def _read_literal(value: Any, kind: Any, path: str) -> Any:
    options = get_args(kind)
    if any(value == option and type(value) is type(option) for option in options):
        return value
    if isinstance(value, str):
        raise _at(path, unknown_name("value", value, [str(option) for option in options]))
    raise _wrong(value, describe(kind), path)


def _read_tuple(value: Any, kind: Any, path: str) -> tuple:
    if not isinstance(value, list | tuple):
        raise _wrong(value, describe(kind), path)
    kinds = get_args(kind)
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        kinds = kinds[:1] * len(value)
    if len(kinds) != len(value):
        raise _at(path, f"{len(value)} entries came, expected {len(kinds)}: {describe(kind)}.")
    return tuple(
        _read(entry, each, f"{path}[{index}]") for index, (entry, each) in enumerate(zip(value, kinds, strict=True))
    )


def _read_dict(value: Any, kind: Any, path: str) -> dict:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise _wrong(value, describe(kind), path)
    _, each = get_args(kind)
    return {key: _read(entry, each, _join(path, key)) for key, entry in value.items()}


def _read_union(value: Any, kind: Any, path: str) -> Any:
    """The first member that reads the value; where only one member is not None, its error speaks for all."""
    if value is None and NoneType in get_args(kind):
        return None
    kinds = [each for each in get_args(kind) if each is not NoneType]
    for each in kinds[:-1]:
        try:
            return _read(value, each, path)
        except OpenworldError:
            continue
    try:
        return _read(value, kinds[-1], path)
    except OpenworldError as error:
        raise error if len(kinds) == 1 else _wrong(value, describe(kind), path) from error


def _unsupported(value: Any, kind: Any, path: str) -> Any:
    raise TypeError(f"the schema asks for {kind!r} at {path!r}, which specs cannot hold")


_READERS: dict[Any, Callable[[Any, Any, str], Any]] = {
    bool: _read_plain,
    int: _read_plain,
    str: _read_plain,
    NoneType: _read_plain,
    float: _read_float,
    Literal: _read_literal,
    tuple: _read_tuple,
    dict: _read_dict,
    Union: _read_union,
    UnionType: _read_union,
}


def describe(kind: Any) -> str:
    """An annotation in words, for messages.

    >>> describe(tuple[int, ...] | None)
    'a list, each entry an integer or nothing'
    """
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return " or ".join(describe(each) for each in arguments)
    if origin is Literal:
        return "one of " + ", ".join(repr(option) for option in arguments)
    if origin is tuple and arguments[1:] == (Ellipsis,):
        return f"a list, each entry {describe(arguments[0])}"
    if origin is tuple:
        return f"a list of {len(arguments)}: {', '.join(describe(each) for each in arguments)}"
    if origin is dict:
        return f"a table, each entry {describe(arguments[1])}"
    return _WORDS.get(kind, "a table of keys" if is_dataclass(kind) else str(kind))


_WORDS = {
    bool: "true or false",
    int: "an integer",
    float: "a finite number",
    str: "text",
    NoneType: "nothing",
    Any: "anything JSON can hold",
}


def _wrong(value: Any, expected: str, path: str) -> OpenworldError:
    return _at(path, f"{value!r} came ({type(value).__name__}), expected {expected}.")


def _at(path: str, message: object) -> OpenworldError:
    return OpenworldError(f"{path}: {message}" if path else str(message))


def _join(path: str, key: object) -> str:
    return f"{path}.{key}" if path else str(key)
