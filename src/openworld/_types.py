"""Values checked against annotations: of a spec's keys, of settings, and of what public functions are called with.

What can be checked is what annotations of this package say: bool, int, float, str, None, Literal, tuple[X, ...],
tuple[X, Y], dict[str, X] and unions of them; `checked` knows classes, Sequence, Mapping, Iterable and Callable too.
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache, wraps
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from openworld._errors import OpenworldError, unknown_name

Otherwise = Callable[[Any, Any, str], Any]
Target = TypeVar("Target", bound=Callable)
Limit = Annotated[float, "may be infinite"]
"""Annotates a number that may be infinite; any other float is finite."""
_NUMBERS = (bool, int, float)


def checked(target: Target) -> Target:
    """Refuse arguments of another type than the annotations say; for a function, a method, or a dataclass of settings.

    NumPy's numbers count as Python's, which they become; a list, or an array, where a tuple is expected becomes one; an
    integer has 64 bits, a `seed` is not negative. A bool is no number. What is annotated as an array is left alone:
    `_arrays` reads it.

    >>> @checked
    ... def double(number: int):
    ...     return 2 * number
    >>> double(2)
    4
    >>> double("2")
    Traceback (most recent call last):
    openworld._errors.OpenworldError: number: '2' came (str), expected an integer.
    """
    if isinstance(target, type):
        target.__init__ = checked(target.__init__)
        return target
    names = target.__code__.co_varnames[: target.__code__.co_argcount]

    @cache
    def hints() -> dict[str, Any]:  # when first called: annotations may name what is defined further down
        return get_type_hints(target, include_extras=True)

    @wraps(target)
    def call(*args, **kwargs):
        kinds = hints()
        given = [_argument(value, name, kinds) for name, value in zip(names, args, strict=False)]
        return target(
            *given, *args[len(given) :], **{name: _argument(value, name, kinds) for name, value in kwargs.items()}
        )

    return call


def read(value: Any, kind: Any, path: str, otherwise: Otherwise) -> Any:
    """`value` read as the annotation `kind`; `path` is its name in messages.

    Args:
        otherwise: called in the same way for annotations that are not read here.
    """
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
    """The types of values that an annotation takes and leaves as they are.

    >>> plain_types(int | None) == {int, NoneType}, plain_types(tuple[int, ...])
    (True, frozenset())
    """
    if get_origin(kind) not in (Union, UnionType):
        return frozenset({kind} & {bool, int, float, str, NoneType})
    kinds = get_args(kind)
    if float in kinds and int in kinds:  # the first of them decides what a whole number becomes
        return frozenset()
    return frozenset().union(*map(plain_types, kinds))


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
    if origin is Annotated:
        return describe(arguments[0]).replace("finite ", "")
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
    return _WORDS.get(kind) or ("a torch tensor" if name == "Tensor" else f"{_article(name)} {name}")


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
    """A value on one line, cut where it is long.

    >>> shown("a" * 99)[:8]
    "'aaaaaaa"
    """
    if hasattr(value, "shape"):
        return f"shape {list(value.shape)}"
    try:
        text = " ".join(repr(value).split())
    except Exception:  # another package's repr, or an integer too long to be written
        return "a value"
    return text if len(text) <= 80 else f"{text[:77]}..."


def _argument(value: Any, name: str, kinds: Mapping[str, Any]) -> Any:
    if name not in kinds:
        return value
    value = _plain(value)
    found = read(value, kinds[name], name, _instance)
    if isinstance(found, int) and not -(2**63) <= found < 2**63:
        raise wrong(value, "an integer of 64 bits", name)
    if name == "seed" and isinstance(found, int) and found < 0:
        raise wrong(value, "a seed of 0 or more", name)
    return found


def _plain(value: Any) -> Any:
    """NumPy's scalars, and arrays without a dimension, as Python's."""
    is_scalar = type(value).__module__ == "numpy" and getattr(value, "ndim", None) == 0
    return value.item() if is_scalar and value.dtype.kind in "biufU" else value


def _instance(value: Any, kind: Any, path: str) -> Any:
    """What `checked` makes of annotations that no spec can hold."""
    origin = get_origin(kind) or kind
    check = _CONTAINERS.get(origin)
    if check is not None:
        check(value, kind, path)
    elif isinstance(origin, type) and not _reads_itself(origin) and not isinstance(value, origin):
        raise wrong(value, describe(kind), path)
    return value


def _reads_itself(kind: type) -> bool:
    """Whether more than its instances may come: arrays are read by `_arrays`, and what fits a protocol fits."""
    return kind.__name__ == "ndarray" or getattr(kind, "_is_protocol", False) or kind in (object, type, Any)


def _check_sequence(value: Any, kind: Any, path: str) -> None:
    entries = get_args(kind)
    if isinstance(value, str | bytes | Mapping | set | frozenset) or not _has_length(value):
        raise wrong(value, describe(kind) if entries else "a sequence", path)
    if entries and entries[0] not in _NUMBERS and entries[0] is not Any:
        for place, entry in enumerate(value):
            read(entry, entries[0], f"{path}[{place}]", _instance)


def _check_mapping(value: Any, kind: Any, path: str) -> None:
    if not isinstance(value, Mapping):
        raise wrong(value, describe(kind) if get_args(kind) else "a mapping", path)
    for key, entry in value.items() if get_args(kind) else ():
        read(_plain(entry), get_args(kind)[1], join(path, key), _instance)


def _check_iterable(value: Any, kind: Any, path: str) -> None:
    if isinstance(value, str | bytes) or not hasattr(value, "__iter__") or getattr(value, "ndim", 1) == 0:
        raise wrong(value, describe(kind) if get_args(kind) else "a sequence", path)


def _check_callable(value: Any, kind: Any, path: str) -> None:
    if not callable(value):
        raise wrong(value, "a function", path)


def _has_length(value: Any) -> bool:
    try:
        len(value)
    except TypeError:
        return False
    return True


def _call(value: Any, kind: Any, path: str, otherwise: Otherwise) -> Any:
    return otherwise(value, kind, path)


def _read_plain(value: Any, kind: type, path: str, otherwise: Otherwise) -> Any:
    if type(value) is not kind:
        raise wrong(value, describe(kind), path)
    return value


def _read_float(value: Any, kind: type, path: str, otherwise: Otherwise) -> float:
    try:
        if type(value) in (int, float) and math.isfinite(value):
            return float(value)
    except OverflowError:  # an integer beyond the largest float
        pass
    raise wrong(value, describe(kind), path)


def _read_limit(value: Any, kind: Any, path: str, otherwise: Otherwise) -> float:
    is_infinite = type(value) is float and math.isinf(value)
    return value if is_infinite else _read_float(value, float, path, otherwise)


def _read_literal(value: Any, kind: Any, path: str, otherwise: Otherwise) -> Any:
    options = get_args(kind)
    if any(type(value) is type(option) and value == option for option in options):
        return value
    if isinstance(value, str):
        raise at(path, unknown_name("value", value, [str(option) for option in options]))
    raise wrong(value, describe(kind), path)


def _read_tuple(value: Any, kind: Any, path: str, otherwise: Otherwise) -> tuple:
    if getattr(value, "ndim", 0) and hasattr(value, "tolist"):  # an array, a tensor or a column; None where masked
        value = value.tolist()
    if not isinstance(value, list | tuple):
        raise wrong(value, describe(kind), path)
    entries = tuple(map(_plain, value))
    kinds = get_args(kind) or (Any, ...)
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        if _are_as_they_should(entries, kinds[0]):
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
    if _are_as_they_should(value.values(), each):
        return dict(value)
    return {key: read(entry, each, join(path, key), otherwise) for key, entry in value.items()}


def _are_as_they_should(entries: Collection, kind: Any) -> bool:
    """Whether plain entries need no reading one by one."""
    kinds = set(map(type, entries))
    if not kinds <= plain_types(kind):
        return False
    return float not in kinds or all(math.isfinite(entry) for entry in entries if type(entry) is float)


def _read_union(value: Any, kind: Any, path: str, otherwise: Otherwise) -> Any:
    """The first member that reads the value; where only one member is not None, its error speaks for all."""
    if value is None and NoneType in get_args(kind):
        return None
    kinds = [each for each in get_args(kind) if each is not NoneType]
    for each in kinds[:-1]:
        try:
            return read(value, each, path, otherwise)
        except OpenworldError:
            continue
    try:
        return read(value, kinds[-1], path, otherwise)
    except OpenworldError as error:
        raise error if len(kinds) == 1 else wrong(value, describe(kind), path) from error


def _article(name: str) -> str:
    return "an" if name[:1].lower() in "aeiou" else "a"


_CONTAINERS: dict[Any, Callable[[Any, Any, str], None]] = {
    Sequence: _check_sequence,
    Mapping: _check_mapping,
    Iterable: _check_iterable,
    Callable: _check_callable,
}

_READERS: dict[Any, Callable[[Any, Any, str, Otherwise], Any]] = {
    bool: _read_plain,
    int: _read_plain,
    str: _read_plain,
    NoneType: _read_plain,
    float: _read_float,
    Annotated: _read_limit,
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
}
