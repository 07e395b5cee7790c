"""Encoded image sets under one list of names, and one answer about them of which views are slices.

All images in play are answered once, among all names in play; what is asked of some images among some names is a slice
of that matrix. What depends on the names of a view is made again from its own text bank: the logits of a learner that
says so, and detection scores that are not the default ones. Those are never sliced.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch

from openworld.core.errors import OpenworldError
from openworld.datasets.names.forms import normalise_class_name
from openworld.features import Features, View
from openworld.learners import Answer, FittedLearner
from openworld.learners.plugin_api import answer_of

_SAME_SCORE = 1e-4  # nats; float32 log-probabilities of logits up to 100 agree to some 1e-5


def numbers_among(source: Sequence[str], variant: Sequence[str]) -> np.ndarray:
    """int64[n], the source's number of every class of a variant.

    >>> numbers_among(("cat", "wild dog", "owl"), ("Owl", "wild_dog")).tolist()
    [2, 1]
    """
    place = {normalise_class_name(name): number for number, name in enumerate(source)}
    lacking = [name for name in variant if normalise_class_name(name) not in place]
    if lacking:
        raise OpenworldError(
            f"{len(lacking)} classes of the variant are no class of the source, first {lacking[0]!r}; a variant shows "
            "classes of the source, under the same names."
        )
    return np.array([place[normalise_class_name(name)] for name in variant], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class ImagePool:
    """Encoded image sets, one behind the other, whose labels count in one list of names."""

    parts: tuple[Features, ...]
    names: tuple[str, ...]

    @cached_property
    def labels(self) -> np.ndarray:
        return np.concatenate([part.labels for part in self.parts])

    @cached_property
    def origin(self) -> np.ndarray:
        """int64[N], the number of the part that every image comes from."""
        return np.repeat(np.arange(len(self.parts)), [len(part) for part in self.parts])

    @cached_property
    def rows(self) -> np.ndarray:
        """int64[N], the number of every image in its own image set."""
        return np.concatenate([part.rows for part in self.parts])

    @cached_property
    def groups(self) -> np.ndarray:
        """int64[N], equal for images of one part that are not independent."""
        return distinct_pairs(self.origin, np.concatenate([part.groups for part in self.parts]))

    def answer(self, fitted: FittedLearner, images: np.ndarray, base: np.ndarray, new: np.ndarray) -> Answer:
        """What a fitted learner says of the images int64[n], increasing, among base and new classes."""
        bank = fitted.text_bank(*([self.names[number] for number in side] for side in (base, new)))
        starts = np.cumsum([0, *(len(part) for part in self.parts)])
        bounds = np.searchsorted(images, starts)
        inside = [images[first:last] for first, last in zip(bounds, bounds[1:], strict=False)]
        return joined_answers(
            fitted.answer(part.select(rows - start), bank)
            for part, rows, start in zip(self.parts, inside, starts[:-1], strict=True)
        )


def pool_of_two(source: Features, other: Features, *, same_names: bool) -> ImagePool:
    """Return the pool of two image sets: the other's names are some of the source's, or all of them are new."""
    if not same_names:
        moved = replace(other, labels=other.labels + len(source.classnames))
        return ImagePool((source, moved), source.classnames + other.classnames)
    numbers = numbers_among(source.classnames, other.classnames)
    return ImagePool((source, replace(other, labels=numbers[other.labels])), source.classnames)


@dataclass(frozen=True, eq=False)
class SharedAnswer:
    """One answer about images of a pool among base and new classes, for a learner whose logits can be sliced."""

    fitted: FittedLearner
    pool: ImagePool
    images: np.ndarray  # int64[n], increasing
    base: np.ndarray  # int64[b] classes
    new: np.ndarray  # int64[c - b]

    @cached_property
    def whole(self) -> Answer:
        """What is sliced."""
        return self.pool.answer(self.fitted, self.images, self.base, self.new)

    @cached_property
    def scored_by_default(self) -> bool:
        """Whether the learner's detection scores are the default ones, so that slices of its logits give them too."""
        usual = _default_scores(self.whole.logits, len(self.base))
        return np.allclose(self.whole.baseness, usual, rtol=0, atol=_SAME_SCORE)

    def of(self, view: View) -> Answer:
        """The answer in a view, whose classes list base ones first; without scores where one side has no class."""
        # A cosine of one image and one name knows nothing of the others: a view is rows and columns of one matrix.
        column = {int(number): place for place, number in enumerate([*self.base, *self.new])}
        rows, is_new = np.searchsorted(self.images, view.images), np.isin(view.classes, self.new)
        columns = np.array([column[int(number)] for number in view.classes])
        base, new = view.classes[~is_new], view.classes[is_new]
        logits, base_logits = View(rows, columns).slice(self.whole.logits), self.whole.base_logits
        if base_logits is not None:
            base_logits = View(rows, columns[~is_new]).slice(base_logits)

        if not len(base) or not len(new):
            return Answer(logits, None, base_logits)
        if self.scored_by_default:
            return Answer(logits, _default_scores(logits, len(base)), base_logits)
        return Answer(logits, self.pool.answer(self.fitted, view.images, base, new).baseness, base_logits)


def joined_answers(answers: Iterable[Answer]) -> Answer:
    """Return answers among the same names, one behind the other."""
    every = list(answers)
    parts = ([getattr(answer, name) for answer in every] for name in Answer.__annotations__)
    return Answer(*(part[0] if part[0] is None or len(part) == 1 else np.concatenate(part) for part in parts))


def distinct_pairs(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """int64[N], equal where both numbers are."""
    return np.unique(np.stack([first, second]), axis=1, return_inverse=True)[1].reshape(-1)


def _default_scores(logits: np.ndarray, base_count: int) -> np.ndarray:
    """float32[N], the default detection score of logits float32[N, C] over base names, then new names."""
    return answer_of(torch.from_numpy(np.ascontiguousarray(logits)), base_count).baseness.numpy()
