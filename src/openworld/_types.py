"""Values checked against annotations: of a spec's keys, of settings, and of what public functions are called with.

What can be checked is what annotations of this package say: bool, int, float, str, None, Literal, tuple[X, ...],
tuple[X, Y], dict[str, X] and unions of them; `checked` knows classes, Sequence, Mapping, Iterable and Callable too.
Numbers of NumPy, and the entries of its arrays, of torch tensors and of columns of data frames, count as Python's.
"""

import math
import operator
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, wraps
from inspect import CO_VARARGS, CO_VARKEYWORDS, unwrap
from pathlib import Path
from types import NoneType, SimpleNamespace, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from openworld._errors import OpenworldError, unknown_name

Otherwise = Callable[[Any, Any, str], Any]
Target = TypeVar("Target", bound=Callable)


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
        return "a number " + words.get(self.ends, "above {} and below {}").format(self.least, self.most)


Limit = Annotated[float, "may be infinite"]
"""Annotates a number that may be infinite; any other float is finite."""
Count = Annotated[int, Range(0)]
Positive = Annotated[int, Range(1)]
AboveZero = Annotated[float, Range(0, ends="(]")]
NotNegative = Annotated[float, Range(0)]
Share = Annotated[float, Range(0, 1)]
Fraction = Annotated[float, Range(0, 1, "()")]
Percent = Annotated[float, Range(0, 100)]
Known = tuple[Any, frozenset[type], frozenset[type]]
"""An annotation, the types of values that it leaves alone where they are finite, and those that need no look."""
_DEVICE = re.compile(r"\s*(auto|cpu|mps|meta|cuda(:\d+)?|cuda:\d+(\s*,\s*cuda:\d+)+)\s*")


def checked(target: Target) -> Target:
    """Refuse arguments of another type than the annotations say; for a function, a method, or a dataclass of settings.

    NumPy's numbers become Python's, columns of them a tuple or a list, text a path. An integer has 64 bits, a `seed` is
    not negative, a bool is no number. What is annotated as an array is left to `_arrays`.
    """
    if isinstance(target, type):
        target.__init__ = checked(target.__init__)
        return target
    code = unwrap(target).__code__
    named = code.co_argcount + code.co_kwonlyargcount
    names = code.co_varnames[: code.co_argcount]
    rest = code.co_varnames[named] if code.co_flags & CO_VARARGS else None
    others = code.co_varnames[named + (rest is not None)] if code.co_flags & CO_VARKEYWORDS else None

    @cache
    def kinds() -> dict[str, Known]:  # when first called: they may name what is defined below
        empty = {name for name, value in _defaults(target).items() if isinstance(value, str) and not value}
        return {
            name: (kind, plain_types(kind) - ({str} if _is_path(kind) and name not in empty else set()), _exact(kind))
            for name, kind in hints_of(target).items()
        }

    @cache
    def doors() -> dict[str, Any]:  # argument -> what looks at it beside all others, such as a place to write to
        rules = {
            name: [rule for part in (kind, *get_args(kind)) for rule in getattr(part, "__metadata__", ())]
            for name, (kind, *_) in kinds().items()
        }
        return {name: rule for name, every in rules.items() for rule in every if hasattr(rule, "admit")}

    @wraps(target)
    def call(*args, **kwargs):
        known = kinds()
        free = known.get(others)
        given = [_argument(value, name, known.get(name)) for name, value in zip(names, args, strict=False)]
        given += [_argument(value, f"{rest}[{n}]", known.get(rest)) for n, value in enumerate(args[len(names) :])]
        named = {name: _argument(value, name, known.get(name, free)) for name, value in kwargs.items()}
        if doors():
            every = dict(zip(names, given, strict=False)) | named
            for name, door in doors().items():
                value = every.get(name, ...)
                if value is not ... and (value is not None or not _takes_none(kinds()[name][0])):
                    admitted = door.admit(value, name, {other: every[other] for other in every if other != name})
                    if name in named:
                        named[name] = admitted
                    else:
                        given[names.index(name)] = admitted
        return target(*given, **named)

    return call


