"""What `openworld list metrics` says about a metric."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class MetricCard:
    """A metric's function, what it tells in one line, its range (low, high), None where open, and its source."""

    function: Callable
    summary: str
    range: tuple[float | None, float | None]
    paper: str
