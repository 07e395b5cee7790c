"""Values read as what annotations say: keys of a spec, settings, arguments.

What can be read is bool, int, float, str, None, Literal, tuple[X, ...], tuple[X, Y], dict[str, X] and unions of them.
Numbers of NumPy, and the entries of its arrays, of torch tensors and of columns of data frames, count as Python's.
Ranges of numbers are types that settings and arguments are annotated with.
"""

import math
import operator
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Generic, Literal, TypeVar, Union, get_args, get_origin

from openworld.core.errors import OpenworldError, unknown_name

T = TypeVar("T")


class Declared(Generic[T]):
    """A field or property of those that inherit from a base, which it declares where types are checked alone."""

    def __get__(self, instance: Any, owner: Any = None) -> T:
        raise NotImplementedError


@dataclass(frozen=True)
class Range:
    """Annotates a number with the least and the most that it may be: `Annotated[int, Range(1)]`.

    `ends` says as in mathematics whether these two may be: "(]" for above the least, at most the most.
    """

    least: float
    most: float = math.inf
    ends: str = "[]"

    def holds(self, number: float) -> bool:
        above = operator.lt if self.ends[0] == "(" else operator.le
        below = operator.lt if self.ends[1] == ")" else operator.le
        return above(self.least, number) and below(number, self.most)

    @property
    def words(self) -> str:
        if self.most == math.inf:
            return f"a number above {self.least}" if self.ends[0] == "(" else f"{self.least} or more"
        words = {"[]": "from {} to {}", "[)": "from {} to below {}", "(]": "above {}, at most {}"}
        kind = "a fraction " if (self.least, self.most) == (0, 1) else "a number "
        return kind + words.get(self.ends, "above {} and below {}").format(self.least, self.most)

    def require(self, number: float, name: str) -> None:
        """Refuse a number outside the range, NaN too; where a fraction is expected, percent are explained."""
        if self.holds(number):
            return
        is_percent = (self.least, self.most) == (0, 1) and 1 <= number <= 100
        hint = f": {number:g} is {100 * number:g} %, and {number:g} % is {number / 100:g}" if is_percent else ""
        raise OpenworldError(f"{name} is {number}, expected {self.words}{hint}.")


Limit = Annotated[float, "may be infinite"]
"""Annotates a number that may be infinite; any other float is finite."""
Count = Annotated[int, Range(0)]
Positive = Annotated[int, Range(1)]
AboveZero = Annotated[float, Range(0, ends="(]")]
NotNegative = Annotated[float, Range(0)]
Share = Annotated[float, Range(0, 1)]
Fraction = Annotated[float, Range(0, 1, "()")]
Percent = Annotated[float, Range(0, 100)]

Otherwise = Callable[[Any, Any, str], Any]
arguments_of = cache(get_args)


def read(value: Any, kind: Any, path: str, otherwise: Otherwise) -> Any:
    """`value` read as the annotation `kind`, `path` in messages; `otherwise` is called for what is not read here."""
    return _reader(kind)(value, kind, path, otherwise)


@cache
def _reader(kind: Any) -> Callable[[Any, Any, str, Otherwise], Any]:
    return _READERS.get(get_origin(kind) or kind, _call)


def is_plain(value: Any, types: frozenset[type]) -> bool:
    """Whether a value is of types that an annotation leaves as they are, and finite."""
    kind = type(value)
    return kind in types and (kind is not float or math.isfinite(value))


@cache
def plain_types(kind: Any) -> frozenset[type]:
    """The types of values that an annotation takes and leaves as they are."""
    if get_origin(kind) not in (Union, UnionType):
        return frozenset({bool, int, float, str, NoneType}.intersection([kind] if isinstance(kind, type) else []))
    kinds = get_args(kind)
    types = frozenset().union(*map(plain_types, kinds))
    if float in kinds and int in kinds and kinds.index(float) < kinds.index(int):  # a whole number becomes a float
        return types - {int}
    return types


