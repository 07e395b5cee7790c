"""What a learner answers in every view of a scenario run: slices of one answer where that is exact."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from openworld.evaluations.dynamic.scenarios import ScenarioRun
from openworld.evaluations.views import ImagePool, SharedAnswer
from openworld.features import View
from openworld.learners import Answer, FittedLearner


@dataclass(frozen=True, eq=False)
class ViewPredictions:
    """What was answered in one view."""

    view: View
    logits: np.ndarray  # float32[n, c] of its images among its classes
    baseness: np.ndarray | None  # float32[n]; None where there is nothing to detect


def predict_views(
    fitted: FittedLearner, pool: ImagePool, runs: Sequence[ScenarioRun]
) -> Iterator[Iterator[ViewPredictions]]:
    """Yield the answers in the views of each run on a pool, whose base and new classes are those of all its runs."""
    if fitted.learner.depends_on_other_names:
        yield from (map(partial(predict_view, fitted, pool, run), run.views) for run in runs)
        return
    images = np.unique(np.concatenate([view.images for run in runs for view in run.views]))
    shared = SharedAnswer(fitted, pool, images, runs[0].base, runs[0].new)
    for run in runs:
        yield (_predictions(run, view, shared.of(view)) for view in run.views)


def predict_view(fitted: FittedLearner, pool: ImagePool, run: ScenarioRun, view: View) -> ViewPredictions:
    """Predict one view from its own text bank: nothing is sliced. What `predict_views` must equal."""
    is_new = np.isin(view.classes, run.new)
    base, new = view.classes[~is_new], view.classes[is_new]
    if not len(base):  # no name in the view was trained on, though a text bank wants a base name
        if fitted.learner.depends_on_other_names:  # a further name would matter: all are given as base names
            return ViewPredictions(view, pool.answer(fitted, view.images, view.classes, run.new[:0]).logits, None)
        return ViewPredictions(view, pool.answer(fitted, view.images, run.base[:1], view.classes).logits[:, 1:], None)
    return _predictions(run, view, pool.answer(fitted, view.images, base, new))


def _predictions(run: ScenarioRun, view: View, answer: Answer) -> ViewPredictions:
    """Of base names alone the logits that a learner has for these, if it has, and nothing to detect."""
    if np.isin(view.classes, run.new).any():
        return ViewPredictions(view, answer.logits, answer.baseness)
    return ViewPredictions(view, answer.logits if answer.base_logits is None else answer.base_logits, None)
