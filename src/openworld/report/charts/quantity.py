"""What an axis shows, and what lies across a plot: data that several charts share."""

from collections.abc import Iterable
from dataclasses import dataclass

from openworld.results import Metric

CROWDED = 6  # series beyond which all but the highlighted stand back until they are chosen


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
