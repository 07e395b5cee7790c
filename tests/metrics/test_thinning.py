"""Mixes of a test set: how many images every class keeps, which ones, and their mean over all draws."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openworld import OpenworldError
from openworld.metrics import openworld_auc
from openworld.metrics.thinning import kept_images, kept_share, thin

pytestmark = pytest.mark.base

LABELS = st.lists(st.integers(0, 5), max_size=60)
FACTORS = st.floats(1, 20)


def test_a_class_of_any_size_keeps_what_the_authors_code_keeps():
    for size in range(1, 800):
        assert kept_images(np.zeros(size, int), 5)[0] == int(max(0.2 * size, 1))


@given(LABELS, FACTORS, st.integers(0, 9))
def test_a_draw_keeps_so_many_of_every_class_and_none_twice(labels, factor, seed):
    rows = thin(labels, factor, np.random.default_rng(seed))
    assert (np.diff(rows) > 0).all()
    for label in set(labels):
        kept = sum(labels[row] == label for row in rows)
        assert kept == max(1, int(labels.count(label) / factor))


def test_weights_give_the_exact_mean_over_all_draws():
    """All ways to keep 2 of 5 and 1 of 3 images, one by one."""
    base = [0.9, 0.3, 0.5, 0.7], [1, 1, 0, 1]
    scores, correct, labels = (
        np.array([0.6, 0.2, 0.4, 0.8, 0.3, 0.1, 0.5, 0.7]),
        [1, 1, 0, 1, 1, 1, 1, 0],
        [4] * 5 + [7] * 3,
    )
    values = []
    for first, second in product(combinations(range(5), 2), combinations(range(5, 8), 1)):
        rows = [*first, *second]
        values.append(openworld_auc(*base, scores[rows], np.array(correct)[rows]).value)
    weighted = openworld_auc(*base, scores, correct, new_weights=kept_share(labels, 2.5))
    assert weighted.value == pytest.approx(np.mean(values))


@pytest.mark.parametrize("factor", [0.5, 0, -1, float("nan")])
def test_a_factor_below_one_is_refused(factor):
    with pytest.raises(OpenworldError, match="factor.* expected (1 or more|a finite number)"):
        kept_images([0, 1], factor)
