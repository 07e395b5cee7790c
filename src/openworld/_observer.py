"""Who is told how far some work is, and what is to be said before it ends."""

from dataclasses import dataclass
from typing import Protocol


class Progress(Protocol):
    """A function that shows how far some work is.

    Args:
        doing: what is being done, in words.
        done, total: how much of it is done, and how much there is; None where that is not known.
        before: how much of `done` was there when the work began, which says nothing about its pace.
        milestone: whether something whole was finished, such as a unit of a run; a log says so at once.
    """

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
