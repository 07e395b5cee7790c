"""What an axis shows, and what lies across a plot: data that several charts share."""

from collections.abc import Sequence
from dataclasses import dataclass

from openworld.results.value import UNITS, Metric

CROWDED = 6  # series beyond which all but the highlighted stand back until they are chosen


@dataclass(frozen=True)
class Quantity:
    """What an axis shows.

    Args:
        key: its column in the data.
        title: of the axis, with the unit.
        unit, digits: as of `Metric`: "percent" and "points" are fractions in data, "number" is as it is.
        covers: values that lie within the axis besides the data.
        ends: where the axis begins and ends; None for round numbers around the data.
        log: whether it is logarithmic; 0 means none and stands before a break.
        at_values: whether ticks stand at the values of the data.
        labels: what stands at 0, 1, 2, ... instead of numbers.
    """

    key: str
    title: str
    unit: str = "percent"
    digits: int = 1
    covers: tuple[float, ...] = ()
    ends: tuple[float, float] | None = None
    log: bool = False
    at_values: bool = False
    labels: tuple[str, ...] = ()

    @classmethod
    def of(cls, metric: Metric, **options) -> "Quantity":
        """Return the axis of a metric.

        >>> Quantity.of(Metric("auroc", "AUROC")).title
        'AUROC, %'
        """
        unit = {"percent": ", %", "points": ", points"}.get(metric.unit, "")
        return cls(metric.key, metric.title + unit, metric.unit, metric.digits, **options)

    def scaled(self, value: float) -> float:
        """Return the value in the unit that is drawn."""
        return value if self.labels else UNITS[self.unit][0] * value

    def write(self, value: float) -> str:
        """Return the value as text, without its unit.

        >>> Quantity("auroc", "AUROC, %").write(0.5), Quantity("bias", "bias", "points").write(-0.0311)
        ('50.0', '−3.1')
        """
        if self.labels:
            return self.labels[round(value)]
        return Metric(self.key, self.title, self.unit, self.digits).write(value)


@dataclass(frozen=True)
class Reference:
    """A straight line across a plot, at a value of the axis "x" or "y"; kind: "reference", "known" or "alert"."""

    value: float
    text: str = ""
    axis: str = "y"
    kind: str = "reference"


@dataclass(frozen=True)
class Region:
    """A shaded rectangle of a plot, over all values of an axis where it has no ends; kind: "corner" or "region"."""

    x: tuple[float, float] | None = None
    y: tuple[float, float] | None = None
    text: str = ""
    kind: str = "region"


@dataclass(frozen=True)
class Spot:
    """A ring around a point of a series, and what it says."""

    x: float
    y: float
    text: str


def in_front(names: Sequence[str], highlight: Sequence[str]) -> set[str]:
    """Return the series that do not stand back: all of few, and of many the highlighted, where there are any.

    >>> sorted(in_front(["a", "b"], ["a"])), in_front("abcdefgh", ["a"])
    (['a', 'b'], {'a'})
    """
    chosen = set(highlight) & set(names)
    return chosen if len(names) > CROWDED and chosen else set(names)
