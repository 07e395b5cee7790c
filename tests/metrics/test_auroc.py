"""AUROC: by hand, DeLong's variance written out, scikit-learn, edges."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openworld.metrics import auroc

pytestmark = pytest.mark.base

levels = st.lists(st.integers(-4, 4).map(float), min_size=1, max_size=20)


def joined(high, low):
    return np.r_[np.ones(len(high)), np.zeros(len(low))].astype(int), np.r_[high, low]


@given(levels, levels)
def test_it_is_that_of_scikit_learn_with_and_without_weights(high, low):
    from sklearn.metrics import roc_auc_score

    labels, scores = joined(high, low)
    assert auroc(high, low).value == pytest.approx(roc_auc_score(labels, scores), abs=1e-12)
    weights = 1.0 + np.arange(labels.size) % 3
    value = auroc(high, low, in_weights=weights[: len(high)], out_weights=weights[len(high) :]).value
    assert value == pytest.approx(roc_auc_score(labels, scores, sample_weight=weights), abs=1e-12)


def test_the_standard_error_is_delongs():
    rng = np.random.default_rng(0)
    high, low = rng.normal(1, 1, 23), rng.normal(0, 1, 31)
    wins = (high[:, None] > low[None]) * 1.0
    variance = wins.mean(1).var(ddof=1) / 23 + wins.mean(0).var(ddof=1) / 31
    assert auroc(high, low).standard_error == pytest.approx(np.sqrt(variance), rel=1e-12)


@pytest.mark.parametrize(
    ("weights", "value"),
    [({"in_weights": [1, 2, 3]}, (1 + 2 / 2 + 3) / 6), ({"out_weights": [3, 1]}, (3 * 2 / 3 + 1) / 4), ({}, 5 / 6)],
)
def test_weights_of_one_side_alone_count(weights, value):
    assert auroc([2.0, 1.0, 3.0], [1.5, 0.0], **weights).value == pytest.approx(value)


@pytest.mark.parametrize("scale", [1e-200, 1e200, 1e300])
def test_weights_of_any_scale_mean_the_same(scale):
    inside, outside, weights = [2.0, 1.0, 3.0], [1.5, 0.0], np.array([1.0, 2.0, 3.0])
    plain, scaled = (auroc(inside, outside, in_weights=one) for one in (weights, weights * scale))
    assert scaled.value == pytest.approx(plain.value)
    assert scaled.standard_error == pytest.approx(plain.standard_error)
