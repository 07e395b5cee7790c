"""Learners, estimators and the like of other packages, found by Python entry points.

A package names its class in its own pyproject.toml, in the group of its kind and under the name it calls itself:

    [project.entry-points."openworld.learners"]
    MyLearner = "my_package:MyLearner"

Nothing is imported before it is asked for, and a plug-in that fails takes nothing else with it.
"""

import faulthandler
import os
import signal
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from types import FrameType
from typing import Any

from openworld.core.errors import OpenworldError, unknown_name
from openworld.core.reading import article
from openworld.core.types import checked


@dataclass(frozen=True, eq=False)
class Plugins:
    """One kind of thing that other packages may bring, in entry points of the group "openworld." + kind + "s".

    Each has the `promised` attributes, and its own name in `named_by`; `ours` gives the visible dict.
    """

    kind: str
    promised: tuple[str, ...]
    ours: Callable[[], dict[str, Any]]
    named_by: str = "name"
    of: type = type

    @checked
    def find(self, name: str) -> Any:
        """The class or evaluation of that name, ours or a plug-in; unknown and broken ones raise `OpenworldError`."""
        if name in self.ours():
            return self.ours()[name]
        if name not in self.offered():
            raise unknown_name(self.kind, name, [*self.ours(), *self.offered()])
        return self._load(name)

    def all(self) -> dict[str, type]:
        """Ours, and every plug-in that can be loaded."""
        broken = self.broken()
        return self.ours() | {name: self._load(name) for name in self.offered() if name not in broken}

    def broken(self) -> dict[str, str]:
        """Plug-ins that cannot be loaded: their names, and why."""
        broken = {}
        for name in self.offered():
            try:
                self._load(name)
            except OpenworldError as error:
                broken[name] = str(error)
        return broken

    @checked
    def origin(self, name: str) -> str:
        """The package and version that bring a plug-in, such as "my-package 1.2"; "" for one of ours."""
        if name in self.ours() or name not in self.offered():
            return ""
        return " and ".join(map(_brought_by, self.offered()[name]))

    def rows(self, row: Callable[[str, type], object]) -> tuple[list, list[str]]:
        """What `row` makes of the name and the class of every usable plug-in, and sentences on those that are not."""
        broken = self.broken()
        made, reasons = [], list(broken.values())
        for name in [name for name in self.offered() if name not in broken]:
            try:
                with failures_named(self.kind, name, self.origin(name), "listed"):
                    made.append(row(name, self._load(name)))
            except OpenworldError as error:
                reasons.append(str(error))
        return made, reasons

    def offered(self) -> dict[str, list[EntryPoint]]:
        """Name -> every entry point of that name; read anew each time, for it costs little and packages come and go."""
        by_name: dict[str, list[EntryPoint]] = {}
        for entry in entry_points(group=f"openworld.{self.kind}s"):
            by_name.setdefault(entry.name, []).append(entry)
        return by_name

    def _load(self, name: str) -> type:
        entries = self.offered()[name]
        if name in self.ours():
            reason = (
                f"openworld has {article(self.kind)} {self.kind} {name!r} of its own; give the plug-in another name."
            )
            raise _refused(self.kind, entries[0], reason)
        if len(entries) > 1:
            reason = f"{_brought_by(entries[1])} brings one of that name too; uninstall one of them."
            raise _refused(self.kind, entries[0], reason)
        return _loaded(self.kind, self.promised, self.named_by, self.of, entries[0])


@cache
def _loaded(kind: str, promised: tuple[str, ...], named_by: str, of: type, entry: EntryPoint) -> type:
    with failures_named(kind, entry.name, _brought_by(entry), "used"):
        loaded = entry.load()
        missing = [attribute for attribute in promised if not hasattr(loaded, attribute)]
        called = getattr(loaded, named_by, "")
    if not isinstance(loaded, of) or missing:
        raise _refused(kind, entry, f"{entry.value} is no {kind}: it has no {', '.join(missing) or 'settings'}.")
    if called != entry.name:
        raise _refused(kind, entry, f"it calls itself {called!r}; give it and its entry point the same name.")
    return loaded


@contextmanager
def failures_named(kind: str, name: str, origin: str, doing: str) -> Generator[None]:
    """Whatever the code of a plug-in raises in this block becomes an `OpenworldError` that names it.

    A plug-in may fail in any way, `sys.exit` and `os._exit` included, which would otherwise end the command as if all
    were well. A KeyboardInterrupt is its own failure unless a signal came. Standard output and error are put back. What
    ends the process from below Python (a crash in C, `os.abort`) is not caught, which would take a second process for
    every plug-in: it has an exit code of its own, and where it came from is printed.
    """
    interrupts: list[int] = []
    try:
        with _streams_put_back(), _interrupts_noted(interrupts), _exits_refused(), _crashes_shown():
            yield
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt) and interrupts:
            raise
        reason = f"{type(error).__name__}: {error}"
        raise OpenworldError(f"the plug-in {kind} {name!r} of {origin} cannot be {doing}: {reason}") from error


@contextmanager
def _interrupts_noted(interrupts: list[int]) -> Generator[None]:
    """Add to a list whenever SIGINT comes; it goes on to whoever was to have it."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield  # no KeyboardInterrupt of a signal can come here
        return

    def note(number: int, frame: FrameType | None) -> None:
        interrupts.append(number)
        before(number, frame)

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _crashes_shown() -> Generator[None]:
    """Let a crash below Python print the lines that led to it, the plug-in's among them."""
    stream = sys.__stderr__
    if faulthandler.is_enabled() or stream is None or stream.closed:
        yield
        return
    faulthandler.enable(stream)
    try:
        yield
    finally:
        faulthandler.disable()


@contextmanager
def _exits_refused() -> Generator[None]:
    """Let `os._exit` raise in this process, which it would end with any exit code and without a word."""
    exit_now, process, inside = os._exit, os.getpid(), True

    def refuse(status: int) -> None:
        if not inside or os.getpid() != process:  # kept for later, or of a process that was forked meanwhile
            exit_now(status)
        raise SystemExit(f"os._exit({status})")

    homes = [module for module in map(sys.modules.get, ("os", "posix", "nt")) if module is not None]
    for module in homes:
        module._exit = refuse  # ty: ignore[missing-attribute]: of `os`
    try:
        yield
    finally:
        inside = False
        for module in homes:
            module._exit = exit_now  # ty: ignore[missing-attribute]: of `os`


@contextmanager
def _streams_put_back() -> Generator[None]:
    """Leave standard output and error as they were, also where they are closed or replaced meanwhile."""
    handles = []
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        try:
            number = stream.fileno()
            handles.append((name, stream, number, os.dup(number)))
        except (AttributeError, OSError, ValueError):  # none, or one of a test or a notebook that is no file
            handles.append((name, stream, -1, -1))
    try:
        yield
    finally:
        for name, stream, number, copy in handles:
            if copy >= 0:
                os.dup2(copy, number)
                os.close(copy)
                if stream.closed:
                    stream = open(number, "w", encoding=stream.encoding, errors=stream.errors, closefd=False)  # noqa: SIM115
            setattr(sys, name, stream)


def _refused(kind: str, entry: EntryPoint, reason: str) -> OpenworldError:
    return OpenworldError(f"the plug-in {kind} {entry.name!r} of {_brought_by(entry)} cannot be used: {reason}")


def _brought_by(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else entry.value
