"""Answers in views: slices equal a run of their own for every learner, and what depends on the names is made again."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from openworld.evaluations.dynamic.evaluation import predict_view, predict_views
from openworld.evaluations.dynamic.scenarios import co_evolution, distribution_shift, emerging_classes, varying_ratio
from openworld.evaluations.views import ImagePool, pool_of_two
from openworld.learners import LEARNERS
from openworld.testing import small_world

sys.path.insert(0, str(Path(__file__).parents[2] / "learners"))

from small import SMALL  # noqa: E402

ORDER = np.array([5, 2, 6, 0, 3, 1, 4])
LEVELS = (0.0, 0.5, 1.0)
CLOSE = {"rtol": 0, "atol": 2e-3}  # another batch is another order of sums, in logits of size 100


KINDS = ("zero-shot", "CoOp", "MaPLe", "DePT", "DeCoOp", "GMoP")  # embeddings, pixels, a head, other names, gates


@pytest.fixture(scope="module", params=KINDS)
def fitted(request):
    learner = LEARNERS[request.param](**SMALL[request.param])
    return learner.fit(small_world().clip, small_world().shots.of_classes(ORDER[:4]), seed=1)


@pytest.fixture
def pool():
    return ImagePool((small_world().shots,), small_world().shots.classnames)


def renamed(shots, names):
    return replace(shots, classnames=names)


def agree(fitted, pool, *runs):
    """Every view of every run, as sliced and as predicted alone; returns the sliced ones."""
    found = []
    for run, views in zip(runs, predict_views(fitted, pool, runs), strict=True):
        for view, sliced in zip(run.views, views, strict=True):
            alone = predict_view(fitted, pool, run, view)
            np.testing.assert_allclose(sliced.logits, alone.logits, **CLOSE)
            assert (sliced.baseness is None) == (alone.baseness is None)
            if sliced.baseness is not None:
                np.testing.assert_allclose(sliced.baseness, alone.baseness, **CLOSE)
            found.append(sliced)
    return found


def test_class_scenarios_sliced_and_run_again_are_equal(fitted, pool):
    labels = pool.labels
    runs = [make(labels, ORDER[:4], ORDER[4:], LEVELS) for make in (emerging_classes, varying_ratio)]
    emerging, varying = np.split(np.array(agree(fitted, pool, *runs), object), 2)
    assert [view.logits.shape for view in emerging] == [(16, 4), (24, 6), (28, 7)]
    assert [view.logits.shape for view in varying] == [(16, 4)] * 3
    assert [view.baseness is None for view in emerging] == [True, False, False]
    np.testing.assert_array_equal(emerging[0].logits, varying[0].logits)


def test_taking_over_sliced_and_run_again_is_equal(fitted):
    shots = small_world().shots
    test = shots.of_classes(ORDER[:4])
    variant = pool_of_two(test, shots.of_classes(ORDER[1:3]), same_names=True)
    shift = distribution_shift(variant.labels, variant.origin == 1, [1, 2], 1, LEVELS)
    assert [view.logits.shape for view in agree(fitted, variant, shift)] == [(8, 2)] * 3
    other = pool_of_two(test, renamed(shots.of_classes(ORDER[4:]), ("owlet", "fried egg", "lantern")), same_names=False)
    run = co_evolution(other.labels, range(4), range(4, 7), 1, LEVELS)
    found = agree(fitted, other, run)
    assert [view.logits.shape for view in found] == [(12, 3)] * 3
    assert [view.baseness is None for view in found] == [True, False, True]


def test_learners_whose_logits_depend_on_other_names_are_asked_again(pool, monkeypatch):
    learner = LEARNERS["DeCoOp"](**SMALL["DeCoOp"])
    fitted = learner.fit(small_world().clip, small_world().shots.of_classes(ORDER[:4]), seed=1)
    asked = []
    monkeypatch.setattr(type(fitted), "text_bank", _recording(type(fitted).text_bank, asked))
    run = varying_ratio(pool.labels, ORDER[:4], [*ORDER[4:], *ORDER[4:4]], LEVELS)
    for answers in predict_views(fitted, pool, [run]):
        list(answers)
    assert asked == [(4, 0), (2, 2), (1, 3)]


def _recording(function, asked):
    def text_bank(self, base, new=()):
        asked.append((len(base), len(new)))
        return function(self, base, new)

    return text_bank


def test_head_logits_count_where_only_trained_names_are_in_play(pool):
    learner = LEARNERS["DePT"](**SMALL["DePT"])
    shots = small_world().shots.of_classes(ORDER[:4])
    fitted = learner.fit(small_world().clip, shots, seed=1)
    run = emerging_classes(pool.labels, ORDER[:4], ORDER[4:], LEVELS)
    first = next(next(iter(predict_views(fitted, pool, [run]))))
    rows = np.argsort(np.flatnonzero(np.isin(pool.labels, ORDER[:4])))
    expected = fitted.logits(
        small_world().shots.select(run.views[0].images), fitted.text_bank(shots.classnames), "base"
    )
    np.testing.assert_allclose(first.logits[rows], expected[rows], **CLOSE)


def test_two_parts_are_one_pool():
    shots = small_world().shots
    pool = pool_of_two(shots, shots.of_classes([6, 1]), same_names=True)
    assert pool.labels[-8:].tolist() == [1] * 4 + [6] * 4 and pool.origin.sum() == 8
    assert len(set(pool.groups)) == 36 and pool.rows[-8:].tolist() == [*range(4, 8), *range(24, 28)]
    other = pool_of_two(shots, shots.of_classes([6, 1]), same_names=False)
    assert other.labels[-8:].tolist() == [8] * 4 + [7] * 4 and other.names[7:] == ("lamp", "ice_cream")
