"""Semantic Alignment Score: loops over samples and classes, the identity matrix, refusals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openworld.core.errors import OpenworldError
from openworld.metrics import semantic_alignment


@given(st.integers(0, 10**6), st.integers(1, 20), st.integers(1, 6))
def test_equals_its_definition(seed, n, classes):
    rng = np.random.default_rng(seed)
    probabilities, labels = rng.dirichlet(np.ones(classes), n), rng.integers(0, classes, n)
    similarity = rng.random((classes, classes))
    terms = [probabilities[i, c] * similarity[c, labels[i]] for i in range(n) for c in range(classes)]
    expected = sum(terms) / n
    assert semantic_alignment(probabilities, labels, similarity).value == pytest.approx(expected, abs=1e-12)
    true = probabilities[np.arange(n), labels].mean()
    assert semantic_alignment(probabilities, labels, np.eye(classes)).value == pytest.approx(true, abs=1e-12)


def test_no_samples():
    result = semantic_alignment(np.zeros((0, 2)), [], np.eye(2))
    assert result.value is None and result.reason == "no samples"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[2.0, -1.0]], [0], np.eye(2)), "row 0 of probabilities sums to 1 with smallest value -1"),
        (([[3.0, 2.0]], [0], np.eye(2)), "sums to 5"),
        (([[0.5, 0.5]], [2], np.eye(2)), "labels holds class 2, expected less than 2"),
        (([[0.5, 0.5]], [0], np.eye(3)), r"shape \(3, 3\), expected \(2, 2\)"),
        (([[0.5, 0.5]], [0], 2 * np.eye(2)), "similarity holds 2, outside"),
        (([[0.5, 0.5]], [0, 1], np.eye(2)), "labels has 2 entries, expected 1"),
    ],
)
def test_refusals(arguments, message):
    with pytest.raises(OpenworldError, match=message):
        semantic_alignment(*arguments)