def describe(kind: Any) -> str:
    """An annotation in words, for messages.

    >>> describe(tuple[int, ...] | None)
    'a list, each entry an integer or nothing'
    """
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return " or ".join(describe(each) for each in arguments)
    if kind == Limit:
        return "a number"
    if origin is Annotated:
        limits = (limit.words for limit in arguments[1:] if isinstance(limit, Range))
        words = [words.removeprefix("a number ").removeprefix("a fraction ") for words in limits]
        return " ".join(
            [describe(arguments[0]), *(f"of {each}" if each.endswith("or more") else each for each in words)]
        )
    if origin is Literal:
        return "one of " + ", ".join(repr(option) for option in arguments)
    if origin is tuple and arguments[1:] == (Ellipsis,):
        return f"a list, each entry {describe(arguments[0])}"
    if origin is tuple:
        return f"a list of {len(arguments)}: {', '.join(describe(each) for each in arguments)}"
    if origin in (dict, Mapping):
        return f"a table, each entry {describe(arguments[1])}"
    if origin in (Sequence, Iterable):
        return f"a sequence, each entry {describe(arguments[0])}"
    if origin is Callable:
        return "a function"
    name = getattr(kind, "__name__", str(kind))
    return _WORDS.get(kind) or ("a torch tensor" if name == "Tensor" else f"{article(name)} {name}")


def wrong(value: Any, expected: str, path: str) -> OpenworldError:
    """The refusal of a value: what came, and what was expected."""
    return at(path, f"{shown(value)} came ({type(value).__name__}), expected {expected}.")


def at(path: str, message: object) -> OpenworldError:
    """A refusal that names where."""
    return OpenworldError(f"{path}: {message}" if path else str(message))


def join(path: str, key: object) -> str:
    """The path of a key within what has the path."""
    return f"{path}.{key}" if path else str(key)


def shown(value: Any) -> str:
    """A value on one line, cut where it is long."""
    if hasattr(value, "shape"):
        return f"shape {list(value.shape)}"
    try:
        text = " ".join(repr(value).split())
    except Exception:  # another package's repr, or an integer too long to be written
        return "a value"
    return text if len(text) <= 80 else f"{text[:77]}..."


def is_path(kind: Any) -> bool:
    return kind is Path or (get_origin(kind) in (Union, UnionType) and Path in get_args(kind))


def as_python(value: Any) -> Any:
    """Scalars of NumPy and torch, and their arrays without a dimension, as Python's."""
    origin = type(value).__module__
    if origin not in ("numpy", "torch") or getattr(value, "ndim", None) != 0:
        return value
    if origin == "torch":
        return value.item()
    if value.dtype.kind == "f":
        return float(value)
    return value.item() if value.dtype.kind in "biuU" else value


def entries_of(value: Any) -> tuple | None:
    """The entries of a list, tuple, array, tensor or column, as Python's numbers; None of anything else."""
    if isinstance(value, list | tuple):
        return tuple(map(as_python, value))
    if not hasattr(value, "__array__") or getattr(value, "ndim", 1) == 0 or hasattr(value, "columns"):
        return None
    try:
        return tuple(map(as_python, value))
    except Exception:  # an array that only says that it is one: sparse, on another device, a whole table
        return None


def _call(value: Any, kind: Any, path: str, otherwise: Otherwise) -> Any:
    return otherwise(value, kind, path)


def _read_plain(value: Any, kind: type, path: str, otherwise: Otherwise) -> Any:
    if type(value) is not kind:
        raise wrong(value, describe(kind), path)
    if kind is int and not -(2**63) <= value < 2**63:
        raise wrong(value, "an integer of 64 bits", path)
    return value


def _read_float(value: Any, kind: type, path: str, otherwise: Otherwise) -> float:
    try:
        if type(value) in (int, float) and math.isfinite(value):
            return float(value)
    except OverflowError:  # an integer beyond the largest float
        pass
    raise wrong(value, describe(kind), path)


