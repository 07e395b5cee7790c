"""What one model says of a stream of images, scores, proxies and names; and what a person says of those that are drawn.

A proxy is what an outcome is expected to be: a probability from calibrated confidences, from another model, or a
constant. Whether proxies are right decides how wide an interval is, never whether it holds.
"""

from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

import numpy as np

from openworld.core.arrays import (
    SUM_ROUNDING,
    ArrayLike,
    as_answers,
    as_correct,
    as_fractions,
    as_groups,
    as_scores,
    require_length,
)
from openworld.core.errors import OpenworldError
from openworld.core.representation import short_repr
from openworld.core.types import checked
from openworld.metrics import Outcomes, Ranking, SoftOpenworldAUC, of_outcomes

NAMES = ("base_name", "new_name", "joint_name")


@dataclass(frozen=True, eq=False)
class ScoredStream:
    """One model's words on N images.

    scores: float64[N], larger = more base-like. expected: proxies, each in [0, 1]. base_name, new_name, joint_name:
    integer[N] or string[N], the names that it gives within each half and among all; None where they do not matter.
    """

    scores: np.ndarray
    expected: Outcomes
    base_name: np.ndarray | None = None
    new_name: np.ndarray | None = None
    joint_name: np.ndarray | None = None
    __repr__ = short_repr

    def __len__(self) -> int:
        return self.scores.size

    @cached_property
    def ranking(self) -> Ranking:
        return Ranking.of(self.scores)

    @cached_property
    def expectation(self) -> SoftOpenworldAUC:
        """OpenworldAUC and its parts as the proxies expect them."""
        return of_outcomes(self.ranking, self.expected)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return every array under its name, without those that are None."""
        columns = {"scores": self.scores, **vars(self.expected), **{name: getattr(self, name) for name in NAMES}}
        return {name: array for name, array in columns.items() if array is not None}

    @cached_property
    def fingerprint(self) -> str:
        """Hash of every array."""
        digest = sha256()
        for name, array in self.arrays().items():
            digest.update(f"{name} {array.dtype} {array.shape} ".encode())
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()


@checked
def scored_stream(
    scores: ArrayLike,
    base_right: ArrayLike,
    new_right: ArrayLike,
    base: ArrayLike,
    new: ArrayLike | None = None,
    right: ArrayLike | None = None,
    *,
    base_name: ArrayLike | None = None,
    new_name: ArrayLike | None = None,
    joint_name: ArrayLike | None = None,
) -> ScoredStream:
    """Read what one model says of a stream of images.

    Args:
        scores: float[N], larger = more base-like.
        base_right, new_right, base, new, right: float[N] in [0, 1], what the outcomes are expected to be (see
            `openworld.metrics.Outcomes`); new None for 1 - base, right None where there is no name among all names.
        base_name, new_name, joint_name: integer[N] or string[N], the names given: with them, a comparison of two models
            knows where they agree.
    Raises:
        OpenworldError: values outside [0, 1], right more often than base or new at all, lengths that differ.

    >>> len(scored_stream([2.0, 1.0], [0.75, 0.25], [0, 0.25], [1, 0.5]))
    2
    """
    scores = as_scores(scores, "scores")
    base = _fractions(base, "base", scores.size)
    new = 1 - base if new is None else _fractions(new, "new", scores.size)
    base_right = _part(base_right, "base_right", base, "base")
    new_right = _part(new_right, "new_right", new, "new")
    right = None if right is None else _fractions(right, "right", scores.size)
    names = {
        name: None if values is None else as_groups(values, name, scores.size)
        for name, values in zip(NAMES, (base_name, new_name, joint_name), strict=True)
    }
    return ScoredStream(scores, Outcomes(base_right, new_right, base, new, right), **names)


@checked
def closed_set_stream(right: ArrayLike, name: ArrayLike | None = None) -> ScoredStream:
    """Read what a classifier of one closed set of names says: for plain accuracy, `of="overall_accuracy"`.

    Args:
        right: float[N] in [0, 1], how likely its name is right. name: integer[N] or string[N], the names.

    >>> closed_set_stream([0.75, 0.25]).expectation.overall_accuracy
    0.5
    """
    right = as_fractions(right, "right")
    none, all_base = np.zeros(right.size), np.ones(right.size)
    name = None if name is None else as_groups(name, "name", right.size)
    return ScoredStream(none, Outcomes(right, none, all_base, none, right), joint_name=name)


def same_names(streams: tuple[ScoredStream, ...], name: str) -> np.ndarray | None:
    """Return where two models give the same name, bool[N]; None of one model, or where one does not say its names."""
    if len(streams) < 2:
        return None
    first, second = (getattr(stream, name) for stream in streams)
    if first is None or second is None:
        return None
    if (first.dtype.kind in "US") != (second.dtype.kind in "US"):
        raise OpenworldError(f"{name} is text of one model and numbers of the other; give both the same way.")
    return first == second


def _fractions(values: ArrayLike, name: str, length: int) -> np.ndarray:
    array = as_fractions(values, name)
    require_length(array, name, length)
    return array


def _part(values: ArrayLike, name: str, whole: np.ndarray, of: str) -> np.ndarray:
    """Return a probability that cannot be larger than another."""
    array = _fractions(values, name, whole.size)
    odd = np.flatnonzero(array > whole + SUM_ROUNDING)
    if odd.size:
        raise OpenworldError(
            f"{name}[{odd[0]}] is {array[odd[0]]:g}, but {of}[{odd[0]}] is {whole[odd[0]]:g}; pass the probability of "
            f"{of} and right, which is at most that of {of}."
        )
    return np.minimum(array, whole)


@dataclass(frozen=True, eq=False)
class LabelAnswers:
    """Answers on the images of a plan, in the order of `plan.chosen`.

    base: bool[n]. base_right, new_right: bool[M, n], a row for each of M models. right: bool[M, n], whether its name
    among all names is right; None where that was not asked.
    """

    base: np.ndarray
    base_right: np.ndarray
    new_right: np.ndarray
    right: np.ndarray | None = None
    __repr__ = short_repr

    def __len__(self) -> int:
        return self.base.size

    def outcomes(self, model: int) -> Outcomes:
        """Return the outcomes of one model's images, of 0 and 1: float64[n] each."""
        sides = (side[model].astype(float) for side in (self.base_right, self.new_right))
        right = None if self.right is None else self.right[model].astype(float)
        return Outcomes(*sides, self.base.astype(float), (~self.base).astype(float), right)


