"""What bench/precision.py tells apart, by hand."""

import numpy as np
import pytest
from precision import METRICS, Said, apart, lines


def test_embeddings_are_compared_by_angle_and_length_and_names_by_share():
    exact = Said(np.array([[3.0, 4.0], [1.0, 0.0]]), np.array([0, 1]))
    other = Said(np.array([[6.0, 8.0], [1.0, 1.0]]), np.array([0, 0]))
    told = apart(exact, other)
    assert told["smallest cosine"] == pytest.approx(0.5**0.5)
    assert told["mean cosine"] == pytest.approx((1 + 0.5**0.5) / 2)
    assert told["length"] == pytest.approx(1.0) and told["same name"] == 0.5


def test_a_learner_is_told_by_its_mean_difference_and_by_the_largest_of_a_seed():
    exact = np.array([[50.0] * len(METRICS) + [2.0], [60.0] * len(METRICS) + [2.0]])
    (line,) = lines({"CoOp": exact}, {"CoOp": exact + np.array([[1.0], [-3.0]])})
    assert line.split()[:2] == ["CoOp", "-1.00"]
    assert "largest  3.00" in line and "fitting x 0.5" in line
