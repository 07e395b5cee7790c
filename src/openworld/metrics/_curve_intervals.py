"""Intervals over images of the numbers of a Dynamic Robustness Curve, and paired tests of areas.

Every number is a function of the accuracies at the levels, smooth but for kinks: |.| in EVM where a step is 0, and the
areas PA and NA where the difference to zero-shot is 0. Away from a kink the delta method holds. A step, or a
difference, that cannot be told from 0 is taken at both ends of what it may be, so that the interval grows instead of
missing. (A bootstrap would not do: noise adds to EVM and VS, and a replicate adds it twice; in simulations its
percentiles miss a small VS always, where these intervals hold 92 to 100 %.)
"""

from dataclasses import dataclass

import numpy as np

from openworld.core.arrays import ArrayLike, require_length
from openworld.core.errors import OpenworldError
from openworld.core.types import Fraction, checked
from openworld.metrics._level_errors import LevelErrors
from openworld.metrics._robustness import area_above, area_weights, as_levels
from openworld.metrics.estimate import NO_VARIANCE, Spread, share_interval, student_quantile
from openworld.metrics.paired import PairedTest, against_zero

LEVEL_NUMBERS = (
    "initial_accuracy", "auc", "worst_accuracy", "variation",
    "slope_variance", "positive_area", "negative_area", "delta_auc", "delta_pn",
)  # fmt: skip
NO_ZERO_SHOT = "no zero-shot curve to compare with"


@dataclass(frozen=True)
class ImageInterval:
    """Ends of an interval over images, given the seeds; None with `reason`."""

    low: float | None
    high: float | None
    reason: str | None = None


@checked
def curve_intervals(
    errors: LevelErrors, levels: ArrayLike, method: int, zero_shot: int | None = None, *, level: Fraction = 0.95
) -> dict[str, ImageInterval]:
    """Intervals of every number of one method's curve, clustered by group, seeds held fixed.

    Args:
        errors: of `level_errors`.
        levels: float[T] in [0, 1], increasing.
        method: row of the method.
        zero_shot: row of zero-shot; None leaves the comparison out.
        level: confidence, in (0, 1).
    Returns:
        {name of LEVEL_NUMBERS: ImageInterval}. `initial_accuracy`, `auc` and `worst_accuracy` on the logit scale, as
        all shares; EVM, VS, PA and NA cut at 0; `delta_pn` is `delta_auc`.

    >>> from openworld.metrics._level_errors import level_errors
    >>> errors = level_errors([[[0, 1, 2, 3]] * 2], [[[[1, 1, 1, 0]], [[1, 0, 0, 0]]]])
    >>> found = curve_intervals(errors, [0, 1], 0)
    >>> found["variation"].low, found["delta_auc"].reason  # a step of .5 is not told from 0 by four images
    (0.0, 'no zero-shot curve to compare with')
    """
    levels = _levels_of(errors, levels)
    _require_rows(errors, method=method, zero_shot=zero_shot)
    curve = _Curve(errors, levels, method, level)
    accuracy = errors.accuracy[method]
    intervals = {
        "initial_accuracy": curve.share(np.eye(accuracy.size)[0]),
        "auc": curve.share(area_weights(levels)),
        "worst_accuracy": curve.share(np.eye(accuracy.size)[accuracy.argmin()]),
        "variation": curve.variation(),
        "slope_variance": curve.slope_variance(),
    }
    if zero_shot is None:
        return intervals | {name: ImageInterval(None, None, NO_ZERO_SHOT) for name in LEVEL_NUMBERS[5:]}
    gain = curve.difference(zero_shot)
    areas = {name: curve.area(zero_shot, sign) for name, sign in (("positive_area", 1), ("negative_area", -1))}
    return intervals | areas | {"delta_auc": gain, "delta_pn": gain}


@checked
def area_test(errors: LevelErrors, levels: ArrayLike, first: int, second: int) -> PairedTest:
    """Whether two methods differ in the area under their curves, on the same images, with these seeds.

    Args:
        errors: of `level_errors`.
        levels: float[T] in [0, 1], increasing.
        first, second: rows of the methods.
    Returns:
        PairedTest of first - second, two-sided against Student's t with (effective groups - 1) degrees of freedom.

    >>> from openworld.metrics._level_errors import level_errors
    >>> errors = level_errors([[[0, 1, 2]] * 2], [[[[1, 1, 1], [1, 0, 0]]] * 2])
    >>> round(area_test(errors, [0, 1], 0, 1).difference, 3)
    0.667
    """
    levels = _levels_of(errors, levels)
    _require_rows(errors, first=first, second=second)
    weights = np.zeros(errors.accuracy.shape)
    weights[first] = area_weights(levels)
    weights[second] -= area_weights(levels)
    return against_zero(float((weights * errors.accuracy).sum()), errors.spread(weights))


