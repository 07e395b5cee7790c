"""Test images of one or two image sets under one list of names, and what a learner answers in every view of them.

All images in play are answered once, among all names in play; a view is a slice of these logits. What depends on the
names of a view is made again from its own text bank: the logits of a learner that says so, and detection scores that
are not the default ones. Those are never sliced.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from openworld.evaluations.answer_slices import default_scores, numbers_among, scored_by_default
from openworld.evaluations.dynamic.scenarios import ScenarioRun
from openworld.features import Features, View
from openworld.learners import Answer, FittedLearner


@dataclass(frozen=True, eq=False)
class ImagePool:
    """Encoded image sets, one behind the other, whose labels count in one list of names."""

    parts: tuple[Features, ...]
    names: tuple[str, ...]

    @cached_property
    def labels(self) -> np.ndarray:
        """int64[N], the class of every image."""
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
        pairs = np.stack([self.origin, np.concatenate([part.groups for part in self.parts])])
        return np.unique(pairs, axis=1, return_inverse=True)[1].reshape(-1)

    def answer(self, fitted: FittedLearner, images: np.ndarray, base: np.ndarray, new: np.ndarray) -> Answer:
        """What a fitted learner says of the images int64[n], increasing, among base and new classes."""
        bank = fitted.text_bank(*([self.names[number] for number in side] for side in (base, new)))
        starts = np.cumsum([0, *(len(part) for part in self.parts)])
        bounds = np.searchsorted(images, starts)
        inside = [images[first:last] for first, last in zip(bounds, bounds[1:], strict=False)]
        answers = [
            fitted.answer(part.select(rows - start), bank)
            for part, rows, start in zip(self.parts, inside, starts[:-1], strict=True)
        ]
        return Answer(*(_join([getattr(answer, name) for answer in answers]) for name in Answer.__annotations__))


def joined(source: Features, other: Features, *, same_names: bool) -> ImagePool:
    """Return the pool of two image sets: the other's names are some of the source's, or all of them are new."""
    if not same_names:
        moved = replace(other, labels=other.labels + len(source.classnames))
        return ImagePool((source, moved), source.classnames + other.classnames)
    numbers = numbers_among(source.classnames, other.classnames)
    return ImagePool((source, replace(other, labels=numbers[other.labels])), source.classnames)


@dataclass(frozen=True, eq=False)
class ViewPredictions:
    """What was answered in one view."""

    view: View
    logits: np.ndarray  # float32[n, c] of its images among its classes
    baseness: np.ndarray | None  # float32[n]; None where there is nothing to detect


def predict_views(
    fitted: FittedLearner, pool: ImagePool, runs: Sequence[ScenarioRun]
) -> Iterator[Iterator[ViewPredictions]]:
    """Yield the answers in the views of each run on a pool, by slices of one matrix where that is exact."""
    whole = None if fitted.learner.depends_on_other_names else _AllAnswers.of(fitted, pool, runs)
    for run in runs:
        yield map(partial(_predictions, fitted, pool, run, whole), run.views)


def predict_view(fitted: FittedLearner, pool: ImagePool, run: ScenarioRun, view: View) -> ViewPredictions:
    """Predict one view from its own text bank: nothing is sliced. What `predict_views` must equal."""
    base, new = _sides(run, view)
    if not len(base):  # no name in the view was trained on, though a text bank wants a base name
        if fitted.learner.depends_on_other_names:  # a further name would matter: all are given as base names
            return ViewPredictions(view, pool.answer(fitted, view.images, view.classes, run.new[:0]).logits, None)
        return ViewPredictions(view, pool.answer(fitted, view.images, run.base[:1], view.classes).logits[:, 1:], None)
    answer = pool.answer(fitted, view.images, base, new)
    if not len(new):
        return ViewPredictions(view, answer.logits if answer.base_logits is None else answer.base_logits, None)
    return ViewPredictions(view, answer.logits, answer.baseness)


def _predictions(
    fitted: FittedLearner, pool: ImagePool, run: ScenarioRun, whole: "_AllAnswers | None", view: View
) -> ViewPredictions:
    if whole is None:
        return predict_view(fitted, pool, run, view)
    base, new = _sides(run, view)
    logits = whole.slice(view, among_base=not len(new))
    if not len(base) or not len(new):
        return ViewPredictions(view, logits, None)
    if whole.default_scores:
        return ViewPredictions(view, logits, default_scores(logits, len(base)))
    return ViewPredictions(view, logits, pool.answer(fitted, view.images, base, new).baseness)


@dataclass(frozen=True, eq=False)
class _AllAnswers:
    """One answer for all images and classes in play, and where each of them is in it."""

    images: np.ndarray
    classes: np.ndarray
    answer: Answer
    default_scores: bool

    @classmethod
    def of(cls, fitted: FittedLearner, pool: ImagePool, runs: Sequence[ScenarioRun]) -> "_AllAnswers":
        base, new = runs[0].base, runs[0].new
        images = np.unique(np.concatenate([view.images for run in runs for view in run.views]))
        answer = pool.answer(fitted, images, base, new)
        return cls(images, np.concatenate([base, new]), answer, scored_by_default(answer, len(base)))

    def slice(self, view: View, *, among_base: bool) -> np.ndarray:
        """float32[n, c] of a view; `among_base` by the logits that a learner has for base names alone, if it has."""
        column = {int(number): place for place, number in enumerate(self.classes)}
        classes = [column[int(number)] for number in view.classes]
        local = View(np.searchsorted(self.images, view.images), classes, view.level)
        base_logits = self.answer.base_logits if among_base else None
        return local.slice(self.answer.logits if base_logits is None else base_logits)


def _sides(run: ScenarioRun, view: View) -> tuple[np.ndarray, np.ndarray]:
    """The base and the new classes of a view, in its order."""
    is_new = np.isin(view.classes, run.new)
    return view.classes[~is_new], view.classes[is_new]


def _join(parts: list[np.ndarray | None]) -> np.ndarray | None:
    if parts[0] is None or len(parts) == 1:
        return parts[0]
    return np.concatenate(parts)
