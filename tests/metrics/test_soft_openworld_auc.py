"""OpenworldAUC of real-valued outcomes: the plain number, the definition pair by pair, influences, refusals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openworld.metrics import SOFT_QUANTITIES, openworld_auc, outcomes, soft_openworld_auc

pytestmark = pytest.mark.base

image = st.tuples(st.integers(-4, 4), st.booleans(), st.booleans())
real = st.integers(-16, 16).map(lambda eighths: eighths / 8)
weighed = st.tuples(st.integers(-4, 4), real, real, real, real, real)


def labelled(images):
    """Scores and outcomes of 0 and 1 of (score, base, right) triples."""
    scores, base, right = (np.array(column) for column in zip(*images, strict=True))
    return scores.astype(float), 1.0 * (base & right), 1.0 * (~base & right), 1.0 * base


def pair_by_pair(scores, first, second):
    """The sum over pairs of two different images."""
    won = 0.0
    for i in range(len(scores)):
        for j in range(len(scores)):
            if i != j:
                won += first[i] * second[j] * (1.0 if scores[i] > scores[j] else 0.5 if scores[i] == scores[j] else 0.0)
    return won


def one_moved(arrays, place, step):
    """The same with a little more of image `place`'s own outcomes: what an influence is the slope of."""
    weights = np.ones(len(arrays[0]))
    weights[place] += step
    scores, *rest = arrays
    return scores, *(weights * each for each in rest)


@given(st.lists(image, min_size=2, max_size=60))
def test_outcomes_of_labels_give_openworld_auc_to_the_last_bit(images):
    scores, base_right, new_right, base = labelled(images)
    soft = soft_openworld_auc(scores, base_right, new_right, base, right=base_right + new_right)
    sides = base == 1, base == 0
    plain = openworld_auc(scores[sides[0]], base_right[sides[0]], scores[sides[1]], new_right[sides[1]])
    assert soft.value == plain.value and soft.auroc == plain.auroc
    assert soft.base_accuracy == plain.base_accuracy and soft.new_accuracy == plain.new_accuracy
    assert soft.base_share == base.mean() and soft.overall_accuracy == (base_right + new_right).mean()


@given(st.lists(image, min_size=4, max_size=60).filter(lambda images: sum(base for _, base, _ in images) > 0))
def test_influences_are_the_components_of_the_closed_form(images):
    scores, base_right, new_right, base = labelled(images)
    if base.all():
        return
    soft, sides = soft_openworld_auc(scores, base_right, new_right, base), (base == 1, base == 0)
    plain = openworld_auc(scores[sides[0]], base_right[sides[0]], scores[sides[1]], new_right[sides[1]])
    psi, share = soft.influence(), base.mean()
    assert psi[sides[0]] == pytest.approx((plain.base_components - plain.value) / share, abs=1e-12)
    assert psi[sides[1]] == pytest.approx((plain.new_components - plain.value) / (1 - share), abs=1e-12)


@given(st.lists(weighed, min_size=1, max_size=60))
def test_every_pair_of_real_outcomes_counts_once_and_no_image_meets_itself(images):
    scores, base_right, new_right, base, new, _ = (np.array(column, float) for column in zip(*images, strict=True))
    result = soft_openworld_auc(scores, base_right, new_right, base, new)
    if not (base.sum() > 0 and new.sum() > 0):
        assert result.value is None and result.auroc is None and "there is no" in result.reason
        return
    whole = base.sum() * new.sum()
    assert result.value == pytest.approx(pair_by_pair(scores, base_right, new_right) / whole, abs=1e-12, rel=1e-12)
    assert result.auroc == pytest.approx(pair_by_pair(scores, base, new) / whole, abs=1e-12, rel=1e-12)


@given(st.lists(image, min_size=4, max_size=30), st.integers(0, 2**16))
def test_influences_are_slopes_and_their_mean_is_zero(images, seed):
    rng = np.random.default_rng(seed)
    scores, *_ = labelled(images)
    base, right, new_right = rng.random((3, scores.size))
    arrays = scores, base * right, (1 - base) * new_right, base, 1 - base, right
    result = soft_openworld_auc(*arrays[:5], right=arrays[5])
    place, step = int(rng.integers(scores.size)), 1e-6
    up, down = (soft_openworld_auc(*m[:5], right=m[5]) for m in (one_moved(arrays, place, s) for s in (step, -step)))
    for of in SOFT_QUANTITIES:
        psi = result.influence(of)
        assert psi.mean() == pytest.approx(0, abs=1e-12)
        slope = (up.value_of(of) - down.value_of(of)) / (2 * step) * scores.size
        assert psi[place] == pytest.approx(slope, abs=1e-6, rel=1e-6)


def test_the_influence_is_linear_in_the_outcomes_that_are_put_in():
    rng = np.random.default_rng(0)
    scores, (base, right, *other) = rng.normal(size=20).round(1), rng.random((7, 20))
    result = soft_openworld_auc(scores, base * right, (1 - base) * right, base)
    first, second = outcomes(*other[:3]), outcomes(*other[2:5])
    half = outcomes(*((a + b) / 2 for a, b in zip(other[:3], other[2:5], strict=True)))
    mixed = (result.influence(others=first) + result.influence(others=second)) / 2
    assert result.influence(others=half) == pytest.approx(mixed, abs=1e-12)


def test_an_image_without_a_name_among_all_names_has_no_overall_accuracy():
    result = soft_openworld_auc([2, 1], [1, 0], [0, 1], [1, 0])
    assert result.overall_accuracy is None
