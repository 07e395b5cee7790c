"""Arguments and settings checked against their annotations, ranges of numbers among them.

Beside what `reading` knows, `checked` knows classes, Sequence, Mapping, Iterable and Callable.
"""

import operator
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache, wraps
from inspect import CO_VARARGS, CO_VARKEYWORDS, unwrap
from types import GenericAlias, NoneType, SimpleNamespace, UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

from openworld.core.errors import OpenworldError, not_installed
from openworld.core.reading import (
    AboveZero,
    Count,
    Fraction,
    Limit,
    NotNegative,
    Percent,
    Positive,
    Range,
    Share,
    are_read,
    arguments_of,
    as_python,
    describe,
    entries_of,
    is_path,
    is_plain,
    join,
    plain_types,
    read,
    wrong,
)

__all__ = [
    "AboveZero",
    "Count",
    "Fraction",
    "Limit",
    "NotNegative",
    "Percent",
    "Positive",
    "Range",
    "Share",
    "checked",
    "hints_of",
]

Target = TypeVar("Target", bound=Callable)
Known = tuple[frozenset[type], Callable[[Any], bool], Any]
"""Types of values that need no look, a quick one that tells most good values, and the annotation."""
_DEVICE = re.compile(r"\s*(auto|cpu|mps|meta|cuda(:\d+)?|cuda:\d+(\s*,\s*cuda:\d+)+)\s*")


