"""OpenPL's four dynamic scenarios as nested views over one pool of test images (OpenPL, section 3).

A scenario has levels t from 0 to 1. Classes and images are put in one seeded order, once; a level takes the
first of each order, so that what is new at a level stays new at the next, and what goes was there before. Nothing is
drawn again for a level, and nothing here knows a model: a learner answers once, and every view is a slice.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import Literal, get_args

import numpy as np

from openworld._arrays import as_labels
from openworld._errors import OpenworldError
from openworld.features import View

LEVELS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
Scenario = Literal["emerging-classes", "varying-ratio", "distribution-shift", "co-evolution"]
SCENARIOS = get_args(Scenario)


@dataclass(frozen=True, eq=False)
class ScenarioRun:
    """A scenario on one pool of images.

    Args:
        views: one per level, in order; their classes list base ones first.
        base: int64, the classes in play that a learner was tuned on, in their order; never empty.
        new: int64, the classes in play that it was not tuned on, in order of arrival; empty where none arrive.
    """

    views: tuple[View, ...]
    base: np.ndarray
    new: np.ndarray


def class_order(classes: int, seed: int) -> np.ndarray:
    """The seed's order of classes: a permutation int64[classes]; its first half is trained on.

    >>> sorted(class_order(4, seed=1).tolist()), class_order(9, 1).tolist() == class_order(9, 2).tolist()
    ([0, 1, 2, 3], False)
    """
    return _permutation(classes, f"classes {seed}")


def emerging_classes(labels, base, new, levels: Sequence[float] = LEVELS) -> ScenarioRun:
    """Base classes stay, new ones join them: at t, the first round(t min(|B|, |N|)) of N; at 1, all of N.

    Args:
        labels: int64[N], class of every test image; a view holds all images of its classes.
        base, new: int64, classes trained on (B) and not (N), in the seed's order.
        levels: as `require_levels` wants them.
    Returns:
        ScenarioRun of len(levels) views.
    Source: OpenPL, section 3.1; the numbers where |B| and |N| differ are our choice, the paper gives none.

    >>> [view.classes.tolist() for view in emerging_classes([0, 1, 2, 3], [2, 0], [3, 1], (0, 0.5, 1)).views]
    [[2, 0], [2, 0, 3], [2, 0, 3, 1]]
    """
    base, new, levels = as_labels(base, "base"), as_labels(new, "new"), require_levels(levels)
    arrived = [len(new) if level == 1 else round(level * min(len(base), len(new))) for level in levels]
    chosen = [np.concatenate([base, new[:count]]) for count in arrived]
    return ScenarioRun(_of_classes(as_labels(labels, "labels"), chosen, levels), base, new)


def varying_ratio(labels, base, new, levels: Sequence[float] = LEVELS) -> ScenarioRun:
    """As many classes as B throughout: at t, the first round(t |B|) of N (at most all), and the first of B to fill up.

    Args, Returns, Source: as for `emerging_classes`; at t = 0 both hold the same view.

    >>> [view.classes.tolist() for view in varying_ratio([0, 1, 2, 3], [2, 0], [3, 1], (0, 0.5, 1)).views]
    [[2, 0], [2, 3], [3, 1]]
    """
    base, new, levels = as_labels(base, "base"), as_labels(new, "new"), require_levels(levels)
    arrived = [min(round(level * len(base)), len(new)) for level in levels]
    chosen = [np.concatenate([base[: len(base) - count], new[:count]]) for count in arrived]
    return ScenarioRun(_of_classes(as_labels(labels, "labels"), chosen, levels), base, new)


def distribution_shift(
    labels, shifted, classes, seed: int, levels: Sequence[float] = LEVELS, *, image_limit: int | None = None
) -> ScenarioRun:
    """The same classes in another appearance: at t, a share t of a constant number of images comes from the variant.

    Args:
        labels: int64[N], class of every test image.
        shifted: bool[N], which images are the variant's.
        classes: int64, the variant's classes, all of them trained on: the label space of every view.
        seed: of the order of images on either side.
        levels: as `require_levels` wants them.
        image_limit: most images in a view; None for as many as the smaller side has of these classes.
    Returns:
        ScenarioRun of len(levels) views of equal size; its `new` is empty.
    Raises:
        OpenworldError: a side without an image of these classes.
    Source: OpenPL, section 3.2. That the label space is the variant's own follows from zero-shot CLIP's Acc(0).

    >>> run = distribution_shift([0, 0, 0, 0, 0], [False, False, False, True, True], [0], 1, (0, 0.5, 1))
    >>> [sorted(image >= 3 for image in view.images.tolist()) for view in run.views]
    [[False, False], [False, True], [True, True]]
    """
    labels, shifted, levels = as_labels(labels, "labels"), np.asarray(shifted, bool), require_levels(levels)
    inside = np.isin(labels, classes)
    source, variant = np.flatnonzero(inside & ~shifted), np.flatnonzero(inside & shifted)
    size = min(len(source), len(variant), image_limit or len(source))
    if not size:
        raise OpenworldError(
            f"{len(source)} images of the source and {len(variant)} of the variant show the {len(classes)} classes "
            "of the variant; a shift needs some of both."
        )
    source = source[_permutation(len(source), f"source pictures {seed}")]
    variant = variant[_permutation(len(variant), f"variant pictures {seed}")]
    arrived = [round(level * size) for level in levels]
    images = [np.sort(np.concatenate([source[: size - count], variant[:count]])) for count in arrived]
    views = tuple(View(rows, classes, level) for rows, level in zip(images, levels, strict=True))
    return ScenarioRun(views, views[0].classes, np.zeros(0, np.int64))


def co_evolution(
    labels,
    base,
    new,
    seed: int,
    levels: Sequence[float] = LEVELS,
    *,
    class_limit: int = 100,
    image_limit: int = 10_000,
) -> ScenarioRun:
    """Another data set takes over: at t, a share t of K classes, and of their images, comes from it.

    K classes of either side are drawn, and q images of each: every view has K classes and M = K q images. K is the
    smallest of `class_limit` and the two numbers of classes; q as large as the scarcest drawn class and M allow.

    Args:
        labels: int64[N], class of every test image; the two sides share no class.
        base, new: int64, classes of the source, all trained on, and of the other data set.
        seed: of the draws and orders of classes and images.
        levels: as `require_levels` wants them.
        class_limit, image_limit: the largest K and M; the paper caps them without saying where, these two are ours.
    Returns:
        ScenarioRun of len(levels) views; the label space of a view is its own K classes, as zero-shot CLIP's Acc(0)
        shows.
    Raises:
        OpenworldError: no class on a side, or not one image for each of the K classes.
    Source: OpenPL, section 3.3.

    >>> [view.classes.tolist() for view in co_evolution([0, 1], [0], [1], 1, (0, 1)).views]
    [[0], [1]]
    """
    labels, levels = as_labels(labels, "labels"), require_levels(levels)
    size = min(class_limit, len(base), len(new))
    base = as_labels(base, "base")[_permutation(len(base), f"source classes {seed}")][:size]
    new = as_labels(new, "new")[_permutation(len(new), f"other classes {seed}")][:size]
    drawn = _equal_quota(labels, np.concatenate([base, new]), image_limit // max(size, 1), seed)
    arrived = [round(level * size) for level in levels]
    chosen = [np.concatenate([base[: size - count], new[:count]]) for count in arrived]
    return ScenarioRun(_of_classes(np.where(drawn, labels, -1), chosen, levels), base, new)


def require_levels(levels: Sequence[float]) -> tuple[float, ...]:
    """The levels of change, checked: two or more, strictly increasing, in [0, 1].

    >>> require_levels([0, 1])
    (0.0, 1.0)
    """
    checked = tuple(float(level) for level in levels)
    increasing = all(first < second for first, second in pairwise(checked))
    if len(checked) < 2 or not increasing or checked[0] < 0 or checked[-1] > 1:
        raise OpenworldError(f"levels are {list(levels)}; give two or more, strictly increasing, from 0 to 1.")
    return checked


def _of_classes(labels: np.ndarray, chosen: list[np.ndarray], levels: tuple[float, ...]) -> tuple[View, ...]:
    """A view per level with all images of its classes."""
    return tuple(
        View(np.flatnonzero(np.isin(labels, classes)), classes, level)
        for classes, level in zip(chosen, levels, strict=True)
    )


def _equal_quota(labels: np.ndarray, classes: np.ndarray, most: int, seed: int) -> np.ndarray:
    """bool[N]: the first images, in the seed's order, of each class: as many as the scarcest has, at most `most`."""
    counts = [int((labels == number).sum()) for number in classes]
    quota = min([most, *counts])
    if not len(classes) or quota < 1:
        raise OpenworldError(
            f"{len(classes)} classes are in play, the scarcest with {min(counts, default=0)} images, and at most "
            f"{most} of each are asked for; co-evolution needs at least one class on each side and one image of each."
        )
    order = _permutation(len(labels), f"pictures {seed}")
    drawn = np.zeros(len(labels), bool)
    for number in classes:
        drawn[order[labels[order] == number][:quota]] = True
    return drawn


def _permutation(count: int, name: str) -> np.ndarray:
    # The names decide every draw, so their words never change.
    # Python's own generator: its seeding by text and its random() are promised never to change, NumPy's are not.
    dice = Random(name)
    return np.argsort([dice.random() for _ in range(count)], kind="stable").astype(np.int64)
