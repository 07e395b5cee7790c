"""What an axis shows, the axis that holds it, and what lies across a plot: data that several charts share.

An axis is linear, or logarithmic with room for what costs nothing.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from openworld.results import Metric

CROWDED = 6  # series beyond which all but the highlighted stand back until they are chosen
ROUND = (1, 2, 5)
LIMITS = {"percent": (0.0, 100.0), "points": (-100.0, 100.0)}
LEAST_ROOM = {"fraction": 0.02, "difference": 0.02, "number": 0.02}  # on both sides of the data, in the unit drawn
UNBOUNDED = (-math.inf, math.inf)
TICKS = 12  # that have a number each; of more, every second or third has
NAMED, CHARACTERS = 5, 44  # labels below an axis, and what they may hold together


@dataclass(frozen=True)
class Axis:
    """One axis: its title with the unit, its range, the values that get a tick, and their names where they have any.

    On a logarithmic one a tick at 0 means none and stands before a break at the beginning.
    """

    title: str
    low: float
    high: float
    ticks: tuple[float, ...]
    names: tuple[str, ...] = ()
    log: bool = False

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

    @classmethod
    def logarithmic(cls, title: str, values: Sequence[float]) -> "Axis":
        """A logarithmic axis that holds all `values`, of which one at least is above 0, on round ticks."""
        positive = [value for value in values if value > 0]
        low, high = _round_below(min(positive)), _nice_step(max(positive))
        low, high = (_round_below(low * 0.9), _nice_step(high * 1.1)) if low == high else (low, high)
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        steps = ROUND if high / low <= 50 else (1,)
        ticks = [float(f"{step}e{power}") for power in powers for step in steps]
        none = [0.0] if len(positive) < len(values) else []
        ticks = (*none, *(tick for tick in ticks if low * 0.999 <= tick <= high * 1.001))
        return cls(title, low, high, ticks, log=True)

    @property
    def labels(self) -> tuple[str, ...]:
        return self.names or tuple(_abbreviate(tick) if self.log else f"{tick:g}" for tick in self.ticks)

    @property
    def break_share(self) -> float:
        """The share of a logarithmic axis before the break; 0 where there is none."""
        return 0.12 if self.log and 0 in self.ticks else 0.0

    def share(self, value: float) -> float:
        """Return where a value lies: 0 at the beginning of the axis and 1 at its end."""
        if not self.log:
            return (value - self.low) / (self.high - self.low)
        if value <= 0:
            return self.break_share / 2
        # Room at both ends, so that no dot sits on the break or on the frame.
        start, stop = self.break_share + 0.04, 0.97
        return start + (stop - start) * math.log(value / self.low) / math.log(self.high / self.low)


@dataclass(frozen=True)
class Quantity(Metric):
    """What an axis shows: a metric whose title is that of the axis, with the unit.

    Args:
        key, title, unit, digits, better, bounds: as of `Metric`.
        covers: values that lie within the axis besides the data.
        ends: where the axis begins and ends; None for round numbers around the data.
        log: whether it is logarithmic; 0 means none and stands before a break.
        at_values: whether ticks stand at the values of the data.
        labels: what stands at 0, 1, 2, ... instead of numbers.
    """

    covers: tuple[float, ...] = ()
    ends: tuple[float, float] | None = None
    log: bool = False
    at_values: bool = False
    labels: tuple[str, ...] = ()

    @classmethod
    def of(cls, metric: Metric, **options) -> "Quantity":
        """Return the axis of a metric, with its unit in the title, such as "AUROC, %"."""
        unit = {"percent": ", %", "points": ", points", "seconds": ", seconds"}.get(metric.unit, "")
        return cls(metric.key, metric.title + unit, metric.unit, metric.digits, **options)

    def scaled(self, value: float) -> float:
        return value if self.labels else self.scale * value

    def write(self, value: float | None, extra: int = 0) -> str:
        """Return the label that stands at a value, or the value as any metric writes it."""
        return self.labels[round(value)] if self.labels and value is not None else super().write(value, extra)

    def axis(self, values: Iterable[float | None], steps: int = 5) -> Axis:
        """Return the axis that holds all values, in the unit that is drawn, with about so many steps between ticks."""
        drawn = [self.scaled(value) for value in (*values, *self.covers) if value is not None]
        if self.labels:  # the first, the last, and some between
            count = len(self.labels)
            labels = min(NAMED, count, max(2, CHARACTERS // max(map(len, self.labels))))
            places = sorted({round(part * (count - 1) / max(1, labels - 1)) for part in range(labels)})
            names = tuple(self.labels[place] for place in places)
            return Axis(self.title, -0.5, count - 0.5, tuple(map(float, places)), names)
        if self.ends:
            low, high = map(self.scaled, self.ends)
            return Axis(self.title, low, high, tuple(low + (high - low) * step / 5 for step in range(6)))
        if self.at_values and drawn:
            ends = sorted(set(drawn))
            ticks = tuple(ends[:: -(-len(ends) // TICKS)])
            room = 0.0 if self.log else 0.05 * (ends[-1] - ends[0]) or 0.5
            return Axis(self.title, ends[0] - room, ends[-1] + room, ticks, log=self.log)
        if self.log:
            return Axis.logarithmic(self.title, drawn)
        limits, least = LIMITS.get(self.unit, UNBOUNDED), LEAST_ROOM.get(self.unit, 1.0)
        return Axis.around(self.title, drawn or [0.0, 100.0], limits=limits, count=steps, least=least)


@dataclass(frozen=True)
class Reference:
    """A straight line across a plot, at a value of the axis "x" or "y"; kind: "reference", "known" or "alert"."""

    value: float
    text: str = ""
    axis: str = "y"
    kind: str = "reference"


@dataclass(frozen=True)
class Region:
    """A shaded rectangle of a plot, between two values of each axis, and what it says."""

    x: tuple[float, float]
    y: tuple[float, float]
    text: str


def drawn_points(chart, points: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return points (x, y) in the units in which the axes of a chart are drawn."""
    return [(chart.x.scaled(x), chart.y.scaled(y)) for x, y in points]


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