@checked
def label_answers(
    base: ArrayLike, base_right: ArrayLike, new_right: ArrayLike, right: ArrayLike | None = None
) -> LabelAnswers:
    """Read answers on the images of a plan, in the order of `plan.chosen`.

    Args:
        base: bool[n], whether the image is of a base class.
        base_right, new_right: bool[n], or bool[2, n] of two models: base and its base name right, new and its new name
            right.
        right: the same of its name among all names; None where that was not asked.
    Raises:
        OpenworldError: numbers other than 0 and 1, lengths that differ, an image that is base and has its new name
            right, or the reverse.

    >>> label_answers([1, 0], [1, 0], [0, 0]).base_right
    array([[ True, False]])
    """
    base = as_correct(base, "base")
    base_right = _rows(base_right, "base_right", base.size)
    new_right = _rows(new_right, "new_right", base.size)
    right = None if right is None else _rows(right, "right", base.size)
    for name, rows, wrong, side in (("base_right", base_right, ~base, "new"), ("new_right", new_right, base, "base")):
        odd = np.flatnonzero((rows & wrong).any(axis=0))
        if odd.size:
            raise OpenworldError(f"answer {odd[0]}: {name} is true, but the image is {side}; correct one of the two.")
    models = {len(rows) for rows in (base_right, new_right, right) if rows is not None}
    if len(models) > 1:
        raise OpenworldError("base_right, new_right and right tell of different numbers of models; give all the same.")
    return LabelAnswers(base, base_right, new_right, right)


@checked
def right_answers(right: ArrayLike) -> LabelAnswers:
    """Read answers for plain accuracy: whether the name is right, bool[n], or bool[2, n] of two models.

    >>> len(right_answers([1, 0, 1]))
    3
    """
    right = as_answers(right, "right")
    if right.ndim not in (1, 2):
        raise OpenworldError(f"right has {right.ndim} dimensions, expected [n], or [2, n] of two models.")
    right = np.atleast_2d(right)
    return label_answers(np.ones(right.shape[1], bool), right, np.zeros(right.shape, bool), right)


def _rows(values: ArrayLike, name: str, length: int) -> np.ndarray:
    array = np.atleast_2d(as_answers(values, name))
    if array.ndim != 2 or array.shape[1] != length:
        raise OpenworldError(f"{name} has shape {array.shape}, expected ({length},) or (models, {length}).")
    return array
