"""Accuracy at the levels of a change, without labels: an estimator fitted on a source and read level by level.

The estimator is fitted once, over all names that the source has (T and threshold with it), and reads every level among
the names of that level: points and EVM err less so than with a threshold among the names of level 0, or of each level
(bench/curve_without_labels.py). The accuracies at the levels err together: over the images of the stream, as
`metrics.level_errors` says, and over those of the source, from which all levels have T and threshold, by a bootstrap.
Whether confidences mean at a level what they mean on the source nobody can see without labels.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from openworld.core.arrays import ArrayLike, as_groups, as_table
from openworld.core.errors import OpenworldError
from openworld.core.types import checked
from openworld.estimators.engine.fitted import Estimate, Estimator
from openworld.estimators.engine.outputs import Outputs
from openworld.estimators.quote.by_class import expected_right
from openworld.metrics import LevelErrors, level_errors

ABSENT = -1e6  # below the largest logit: no temperature up to 100 leaves such a name a share
RESAMPLES, MOST = 60, 2000  # of the source, and images of source and level in each
AS_A_WHOLE = "it reads a level as a whole, not image by image"
FEW = 2  # labelled images of level 0


@dataclass(frozen=True, eq=False)
class LevelAccuracies:
    """Estimated accuracies at T levels, the first of them known from labels."""

    accuracy: np.ndarray  # float64[T]
    errors: LevelErrors | None  # how they err together over images (one method); None with `reason`
    reason: str = ""
    warnings: tuple[str, ...] = ()  # of the estimator, each once


def among(logits: ArrayLike, classes: ArrayLike | None = None) -> np.ndarray:
    """Return logits float64[n, C] in which only some names, int[c], count: others lie far below, at a share of 0."""
    logits = np.array(logits, np.float64)
    if classes is not None:
        logits[:, np.setdiff1d(np.arange(logits.shape[1]), np.asarray(classes))] = -np.inf
    absent, top = np.isneginf(logits), logits.max(axis=1, keepdims=True)
    if not np.isfinite(top).all():
        row = int(np.flatnonzero(~np.isfinite(top).ravel())[0])
        raise OpenworldError(f"image {row} has no finite logit among the names that count; every image needs one.")
    return np.where(absent, top + ABSENT, logits)


@checked
def accuracy_by_level(
    estimator: Estimator,  # needs labels of the source alone, or what all outputs hold
    source: Outputs,  # labelled, all its names in play
    home: Outputs,  # labelled outputs of the images `home_rows` of the source among the names of level 0 (`among`)
    views: Sequence[Outputs],  # unlabelled, of the levels behind it
    groups: Sequence[ArrayLike] | None = None,  # int[n] each, equal for images that are not independent
    *,
    home_rows: ArrayLike | None = None,
) -> LevelAccuracies:
    """Estimate the accuracy at every level behind level 0, whose accuracy is that of `home`."""
    if not views or home.n < FEW:
        raise OpenworldError(
            f"{len(views)} levels and {home.n} labelled images at level 0 came; a curve needs a level behind level 0, "
            f"and {FEW} labelled images or more there."
        )
    rows = np.arange(source.n) if home_rows is None else np.asarray(home_rows)
    if len(rows) != home.n:
        raise OpenworldError(f"home_rows has {len(rows)} entries, expected {home.n}, as many as home has images.")
    groups = (
        [np.arange(view.n) + sum(v.n for v in views[:at]) for at, view in enumerate(views)]
        if groups is None
        else groups
    )
    groups = [as_groups(group, "groups", view.n) for group, view in zip(groups, views, strict=True)]
    estimates = _read(estimator, source, views)
    warnings = tuple(dict.fromkeys(warning for estimate in estimates for warning in estimate.warnings))
    right = ~home.wrong
    accuracy = np.array([right.mean(), *(np.nan if e.accuracy is None else e.accuracy for e in estimates)])
    if np.isnan(accuracy).any():
        return LevelAccuracies(accuracy, None, "; ".join(warnings) or "the estimator tells none", warnings)
    readings = [reading for each in estimates if (reading := expected_right(each)) is not None]
    if len(readings) < len(estimates):
        return LevelAccuracies(accuracy, None, AS_A_WHOLE, warnings)
    stream = level_errors([groups], [[reading[None] for reading in readings]], expected=True)
    # level 0 before the stream's levels, and the source's error on all
    covariance = _of_source(estimator, source, right, rows, views)
    covariance[1:, 1:] += stream.covariance
    overlap = np.zeros(covariance.shape)
    overlap[1:, 1:], overlap[0, 0] = stream.overlap, 1 / home.n
    errors = LevelErrors(accuracy[None], covariance, overlap, stream.groups + home.n)
    return LevelAccuracies(accuracy, errors, warnings=warnings)


def _read(estimator: Estimator, source: Outputs, views: Sequence[Outputs]) -> list[Estimate]:
    fitted = estimator.fit(source)
    return [fitted.estimate(view, interval=False) for view in views]


def _of_source(
    estimator: Estimator, source: Outputs, right: np.ndarray, rows: np.ndarray, views: Sequence[Outputs]
) -> np.ndarray:
    """Return the covariance float64[T, T] of the accuracies over source images, by a bootstrap."""
    # A threshold is no smooth function of the source, so that influences and jackknives of single images fail.
    # Variances from m of n images are n / m times as large, and what the source moves shows on MOST images of a level.
    generator, at_home = np.random.default_rng(0), np.full(source.n, np.nan)
    at_home[rows] = right
    drawn, size = [], min(source.n, MOST)
    views = [view.take(generator.choice(view.n, min(view.n, MOST), replace=False)) for view in views]
    for _ in range(RESAMPLES):
        chosen = generator.integers(0, source.n, size)
        there = at_home[chosen][~np.isnan(at_home[chosen])]
        estimates = _read(estimator, source.take(chosen), views)
        drawn.append([there.mean() if there.size else right.mean(), *(estimate.accuracy for estimate in estimates)])
    return np.cov(as_table(drawn, "accuracies", (2,)), rowvar=False) * size / source.n