def hints_of(target: Callable) -> dict[str, Any]:
    """Return the annotations of the parameters of a function."""
    target = unwrap(target)
    written = {name: kind for name, kind in target.__annotations__.items() if name != "return"}
    return get_type_hints(SimpleNamespace(__annotations__=written, __globals__=target.__globals__), include_extras=True)


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
    found = frozenset().union(*map(plain_types, kinds))
    if float in kinds and int in kinds and kinds.index(float) < kinds.index(int):  # a whole number becomes a float
        return found - {int}
    return found


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
        words = [limit.words.removeprefix("a number ") for limit in arguments[1:] if isinstance(limit, Range)]
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


def _argument(value: Any, name: str, known: Known | None) -> Any:
    """An argument read as its annotation, if it has one."""
    if known is None:
        return value
    kind, plain, exact = known
    if type(value) in exact:
        return value
    found = value if is_plain(value, plain) else read(_plain(value), kind, name, _instance)
    if type(found) is int:
        if not -(2**63) <= found < 2**63:
            raise wrong(value, "an integer of 64 bits", name)
        if found < 0 and name == "seed":
            raise wrong(value, "a seed of 0 or more", name)
    if name == "device" and type(found) is str and not _DEVICE.fullmatch(found):
        raise OpenworldError(f"unknown device {found!r}; expected auto, cpu, cuda, cuda:1, mps, or cuda:0,cuda:1.")
    return found


def _defaults(target: Callable) -> dict[str, Any]:
    target = unwrap(target)
    code, given = target.__code__, target.__defaults__ or ()
    last = code.co_varnames[code.co_argcount - len(given) : code.co_argcount]
    return dict(zip(last, given, strict=True)) | (target.__kwdefaults__ or {})


def _takes_none(kind: Any) -> bool:
    kinds = get_args(kind)
    return NoneType in kinds or NoneType in get_args(kinds[0])


def _is_path(kind: Any) -> bool:
    return kind is Path or (get_origin(kind) in (Union, UnionType) and Path in get_args(kind))


_arguments = cache(get_args)


def _exact(kind: Any) -> frozenset[type]:
    """The classes among what an annotation names; numbers and text are looked at."""
    kinds = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    return frozenset(each for each in kinds if type(each) is type and each not in (int, float, str))


def _plain(value: Any) -> Any:
    """Scalars of NumPy and torch, and their arrays without a dimension, as Python's."""
    origin = type(value).__module__
    if origin not in ("numpy", "torch") or getattr(value, "ndim", None) != 0:
        return value
    if origin == "torch":
        return value.item()
    if value.dtype.kind == "f":
        return float(value)
    return value.item() if value.dtype.kind in "biuU" else value


def _entries(value: Any) -> tuple | None:
    """The entries of a list, tuple, array, tensor or column, as Python's numbers; None of anything else."""
    if isinstance(value, list | tuple):
        return tuple(map(_plain, value))
    if not hasattr(value, "__array__") or getattr(value, "ndim", 1) == 0 or hasattr(value, "columns"):
        return None
    try:
        return tuple(map(_plain, value))
    except Exception:  # an array that only says that it is one: sparse, on another device, a whole table
        return None


def _instance(value: Any, kind: Any, path: str) -> Any:
    """What `checked` makes of annotations that no spec can hold."""
    origin = get_origin(kind) or kind
    container = _CONTAINERS.get(origin)
    if container is not None:
        return container(value, kind, path)
    if not isinstance(origin, type) or origin in (object, Any) or origin.__name__ == "ndarray":  # `_arrays` reads that
        return value
    if getattr(origin, "_is_protocol", False):
        fits = not _promised(origin) or any(hasattr(value, name) for name in _promised(origin))
    else:
        fits = isinstance(value, origin)
    if not fits:
        raise wrong(value, describe(kind), path)
    return value


@cache
def _promised(protocol: type) -> tuple[str, ...]:
    """The public methods of a protocol; where it has none, its properties. What reads an array knows better."""
    names = dict.fromkeys(name for base in protocol.__mro__ for name in vars(base) if not name.startswith("_"))
    return tuple(name for name in names if callable(getattr(protocol, name))) or tuple(names)


