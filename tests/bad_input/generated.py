"""Calls made from signatures: every argument has its default, or an example of what its annotation says.

What a bad value is, follows from the annotation too: one that fits it is judged by what comes of it, any other must be
refused. Text that names nothing known must be refused, except by arguments whose text is free.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from inspect import Parameter, signature, unwrap
from pathlib import Path
from types import NoneType, SimpleNamespace, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from judging import Call
from kinds import bad

WORDS = ("unknown name", "empty text")
EXAMPLES = {bool: True, int: 3, float: 0.5, str: "words", Path: Path("words"), Any: "words", object: "words"}
OPEN = (Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL)


def generated(
    function: Callable,
    given: Mapping[str, Any] | None = None,
    *,
    free: Iterable[str] = (),
    like: Mapping[str, Any] | None = None,
    like_taken: Iterable[tuple[str, str]] = (),
    left_out: Iterable[tuple[str, str]] = (),
) -> Call:
    """A call of a function or a class, of which bad values are tried in every argument.

    Args:
        given: good values where there is no default, or the default will not do.
        free: arguments whose text may be anything.
        like: an example of what an argument takes, where that of its annotation will not do.
        like_taken: (argument, kind) of bad values that are as good as any here. left_out: as of `Call`.
    """
    given, like, free = dict(given or {}), dict(like or {}), set(free)
    hints = annotations(function)
    parameters = {name: one for name, one in signature(function).parameters.items() if one.kind not in OPEN}
    factories = {one.name: one.default_factory for one in fields(function)} if is_dataclass(function) else {}
    factories = {name: make for name, make in factories.items() if make is not MISSING}
    values, kinds_of, allowed = {}, {}, set(like_taken)
    for name, parameter in parameters.items():
        hint = hints.get(name, Any)
        default = factories[name]() if name in factories else parameter.default
        has_default = default is not Parameter.empty
        values[name] = given[name] if name in given else default if has_default else example(hint)
        is_empty = values[name] is None or (isinstance(values[name], str | tuple | list | dict) and not values[name])
        kinds_of[name] = like.get(name, example(hint) if is_empty else values[name])
        for kind, (_, make) in bad(kinds_of[name]).items():
            bad_one = make(kinds_of[name])
            is_default = isinstance(bad_one, str | list | tuple) and not bad_one and not default
            if is_default or ((name in free or kind not in WORDS) and fits(bad_one, hint)):
                allowed.add((name, kind))
    optional = frozenset(name for name in parameters if NoneType in get_args(hints.get(name)))
    return Call(
        function, values, allowed=frozenset(allowed), left_out=frozenset(left_out), optional=optional, like=kinds_of
    )


def annotations(function: Callable) -> dict[str, Any]:
    """Of the arguments of a function, or of what makes a class."""
    target = unwrap(function.__init__ if isinstance(function, type) else function)
    written = {name: kind for name, kind in target.__annotations__.items() if name != "return"}
    holder = SimpleNamespace(__annotations__=written, __globals__=getattr(target, "__globals__", {}))
    return get_type_hints(holder, include_extras=False)


def example(hint: Any) -> Any:
    """A value that fits an annotation."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return example(next(part for part in parts if part is not NoneType))
    if origin is Literal:
        return parts[0]
    if origin in (tuple, list, Sequence, Iterable):
        return [example(parts[0])]
    if origin in (dict, Mapping):
        return {"a": example(parts[1])}
    if is_dataclass(hint):
        return object()
    return EXAMPLES.get(hint, object())


def fits(value: Any, hint: Any) -> bool:
    """Whether a value is what an annotation says; `Any` says nothing."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(fits(value, part) for part in parts)
    if origin is Literal:
        return isinstance(value, str | int) and value in parts
    if origin in (tuple, list, Sequence, Iterable):
        length = len(parts) if origin is tuple and Ellipsis not in parts else None
        entries = isinstance(value, list | tuple) or type(value).__name__ in ("ndarray", "Tensor")
        return bool(entries) and length in (None, len(value)) and all(fits(entry, parts[0]) for entry in list(value))
    if origin in (dict, Mapping):
        return isinstance(value, Mapping) and all(fits(entry, parts[1]) for entry in value.values())
    if origin is type or hint in (Any, object):
        return False
    if hint is Path:
        return isinstance(value, Path) or (isinstance(value, str) and bool(value))
    if hint is float:
        value = value.item() if hasattr(value, "item") and not getattr(value, "ndim", 1) else value
        return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e308
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63
    return isinstance(hint, type) and not getattr(hint, "_is_protocol", False) and isinstance(value, hint)
