"""What a fitted learner says about images, in names and probabilities, and what zero-shot CLIP would have said."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp
from typing import Literal

import numpy as np

from openworld.core.representation import short_repr
from openworld.core.types import Positive, checked
from openworld.datasets.templates import PHOTO
from openworld.features import Features
from openworld.learners.engine.fitted import FittedLearner
from openworld.learners.engine.images import Answer
from openworld.learners.zero_shot import ZeroShot


@dataclass(frozen=True)
class Guess:
    """A name, the side that it is of, and its probability among all base and new names, in [0, 1]."""

    name: str
    side: Literal["base", "new"]
    probability: float


@dataclass(frozen=True)
class Prediction:
    """What is said about one image.

    Args:
        row: which image of the image set it is.
        guesses: the most likely names, best first.
        log_baseness: the learner's detection score, a log probability; larger = more like a base class.
        rank: its place among the images by baseness; 1 = most like a base class, equal scores share a place.
        zero_shot: the most likely names by zero-shot CLIP on the same backbone, best first.
        as_base, as_new: its name among the base names alone, and among the new names alone; None without new names.
            What an image is called once a threshold on baseness has decided that it is of a base or a new class.
    """

    row: int
    guesses: tuple[Guess, ...]
    log_baseness: float
    rank: int
    zero_shot: tuple[Guess, ...]
    as_base: str
    as_new: str | None

    __repr__ = short_repr

    @property
    def baseness(self) -> float:
        """The detection score as a probability, in [0, 1]."""
        return exp(self.log_baseness)


@checked
def predict(
    fitted: FittedLearner,
    features: Features,
    new_names: Sequence[str] = (),
    *,
    template: str = PHOTO,
    top: Positive = 1,
    answer: Answer | None = None,
    zero_shot: Answer | None = None,
) -> tuple[Prediction, ...]:
    """Name images among the names that a learner was fitted on and new ones.

    Args:
        fitted: of a learner's `fit`, or of `load`.
        features: N images, encoded with the learner's backbone and with `encoding_for(learner)`; labels are not read.
        new_names: names of new classes; may be empty.
        template: the sentence of zero-shot CLIP, with {} in the place of the name.
        top: how many names to give, at least 1; all of them where there are fewer.
        answer, zero_shot: the learner's, and that of `zero_shot_answer`, where the caller has them.

    Raises:
        OpenworldError: names that cannot be distinguished, features of another backbone, a template without {}.
    """
    if answer is None:
        answer = fitted.answer(features, fitted.text_bank(fitted.classnames, new_names))
    guesses = _guesses(fitted, new_names, answer.logits, top)
    plain = zero_shot or zero_shot_answer(fitted, features, new_names, template)
    zero_shot_guesses = _guesses(fitted, new_names, plain.logits, top)
    scores = answer.baseness.astype(np.float64)
    ranks = 1 + len(scores) - np.searchsorted(np.sort(scores), scores, side="right")
    base = fitted.classnames
    among_base = answer.logits[:, : len(base)] if answer.base_logits is None else answer.base_logits
    as_base, as_new = [base[column] for column in among_base.argmax(axis=1)], [None] * len(scores)
    if len(new_names):
        as_new = [new_names[column] for column in answer.logits[:, len(base) :].argmax(axis=1)]
    rows = zip(features.rows, guesses, scores, ranks, zero_shot_guesses, as_base, as_new, strict=True)
    return tuple(Prediction(int(row), guess, float(score), int(rank), *rest) for row, guess, score, rank, *rest in rows)


def zero_shot_answer(
    fitted: FittedLearner, features: Features, new_names: Sequence[str] = (), template: str = PHOTO
) -> Answer:
    """Return what zero-shot CLIP on a learner's backbone says of images, among the learner's names and new ones."""
    zero_shot = FittedLearner(ZeroShot((template,)), fitted.clip, fitted.classnames, {})
    return zero_shot.answer(features, zero_shot.text_bank(fitted.classnames, new_names))


def _guesses(fitted: FittedLearner, new_names: Sequence[str], logits: np.ndarray, top: int) -> list[tuple[Guess, ...]]:
    names = [(name, "base") for name in fitted.classnames] + [(name, "new") for name in new_names]
    shifted = logits.astype(np.float64) - logits.max(axis=1, keepdims=True)
    probabilities = np.exp(shifted) / np.exp(shifted).sum(axis=1, keepdims=True)
    best = np.argsort(-probabilities, axis=1, kind="stable")[:, :top]
    return [
        tuple(Guess(*names[column], float(row[column])) for column in columns)
        for row, columns in zip(probabilities, best, strict=True)
    ]