def _read_sequence(value: Any, kind: Any, path: str) -> Any:
    kinds = _arguments(kind)
    if kinds and type(value) in (list, tuple) and _are_as_they_should(value, kinds[0]):
        return value
    entries = _entries(value)
    is_other = isinstance(value, Collection) and not hasattr(value, "columns")  # such as the values of a dict
    if entries is None and (not is_other or isinstance(value, str | bytes | Mapping | set | frozenset)):
        raise wrong(value, describe(kind) if kinds else "a sequence", path)
    if not kinds or kinds[0] is Any:
        return value if entries is None or isinstance(value, list | tuple) else list(entries)
    found = [
        read(entry, kinds[0], f"{path}[{place}]", _instance)
        for place, entry in enumerate(value if entries is None else entries)
    ]
    is_array = entries is not None and not isinstance(value, list | tuple)
    return found if is_array or not all(map(operator.is_, found, value)) else value


def _read_mapping(value: Any, kind: Any, path: str) -> Mapping:
    kinds = _arguments(kind)
    if not isinstance(value, Mapping) or (kinds[:1] == (str,) and not all(isinstance(key, str) for key in value)):
        raise wrong(value, describe(kind) if kinds else "a mapping", path)
    if not kinds or kinds[1] is Any or _are_as_they_should(value.values(), kinds[1]):
        return value
    found = {key: read(_plain(entry), kinds[1], join(path, key), _instance) for key, entry in value.items()}
    return value if all(found[key] is entry for key, entry in value.items()) else found


def _read_iterable(value: Any, kind: Any, path: str) -> Iterable:
    if isinstance(value, str | bytes) or not hasattr(value, "__iter__") or getattr(value, "ndim", 1) == 0:
        raise wrong(value, describe(kind) if get_args(kind) else "a sequence", path)
    is_listed = get_args(kind) and (isinstance(value, list | tuple) or hasattr(value, "__array__"))
    return _read_sequence(value, Sequence[get_args(kind)[0]], path) if is_listed else value


def _read_callable(value: Any, kind: Any, path: str) -> Callable:
    if not callable(value):
        raise wrong(value, "a function", path)
    return value


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
    found = read(value, number, path, otherwise)
    for limit in limits:
        if isinstance(limit, Range) and not limit.holds(found):
            is_percent = (limit.least, limit.most) == (0, 1) and 1 <= found <= 100
            hint = f": {found:g} is {100 * found:g} %, and {found:g} % is {found / 100:g}" if is_percent else ""
            raise OpenworldError(f"{path} is {found}, expected {limit.words}{hint}.")
    return found


def _read_literal(value: Any, kind: Any, path: str, otherwise: Otherwise) -> Any:
    options = get_args(kind)
    if any(type(value) is type(option) and value == option for option in options):
        return value
    if isinstance(value, str):
        raise at(path, unknown_name("value", value, [str(option) for option in options]))
    raise wrong(value, describe(kind), path)


def _read_tuple(value: Any, kind: Any, path: str, otherwise: Otherwise) -> tuple:
    kinds = _arguments(kind) or (Any, ...)
    if type(value) is tuple and kinds[1:] == (Ellipsis,) and _are_as_they_should(value, kinds[0]):
        return value
    entries = _entries(value)
    if entries is None:
        raise wrong(value, describe(kind), path)
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
        return kinds == {kind}  # instances of a class
    return float not in kinds or all(math.isfinite(entry) for entry in entries if type(entry) is float)


def _read_union(value: Any, kind: Any, path: str, otherwise: Otherwise) -> Any:
    """The first member that reads the value; where only one member is not None, its error speaks for all."""
    if isinstance(value, str) and not value and _is_path(kind):
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


_CONTAINERS: dict[Any, Callable[[Any, Any, str], Any]] = {
    Sequence: _read_sequence,
    Mapping: _read_mapping,
    Iterable: _read_iterable,
    Callable: _read_callable,
}

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
