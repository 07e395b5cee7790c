"""Axes of the plots: a linear one, and a logarithmic one that keeps room for what costs nothing."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

ROUND = (1, 2, 5)


@dataclass(frozen=True)
class Axis:
    """One axis: its title with the unit, its range, the values that get a tick, and their names where they have any."""

    title: str
    low: float
    high: float
    ticks: tuple[float, ...]
    names: tuple[str, ...] = ()

    @classmethod
    def around(
        cls, title: str, values: Sequence[float], *, limits=(0.0, 100.0), count: int = 5, least: float = 1.0
    ) -> "Axis":
        """An axis that holds all `values` with room on both sides, `least` or more, on round ticks, within `limits`."""
        low, high = min(values), max(values)
        room = max(0.08 * (high - low), least)
        low, high = max(limits[0], low - room), min(limits[1], high + room)
        step = _nice_step((high - low) / count)
        low, high = math.floor(low / step) * step, math.ceil(high / step) * step
        return cls(title, low, high, tuple(low + step * i for i in range(round((high - low) / step) + 1)))

    @property
    def labels(self) -> tuple[str, ...]:
        return self.names or tuple(f"{tick:g}" for tick in self.ticks)

    def share(self, value: float) -> float:
        return (value - self.low) / (self.high - self.low)


@dataclass(frozen=True)
class LogAxis:
    """A logarithmic axis from `low` to `high`; a tick at 0 means none and stands before a break at the beginning."""

    title: str
    low: float
    high: float
    ticks: tuple[float, ...]

    @classmethod
    def around(cls, title: str, values: Sequence[float]) -> "LogAxis":
        positive = [value for value in values if value > 0]
        low, high = _round_below(min(positive)), _nice_step(max(positive))
        low, high = (_round_below(low * 0.9), _nice_step(high * 1.1)) if low == high else (low, high)
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        steps = ROUND if high / low <= 50 else (1,)
        ticks = [float(f"{step}e{power}") for power in powers for step in steps]
        none = [0.0] if len(positive) < len(values) else []
        return cls(title, low, high, (*none, *(tick for tick in ticks if low * 0.999 <= tick <= high * 1.001)))

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(map(_abbreviate, self.ticks))

    @property
    def break_share(self) -> float:
        """The share of the axis before the break; 0 where there is none."""
        return 0.12 if 0 in self.ticks else 0.0

    def share(self, value: float) -> float:
        if value <= 0:
            return self.break_share / 2
        # Room at both ends, so that no dot sits on the break or on the frame.
        start, stop = self.break_share + 0.04, 0.97
        return start + (stop - start) * math.log(value / self.low) / math.log(self.high / self.low)


def _nice_step(rough: float) -> float:
    """The smallest 1, 2, 5 or 10 times a power of ten that is not below `rough`."""
    power = 10 ** math.floor(math.log10(rough))
    return next(step * power for step in (*ROUND, 10) if step * power >= rough * 0.999)


def _round_below(value: float) -> float:
    power = 10 ** math.floor(math.log10(value))
    return next(step * power for step in reversed(ROUND) if step * power <= value * 1.001)


def _abbreviate(value: float) -> str:
    """A tick of a logarithmic axis: none, 0.01, 500, 10k, 2M."""
    if value == 0:
        return "none"
    if value >= 1e6:
        return f"{value / 1e6:g}M"
    return f"{value / 1e3:g}k" if value >= 1e4 else f"{value:g}"