def _read_path(value: Any, kind: type, path: str, otherwise: Otherwise) -> Path:
    if not isinstance(value, Path) and not (isinstance(value, str) and value):
        raise wrong(value, describe(kind), path)
    return Path(value)


def _read_annotated(value: Any, kind: Any, path: str, otherwise: Otherwise) -> float:
    number, *limits = get_args(kind)
    if kind == Limit and type(value) is float and math.isinf(value):
        return value
    result = read(value, number, path, otherwise)
    for limit in limits:
        if isinstance(limit, Range):
            limit.require(result, path)
    return result


def _read_literal(value: Any, kind: Any, path: str, otherwise: Otherwise) -> Any:
    options = get_args(kind)
    if any(type(value) is type(option) and value == option for option in options):
        return value
    if isinstance(value, str):
        raise at(path, unknown_name("value", value, [str(option) for option in options]))
    raise wrong(value, describe(kind), path)


def _read_tuple(value: Any, kind: Any, path: str, otherwise: Otherwise) -> tuple:
    kinds = arguments_of(kind) or (Any, ...)
    if type(value) is tuple and kinds[1:] == (Ellipsis,) and are_read(value, kinds[0]):
        return value
    entries = entries_of(value)
    if entries is None:
        raise wrong(value, describe(kind), path)
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        if are_read(entries, kinds[0]):
            return entries
        kinds = kinds[:1] * len(entries)
    if len(kinds) != len(entries):
        raise at(path, f"{len(entries)} entries came, expected {len(kinds)}: {describe(kind)}.")
    return tuple(
        read(entry, each, f"{path}[{index}]", otherwise)
        for index, (entry, each) in enumerate(zip(entries, kinds, strict=True))
    )


def _read_dict(value: Any, kind: Any, path: str, otherwise: Otherwise) -> dict:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise wrong(value, describe(kind), path)
    _, each = get_args(kind)
    if are_read(value.values(), each):
        return dict(value)
    return {key: read(entry, each, join(path, key), otherwise) for key, entry in value.items()}


def are_read(entries: Collection, kind: Any, plain: frozenset[type] | None = None) -> bool:
    """Whether plain entries need no reading one by one; `plain`: `plain_types` of the annotation, if at hand."""
    kinds = set(map(type, entries))
    if not kinds <= (plain_types(kind) if plain is None else plain):
        return kinds == {kind}  # instances of a class
    return float not in kinds or all(math.isfinite(entry) for entry in entries if type(entry) is float)


def _read_union(value: Any, kind: Any, path: str, otherwise: Otherwise) -> Any:
    """The first member that reads the value; where only one member is not None, its error speaks for all."""
    if isinstance(value, str) and not value and is_path(kind):
        raise wrong(value, describe(kind), path)
    kinds = [each for each in get_args(kind) if each is not NoneType]
    if kinds[0] is Path and isinstance(value, str):
        return Path(value)
    if is_plain(value, plain_types(kind)):
        return value
    for each in kinds[:-1]:
        try:
            return read(value, each, path, otherwise)
        except OpenworldError:
            continue
    try:
        return read(value, kinds[-1], path, otherwise)
    except OpenworldError as error:
        raise error if len(kinds) == 1 else wrong(value, describe(kind), path) from error


def article(name: str) -> str:
    """Return "an" before a vowel, else "a"."""
    return "an" if name[:1].lower() in "aeiou" else "a"


_READERS: dict[Any, Callable[[Any, Any, str, Otherwise], Any]] = {
    bool: _read_plain,
    int: _read_plain,
    str: _read_plain,
    NoneType: _read_plain,
    float: _read_float,
    Path: _read_path,
    Annotated: _read_annotated,
    Literal: _read_literal,
    tuple: _read_tuple,
    dict: _read_dict,
    Union: _read_union,
    UnionType: _read_union,
}

_WORDS = {
    bool: "true or false",
    int: "an integer",
    float: "a finite number",
    str: "text",
    NoneType: "nothing",
    Any: "anything JSON can hold",
    Path: "a path",
}
