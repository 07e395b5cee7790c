"""Who is told how far the work of a command is, and what is to be said before it ends."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Observer:
    """Two functions that work calls; without them it is silent.

    Args:
        progress: called with what is being done, how much is done, and how much there is or None.
        say: called with a line for whoever is waiting.
    """

    progress: Callable[[str, int, int | None], None] = lambda doing, done, total=None: None
    say: Callable[[str], None] = lambda line: None


SILENT = Observer()
"""Tells nobody."""
