"""How far accuracies at the levels of a scenario would move with other images, and what follows for their curves.

The views of a scenario are nested and every method answers the same images, so that accuracies at two levels, or of
two methods, err together. To first order a group of images changes each of them by its influence; the sums of
products of influences over groups are all that intervals and paired tests of any number drawn from the curves need.
Seeds are held fixed: what a group contributes is its mean over the views of all seeds.

The numbers of a Dynamic Robustness Curve are smooth functions of these accuracies but for kinks: |.| in EVM where a
step is 0, and the areas PA and NA where the difference to zero-shot is 0. Away from a kink the delta method holds. A
step, or a difference, that cannot be told from 0 is taken at both ends of what it may be, so that the interval grows
instead of missing. (A bootstrap would not do: noise adds to EVM and VS, and a replicate adds it twice; in simulations
its percentiles miss a small VS always, where these intervals hold 94 to 100 %.)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from openworld.core.arrays import (
    ArrayLike,
    as_answers,
    as_fractions,
    as_groups,
    as_table,
    require_length,
    require_size,
)
from openworld.core.errors import OpenworldError
from openworld.core.representation import short_repr
from openworld.core.types import Fraction, checked
from openworld.metrics._robustness import area_above, area_weights, as_levels
from openworld.metrics.estimate import NO_VARIANCE, Spread, share_interval, student_quantile
from openworld.metrics.paired import PairedTest, against_zero

LEVEL_NUMBERS = (
    "initial_accuracy", "auc", "worst_accuracy", "variation",
    "slope_variance", "positive_area", "negative_area", "delta_auc", "delta_pn",
)  # fmt: skip
NO_ZERO_SHOT = "no zero-shot curve to compare with"
ROUNDING = 1e-13  # of a variance, against what its terms add up to without their signs: they cancel
ALONE = 1 + 1e-9  # effective groups: no more than one


@dataclass(frozen=True, eq=False)
class LevelErrors:
    """Mean accuracies float64[M, T] of M methods at T levels, and how they err together over images.

    covariance: float64[M T, M T], method by method. overlap: float64[T, T], of the shares that groups have of the
    levels; its inverse is how many equally large groups a level holds. groups: how many there are.
    """

    accuracy: np.ndarray
    covariance: np.ndarray
    overlap: np.ndarray
    groups: int

    __repr__ = short_repr

    @checked
    def spread(self, weights: ArrayLike) -> Spread:
        """Standard error of sum(weights x accuracy), clustered by group, with its degrees of freedom.

        Args:
            weights: float[M, T]; for a smooth function of the accuracies, its slopes.
        Returns:
            Spread; degrees of freedom are the effective groups of the levels that weigh, less 1 (Kish).
        """
        weights = require_size(as_table(weights, "weights", (2,)), "weights")
        if weights.shape != self.accuracy.shape:
            raise OpenworldError(f"weights has shape {weights.shape}, expected {self.accuracy.shape} as accuracies.")
        mass, flat = np.abs(weights).sum(axis=0), weights.ravel()
        if not mass.any():
            return Spread(None, None, NO_VARIANCE)
        share = mass / mass.sum()
        effective = 1 / float(share @ self.overlap @ share)
        if effective <= ALONE:
            return Spread(None, None, "there are fewer than 2 independent groups of images")
        variance = float(flat @ self.covariance @ flat)
        terms = float(np.abs(flat) @ np.abs(self.covariance) @ np.abs(flat))
        if variance <= ROUNDING * terms:
            return Spread(None, None, NO_VARIANCE, (effective,))
        return Spread(float(np.sqrt(variance * effective / (effective - 1))), effective - 1, None, (effective,))


@checked
def level_errors(groups: Sequence[Sequence], correct: Sequence[Sequence], *, expected: bool = False) -> LevelErrors:
    """Joint error of the accuracies of methods that answered the same views.

    Args:
        groups: one entry per seed (or per course and seed), each with one int[n] per level: equal numbers for images
            that are not independent, over all seeds and levels.
        correct: the same nesting of bool[M, n]: which images each method named right.
        expected: whether `correct` holds expectations in [0, 1] instead, where nobody knows who is right.
    Returns:
        LevelErrors; accuracies in [0, 1] are means over the entries.
    Raises:
        OpenworldError: no entry, an empty view, or numbers of levels, images or methods that differ.
    Source: linearisation of a ratio over clusters (Cochran, 1977, section 6.3), as DeLong et al. (1988) for AUROC.

    >>> errors = level_errors([[[0, 1]]], [[[[1, 0]]]])  # one seed, one level, two images, one method
    >>> errors.accuracy.tolist(), round(errors.spread([[1]]).standard_error, 3)  # sqrt(.25 / 2 x 2)
    ([[0.5]], 0.5)
    """
    groups, correct = _check(groups, correct, partial(as_fractions, dimensions=(2,)) if expected else as_answers)
    values, codes = np.unique(np.concatenate([view for seed in groups for view in seed]), return_inverse=True)
    methods, levels = len(correct[0][0]), len(groups[0])
    accuracy = np.zeros((methods, levels))
    influence, shares = np.zeros((methods, levels, values.size)), np.zeros((levels, values.size))
    start = 0
    for views, answers in zip(groups, correct, strict=True):
        for level, of_level in enumerate(answers):
            code = codes[start : start + len(views[level])]
            start += len(code)
            means = of_level.mean(axis=1)
            accuracy[:, level] += means
            shares[level] += np.bincount(code, minlength=values.size) / len(code)
            for method, right in enumerate(of_level):
                influence[method, level] += np.bincount(code, right - means[method], values.size) / len(code)
    seeds = len(groups)
    flat, shares = influence.reshape(-1, values.size) / seeds, shares / seeds
    return LevelErrors(accuracy / seeds, flat @ flat.T, shares @ shares.T, values.size)


def _check(groups, correct, read):
    groups = [[as_groups(view, "groups") for view in seed] for seed in groups]
    correct = [[read(view, "correct") for view in seed] for seed in correct]
    shapes = [[(len(view),) for view in seed] for seed in groups]
    if not groups or not groups[0] or any(size == (0,) for seed in shapes for size in seed):
        raise OpenworldError("groups hold an empty view, or none at all; every level of every seed needs an image.")
    methods = {view.shape[:1] for seed in correct for view in seed}
    same = [[view.shape[1:] for view in seed] for seed in correct] == shapes
    if not same or len(methods) != 1 or len({len(seed) for seed in groups}) != 1:
        raise OpenworldError(
            "groups and correct disagree: give for every seed, and for each of the same levels, groups [images] and "
            "correct [methods, images], with the same methods everywhere."
        )
    return groups, correct


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