def checked(target: Target) -> Target:
    """Refuse arguments of another type than the annotations say; for a function, a method, or a dataclass of settings.

    NumPy's numbers become Python's, columns of them a tuple or a list, text a path. An integer has 64 bits, a `seed` is
    not negative, a bool is no number. What is annotated as an array is left to `arrays`.
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
        return {name: _known(name, kind, takes_empty=name in empty) for name, kind in hints_of(target).items()}

    @cache
    def doors() -> dict[str, Any]:  # argument -> what looks at it beside all others, such as a place to write to
        rules = {
            name: [rule for part in (kind, *get_args(kind)) for rule in getattr(part, "__metadata__", ())]
            for name, (*_, kind) in kinds().items()
        }
        return {name: rule for name, every in rules.items() for rule in every if hasattr(rule, "admit")}

    # Small results are made by the hundred thousand: what needs no look costs a look-up of its type, and no call.
    def read_all(args: tuple, kwargs: dict[str, Any]) -> list:  # the arguments by name are changed in place
        given, kinds_of = list(args), kinds()
        free = kinds_of.get(others)
        for place, value in enumerate(args):
            known = kinds_of.get(names[place] if place < len(names) else rest)
            if known is not None and type(value) not in known[0]:
                name = names[place] if place < len(names) else f"{rest}[{place - len(names)}]"
                given[place] = _argument(value, name, known)
        for name, value in kwargs.items():
            known = kinds_of.get(name, free)
            if known is not None and (type(value) not in known[0] or name == "device"):
                kwargs[name] = _argument(value, name, known)
        if doors():
            every = dict(zip(names, given, strict=False)) | kwargs
            for name, door in doors().items():
                value = every.get(name, ...)
                if value is not ... and (value is not None or not _takes_none(kinds()[name][-1])):
                    admitted = door.admit(value, name, {other: every[other] for other in every if other != name})
                    if name in kwargs:
                        kwargs[name] = admitted
                    else:
                        given[names.index(name)] = admitted
        return given

    @wraps(target)
    def call(*args, **kwargs):
        try:
            return target(*read_all(args, kwargs), **kwargs)
        except ModuleNotFoundError as error:  # the outermost function, which the user called, is named
            raise not_installed(error, call.__qualname__.removesuffix(".__init__")) from error

    return call  # ty: ignore[invalid-explicit-return]: `wraps` makes it what the target is


def hints_of(target: Callable) -> dict[str, Any]:
    """Return the annotations of the parameters of a function."""
    target = unwrap(target)
    written = {name: kind for name, kind in target.__annotations__.items() if name != "return"}
    return get_type_hints(SimpleNamespace(__annotations__=written, __globals__=target.__globals__), include_extras=True)


def _argument(value: Any, name: str, known: Known) -> Any:
    """An argument read as its annotation."""
    _, is_good, kind = known
    argument = value if is_good(value) else read(as_python(value), kind, name, _instance)
    if type(argument) is int:
        if not -(2**63) <= argument < 2**63:
            raise wrong(value, "an integer of 64 bits", name)
        if argument < 0 and name == "seed":
            raise wrong(value, "a seed of 0 or more", name)
    if name == "device" and type(argument) is str and not _DEVICE.fullmatch(argument):
        raise OpenworldError(f"unknown device {argument!r}; expected auto, cpu, cuda, cuda:1, mps, or cuda:0,cuda:1.")
    return argument


def _defaults(target: Callable) -> dict[str, Any]:
    target = unwrap(target)
    code, given = target.__code__, target.__defaults__ or ()
    last = code.co_varnames[code.co_argcount - len(given) : code.co_argcount]
    return dict(zip(last, given, strict=True)) | (target.__kwdefaults__ or {})


def _takes_none(kind: Any) -> bool:
    kinds = get_args(kind)
    return NoneType in kinds or NoneType in get_args(kinds[0])


def _known(name: str, kind: Any, *, takes_empty: bool) -> Known:
    """What is known of an annotation before a value comes; what is not good at a quick look is read."""
    kinds = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    plain = plain_types(kind) - ({str} if is_path(kind) and not takes_empty else set())
    free = frozenset({each for each in kinds if type(each) is type} | plain) - {int, float} - ({str} - plain)
    free -= {str} if name == "device" else set()
    others = [each for each in kinds if each is not NoneType]
    origin, arguments = (get_origin(others[0]), get_args(others[0])) if len(others) == 1 else (None, ())

    if origin is Annotated and arguments[0] in (int, float) and all(isinstance(each, Range) for each in arguments[1:]):
        numbers, ranges = frozenset(arguments[:1]), arguments[1:]
        return free, lambda value: is_plain(value, numbers) and all(each.holds(value) for each in ranges), kind
    containers = _QUICK.get(origin, ()) if arguments else ()
    if not containers or (origin is tuple and arguments[1:] != (...,)):
        return free, lambda value: is_plain(value, plain), kind

    entry = arguments[1 if origin is Mapping else 0]
    entries, all_are_good = plain_types(entry), entry is Any and origin is not tuple

    def is_good(value: Any) -> bool:
        if type(value) not in containers or (origin is Mapping and set(map(type, value)) - {str}):
            return False
        return all_are_good or are_read(value.values() if origin is Mapping else value, entry, entries)

    return free, is_good, kind


_QUICK: dict[Any, tuple[type, ...]] = {tuple: (tuple,), Sequence: (tuple, list), Mapping: (dict,)}


def _instance(value: Any, kind: Any, path: str) -> Any:
    """Return a value read as what `reading` does not know: a sequence, mapping, iterable, function, or instance."""
    origin = get_origin(kind) or kind
    if origin in _CONTAINERS:
        return _CONTAINERS[origin](value, kind, path)
    is_array = getattr(origin, "__name__", "") == "ndarray"  # which `arrays` reads
    if not isinstance(origin, type) or origin in (object, Any) or is_array:
        return value

    if getattr(origin, "_is_protocol", False):
        promised = _promised(origin)
        fits = not promised or any(hasattr(value, name) for name in promised)
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
    kinds = arguments_of(kind)
    if kinds and type(value) in (list, tuple) and are_read(value, kinds[0]):
        return value
    entries = entries_of(value)
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
    kinds = arguments_of(kind)
    if not isinstance(value, Mapping) or (kinds[:1] == (str,) and not all(isinstance(key, str) for key in value)):
        raise wrong(value, describe(kind) if kinds else "a mapping", path)
    if not kinds or kinds[1] is Any or are_read(value.values(), kinds[1]):
        return value
    entries = {key: read(as_python(entry), kinds[1], join(path, key), _instance) for key, entry in value.items()}
    return value if all(entries[key] is entry for key, entry in value.items()) else entries


def _read_iterable(value: Any, kind: Any, path: str) -> Iterable:
    if isinstance(value, str | bytes) or not hasattr(value, "__iter__") or getattr(value, "ndim", 1) == 0:
        raise wrong(value, describe(kind) if get_args(kind) else "a sequence", path)
    is_listed = get_args(kind) and (isinstance(value, list | tuple) or hasattr(value, "__array__"))
    return _read_sequence(value, GenericAlias(Sequence, get_args(kind)[:1]), path) if is_listed else value


def _read_callable(value: Any, kind: Any, path: str) -> Callable:
    if not callable(value):
        raise wrong(value, "a function", path)
    return value


_CONTAINERS: dict[Any, Callable[[Any, Any, str], Any]] = {
    Sequence: _read_sequence,
    Mapping: _read_mapping,
    Iterable: _read_iterable,
    Callable: _read_callable,
}
