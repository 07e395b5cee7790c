"""How a function of the API has its room do the work: with the same arguments, and with somebody to tell how far it is.

A function says what can be asked: its signature and its Args are the command, its help and its page. Arguments are
checked, places to write to are looked at, and images and scores from Python are made what rooms read
(`api.arguments`) before the room is imported.
"""

import inspect
import shlex
from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from importlib import import_module
from typing import Any, TypeVar

from openworld.core.console import observing
from openworld.core.types import checked

COMMAND: ContextVar[tuple[str, ...]] = ContextVar("command", default=())
"""The command line, while one runs."""
Function = TypeVar("Function", bound=Callable)


def made_by(function: str) -> tuple[str, ...]:
    """Return what a record says it was made by: the command line, or the function that was called in Python."""
    return COMMAND.get() or (f"openworld.{function}",)


def done_by(place: str) -> Callable[[Function], Function]:
    """Decorate a function without a body; `place` says which function of a room does its work, as "module:function".

    That takes the same arguments, and an `observer` in the place of `quiet`; `quiet` itself, and `made`, which are
    facts for a page, only where it names them.
    """

    def decorate(function: Function) -> Function:
        signature = inspect.signature(function)

        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            given = dict(bound.arguments)
            module, _, name = place.partition(":")
            work = getattr(import_module(f"openworld.{module}"), name)
            further = {"quiet": given.pop("quiet"), "made": {"command": shlex.join(made_by(call.__name__))}}
            wanted = inspect.signature(work).parameters
            given |= {name: value for name, value in further.items() if name in wanted}
            with observing(quiet=further["quiet"]) as observer:
                return work(**given, observer=observer)

        return checked(call)  # ty: ignore[invalid-explicit-return]: `wraps` makes it what the function is

    return decorate
