"""How far accuracies at the levels of a scenario would move with other images: their joint error, for all methods.

The views of a scenario are nested and every method answers the same images, so that accuracies at two levels, or of
two methods, err together. To first order a group of images changes each of them by its influence; the sums of
products of influences over groups are all that intervals and paired tests of any number drawn from the curves need.
Seeds are held fixed: what a group contributes is its mean over the views of all seeds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from openworld.core.arrays import ArrayLike, as_answers, as_fractions, as_groups, as_table, require_size
from openworld.core.errors import OpenworldError
from openworld.core.representation import short_repr
from openworld.core.types import checked
from openworld.metrics.estimate import NO_VARIANCE, Spread

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
