"""Small words that tables, terminal and verdict share."""

from collections.abc import Iterator

from openworld.evaluations.recognition_by_shift.run import OpenWorldShiftRun
from openworld.report.text import bracketed, percent

_MARKS = {1: "▲", -1: "▼", 0: ""}


def starred(value: float | None, sign: int) -> str:
    """A number with a mark where it is shown to be better or worse than the yardstick.

    >>> starred(0.4567, 1), starred(None, 0)
    ('45.7▲', '–')
    """
    return f"{percent(value)}{_MARKS[sign]}"


def tests_told(run: OpenWorldShiftRun, tests) -> str:
    """What the marks say; nothing where nothing was tested."""
    if not tests:
        return ""
    return f" ▲ ▼: shown to be better or worse than {run.yardstick} (p < .05 after Holm over learners and levels)."


def spoken_interval(interval: tuple[float, float] | None) -> str:
    """The hint of a cell.

    >>> spoken_interval((0.25, 0.5))
    '95 % [25.0 50.0]'
    """
    return f"95 % {bracketed(interval)}" if interval else ""


def warned(run: OpenWorldShiftRun) -> Iterator[str]:
    """A sentence per estimator that warned, with its first warning."""
    for name in run.estimators:
        told = [one.metrics["estimation"]["estimates"][name] for ones in run.records.values() for one in ones]
        cells = sum(one["warned"] for one in told)
        if cells:
            first = next(one["warning"] for one in told if one["warning"])
            yield f"{name} warned in {cells:,} cells of all learners and seeds; first: {first}."
