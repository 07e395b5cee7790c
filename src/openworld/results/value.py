"""A number with its uncertainty, and the metric that says how it is called and written.

Ours stand in `metrics.toml` beside this file: title, unit, digits and direction of each.
"""

import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.resources import files
from math import isfinite
from typing import Annotated, Literal

from openworld.core.arrays import LARGEST
from openworld.core.errors import OpenworldError, unknown_name
from openworld.core.types import Count, Range, checked
from openworld.metrics import LIMITS

MINUS = "\u2212"
DASH = "–"
UNITS = {
    "percent": (100.0, ""),
    "points": (100.0, "+"),
    "points per level": (100.0, ""),
    "squared points": (1e4, ""),
    "fraction": (1.0, ""),
    "difference": (1.0, "+"),
    "number": (1.0, ""),
    "count": (1.0, ","),
    "thousands": (1e-3, ","),
    "seconds": (1.0, ""),
    "milliseconds": (1000.0, ""),
    "text": (1.0, ""),
}
"""A unit -> by how much a value of ours is multiplied to be printed in it, and how Python formats it."""

_MOST_DIGITS = 17  # as many as a float has
SHARES = ("percent", "points", "points per level", "squared points", "fraction", "difference")
SIGNED = {"percent": "points", "fraction": "difference"}
"""A unit -> that of a difference."""


@checked
@dataclass(frozen=True)
class Interval:
    """A 95 % interval.

    Args:
        low, high: its ends, in the unit of the value.
        over: what else could have been drawn, in small letters: "images", "seeds", "data sets".
        n: how many of them there were; None where that is not one number.
    """

    low: float
    high: float
    over: str
    n: Count | None = None

    def __post_init__(self) -> None:
        if not (isfinite(self.low) and isfinite(self.high) and self.low <= self.high):
            raise OpenworldError(f"an interval from {self.low} to {self.high} came, expected two finite ends in order.")
        if not self.over.replace(" ", "").isalpha() or self.over != self.over.lower().strip():
            raise OpenworldError(
                f"an interval over {self.over!r} came, expected what was drawn in small letters, such as 'images'."
            )

    @property
    def width(self) -> float:
        """From end to end."""
        return self.high - self.low


@checked
@dataclass(frozen=True)
class Value:
    """A number, what is known of its uncertainty, and why there is none where it is not defined.

    Args:
        value: fractions for percentages, seconds, counts; None where it is not defined.
        intervals: the most telling first, at most one over the same thing.
        reason: why the value is None.
        deviation: standard deviation of what the value is the mean of; None where it is not known.

    >>> Value(0.47, (Interval(0.44, 0.5, "images", 80),)).over("images").width < 0.07
    True
    """

    value: int | float | None
    intervals: tuple[Interval, ...] = ()
    reason: str = ""
    deviation: Annotated[float, Range(0, LARGEST)] | None = None

    def __post_init__(self) -> None:
        if self.value is None and not self.reason:
            raise OpenworldError("a value of None came without a reason; say in a few words why it is not defined.")
        kinds = [interval.over for interval in self.intervals]
        if len(set(kinds)) < len(kinds):
            raise OpenworldError(f"intervals over {', '.join(kinds)} came, expected at most one over the same thing.")

    def over(self, what: str = "") -> Interval | None:
        """The interval over images, seeds, ...; without a name the first; None where there is none."""
        return next((interval for interval in self.intervals if what in ("", interval.over)), None)