def _levels_of(errors: LevelErrors, levels) -> np.ndarray:
    levels = as_levels(levels)
    require_length(levels, "levels", errors.accuracy.shape[1])
    return levels


def _require_rows(errors: LevelErrors, **rows: int | None) -> None:
    for name, row in rows.items():
        if row is not None and not 0 <= row < len(errors.accuracy):
            raise OpenworldError(f"{name} is {row}, expected the row of one of {len(errors.accuracy)} methods, from 0.")


@dataclass(frozen=True, eq=False)
class _Curve:
    """One method's accuracies with what is needed to put intervals on numbers of them."""

    errors: LevelErrors
    levels: np.ndarray
    method: int
    level: float

    @property
    def accuracy(self) -> np.ndarray:
        return self.errors.accuracy[self.method]

    def spread(self, slopes: np.ndarray, against: int | None = None) -> Spread:
        """Return the spread of a number with these slopes in the method's accuracies, the opposite in another's."""
        weights = np.zeros(self.errors.accuracy.shape)
        weights[self.method] = slopes
        if against is not None:
            weights[against] -= slopes
        return self.errors.spread(weights)

    def half(self, slopes: np.ndarray, against: int | None = None, level: float | None = None) -> float:
        """Return half the width of the interval of a linear number; 0 where no images differ."""
        spread = self.spread(slopes, against)
        quantile = student_quantile(level or self.level, spread.degrees_of_freedom)
        return 0.0 if spread.standard_error is None or quantile is None else quantile * spread.standard_error

    def share(self, slopes: np.ndarray) -> ImageInterval:
        spread = self.spread(slopes)
        ends = share_interval(float(slopes @ self.accuracy), spread, self.level)
        return ImageInterval(None, None, spread.reason or NO_VARIANCE) if ends is None else ImageInterval(*ends)

    def difference(self, against: int) -> ImageInterval:
        slopes = area_weights(self.levels)
        value = float(slopes @ (self.accuracy - self.errors.accuracy[against]))
        return self._around((value, value), self.half(slopes, against), self.spread(slopes, against), (-1.0, 1.0))

    def variation(self) -> ImageInterval:
        steps = np.diff(self.accuracy)
        rows = np.diff(np.eye(self.accuracy.size), axis=0)  # slopes of every step
        several = 1 - (1 - self.level) / len(steps)  # so that no step of none is called one, among so many
        halves = np.array([self.half(row, level=several) for row in rows])
        decided = np.abs(steps) > halves
        slopes = (np.sign(steps) * decided) @ rows
        sure, unsure = np.abs(steps[decided]).sum(), (np.abs(steps) + halves)[~decided].sum()
        return self._around((sure, sure + unsure), self.half(slopes), self._total(rows))

    def slope_variance(self) -> ImageInterval:
        widths, steps = np.diff(self.levels), np.diff(self.accuracy)
        bends = steps / widths - steps.sum() / widths.sum()
        slopes = 2 * bends @ np.diff(np.eye(self.accuracy.size), axis=0)
        value = float(widths @ bends**2)
        return self._around((value, value), self.half(slopes), self.spread(slopes))

    def area(self, against: int, sign: int) -> ImageInterval:
        """Return the area of the curve above (sign 1) or below (-1) another."""
        gaps = sign * (self.accuracy - self.errors.accuracy[against])
        halves = np.array([self.half(row, against) for row in np.eye(gaps.size)])
        open_ones = np.abs(gaps) <= halves
        ends = []
        for end in (-1, 1):
            value, slopes = area_above(self.levels, gaps + end * halves * open_ones)
            ends.append(value + end * self.half(slopes * ~open_ones, against))
        return self._around((ends[0], ends[1]), 0.0, self._total(np.eye(gaps.size), against))

    def _total(self, rows, against: int | None = None) -> Spread:
        """Return the first of several linear numbers that has an error, or why none has."""
        spreads = [self.spread(row, against) for row in rows]
        return next((spread for spread in spreads if spread.standard_error is not None), spreads[0])

    def _around(
        self, ends: tuple[float, float], half: float, spread: Spread, limits: tuple[float, float] = (0.0, np.inf)
    ) -> ImageInterval:
        if spread.standard_error is None:
            return ImageInterval(None, None, spread.reason)
        return ImageInterval(max(limits[0], float(ends[0] - half)), min(limits[1], float(ends[1] + half)))
