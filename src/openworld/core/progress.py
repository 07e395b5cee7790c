"""Who is told how far some work is, and what is to be said before it ends."""

from collections.abc import Callable
from dataclasses import dataclass

Progress = Callable[..., None]
"""Shows how far some work is: called with what is being done, how much of it is done, and of how much.

`before` of what is done says nothing about its pace, and a `milestone` is said at once.
"""


@dataclass(frozen=True)
class Observer:
    """Two functions that work calls; without them it is silent."""

    progress: Progress = lambda doing, done, total=None, before=0, milestone=False: None
    say: Callable[[str], None] = lambda line: None


SILENT = Observer()
"""Tells nobody."""