@checked
@dataclass(frozen=True)
class Metric:
    """How a number is called and written.

    Args:
        key: its name in data.
        title: what heads its column.
        unit: of `UNITS`: how it is printed. "points" and "difference" have a sign; "number" has significant digits.
        digits: decimals on screen, or significant digits.
        better: 1 the higher, -1 the lower, 0 neither.
        bounds: the least and the largest that it can be; None where there is no end.
    """

    key: str
    title: str
    unit: str = "percent"
    digits: Annotated[int, Range(0, _MOST_DIGITS)] = 1
    better: Literal[1, 0, -1] = 1
    bounds: tuple[float | None, float | None] = (0.0, 1.0)

    def __post_init__(self) -> None:
        if self.unit not in UNITS:
            raise unknown_name("unit", self.unit, UNITS)
        low, high = self.bounds
        if low is not None and high is not None and low > high:
            raise OpenworldError(f"bounds are {low} and {high}, expected the least and the largest value in order.")

    @property
    def scale(self) -> float:
        """By how much a value is multiplied to be printed."""
        return UNITS[self.unit][0]

    @property
    def is_score(self) -> bool:
        """Whether it says how good something is, as a share; times and counts do not."""
        return bool(self.better) and self.unit in SHARES

    @property
    def stored_unit(self) -> str:
        """The unit of values in data: shares are fractions there, however they are printed."""
        plain = {"thousands": "count", "milliseconds": "seconds"}
        return "fraction" if self.unit in SHARES else plain.get(self.unit, self.unit)

    def write(self, value: float | None, extra: int = 0) -> str:
        """A value as text; a dash where there is none.

        Args:
            value: in the unit of data.
            extra: so many decimals more for percentages and points, as papers print them.

        >>> auc = Metric("openworld_auc", "OpenworldAUC")
        >>> auc.write(0.4696), auc.write(0.4696, 1), auc.write(None)
        ('47.0', '46.96', '–')
        >>> Metric("gain", "gain", "points").write(-0.007), Metric("images", "images", "count").write(26624)
        ('−0.7', '26,624')
        """
        if value is None:
            return DASH
        scale, form = UNITS[self.unit]
        if self.unit == "milliseconds":  # about three digits
            return f"{scale * value:.{1 if value >= 0.001 else 2 if value >= 0.0001 else 3}f}"
        if self.unit == "seconds" and value < 10:
            return f"{value:.1f} s" if value >= 0.05 else "0 s"
        if self.unit == "seconds":
            return f"{value:.0f} s" if value < 120 else f"{value / 60:.1f} min"
        if self.unit == "number":
            return f"{value + 0.0:.{self.digits}g}".replace("-", MINUS)  # never -0
        digits = self.digits + extra * (self.unit in ("percent", "points")) if self.unit != "count" else 0
        text = f"{scale * value:{form if form == ',' else ''}.{digits}f}"
        if not float(text.replace(",", "")):
            return text.removeprefix("-")
        return (f"+{text}" if form == "+" and value > 0 else text).replace("-", MINUS)

    def write_interval(self, interval: Interval | None, extra: int = 0) -> str:
        """The two ends in brackets; empty where there is no interval.

        >>> Metric("auroc", "AUROC").write_interval(Interval(0.439, 0.501, "images"))
        '[43.9 50.1]'
        """
        if interval is None:
            return ""
        return f"[{self.write(interval.low, extra)} {self.write(interval.high, extra)}]"


TEXT = Metric("text", "", "text", 0, 0, (None, None))
"""Of a column of words; `dataclasses.replace(TEXT, title=...)` is not needed: a column has a title of its own."""


@checked
def interval_of(
    ends: tuple[float | None, float | None] | None, over: str, n: int | None = None
) -> tuple[Interval, ...]:
    """Two ends as the intervals of a value; none where there are no ends.

    >>> interval_of(None, "images"), interval_of((0.1, 0.2), "images", 5)[0].n
    ((), 5)
    """
    low, high = ends or (None, None)
    return () if low is None or high is None else (Interval(low, high, over, n),)


def value_or(
    value: float | None, reason: str, intervals: Sequence[Interval] = (), deviation: float | None = None
) -> Value:
    """Return a value with what is known of it, or why there is none."""
    return Value(None, reason=reason) if value is None else Value(value, tuple(intervals), deviation=deviation)


def _read_metrics() -> Iterator[Metric]:
    text = files("openworld.results").joinpath("metrics.toml").read_text(encoding="utf-8")
    for key, card in tomllib.loads(text).items():
        # Those of the file, or of a number of a robustness curve; None where there is no end.
        bounds = LIMITS.get(key, card.get("bounds", Metric.bounds))
        ends = (None if isinstance(end, str) or end == float("inf") else end for end in bounds)
        yield Metric(key, **card | {"bounds": tuple(ends)})


METRICS: dict[str, Metric] = {metric.key: metric for metric in _read_metrics()}
"""By key. An evaluation that measures something else makes a `Metric` of its own."""


def unknown_metric(owner: str, name: str, known: Iterable[str]) -> OpenworldError:
    """Return the error for a metric that `owner` does not have, though others may."""
    known = list(known)
    meant = next(iter(get_close_matches(name.casefold(), sorted({*METRICS, *known}), n=1)), "")
    if not meant or meant in known:
        return unknown_name(f"metric of {owner}", name, known)
    near = sorted(key for key in known if meant in key) or get_close_matches(meant, known, n=3)
    hint = f"; near are {', '.join(near)}" if near else ""
    other = "" if meant == name else f" nor {meant!r}"
    return OpenworldError(f"{owner} has no metric {name!r}{other}{hint}. Known: {', '.join(known)}.")
