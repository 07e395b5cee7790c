"""Area under the risk-coverage curve: by hand, against a walk through all orders of ties, and on bad input."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from openworld.metrics import aurc

pytestmark = pytest.mark.base


def walk(scores, correct):
    """The mean over every order of equal scores of the mean risk of the first 1, 2, ..., n answers."""
    values = []
    for order in permutations(range(len(scores))):
        if all(scores[first] >= scores[second] for first, second in zip(order, order[1:], strict=False)):
            wrong = np.cumsum([not correct[place] for place in order])
            values.append(np.mean(wrong / np.arange(1, len(scores) + 1)))
    return np.mean(values)


@given(some.lists(some.tuples(some.integers(0, 3), some.booleans()), min_size=1, max_size=6))
def test_it_is_the_mean_risk_over_coverages_and_orders_of_ties(rows):
    scores, correct = zip(*rows, strict=True)
    assert aurc(scores, correct).value == pytest.approx(walk(scores, correct))


def test_its_ends():
    assert aurc([1, 2, 3], [1, 1, 1]).value == 0 and aurc([1, 2, 3], [0, 0, 0]).value == 1
    assert aurc([1, 2], [0, 1]).value < aurc([2, 1], [0, 1]).value
    assert aurc([], []).value is None and aurc([], []).reason == "there is no sample"
