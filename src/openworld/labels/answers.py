"""What a person says of the images drawn: base or new, and whether the name is right."""

from dataclasses import dataclass

import numpy as np

from openworld.core.arrays import ArrayLike, as_answers, as_correct
from openworld.core.errors import OpenworldError
from openworld.core.representation import short_repr
from openworld.core.types import checked
from openworld.metrics import Outcomes


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
