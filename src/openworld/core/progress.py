"""Who is told how far some work is, and what is to be said before it ends."""

from dataclasses import dataclass
from typing import Protocol


class Progress(Protocol):
    """Shows how far some work is; `before` of `done` says nothing about its pace, a milestone is said at once."""

    def __call__(
        self, doing: str, done: int, total: int | None = None, before: int = 0, milestone: bool = False
    ) -> None: ...


class Say(Protocol):
    """A function that shows a line to whoever is waiting."""

    def __call__(self, line: str) -> None: ...


@dataclass(frozen=True)
class Observer:
    """Two functions that work calls; without them it is silent."""

    progress: Progress = lambda doing, done, total=None, before=0, milestone=False: None
    say: Say = lambda line: None


SILENT = Observer()
"""Tells nobody."""
