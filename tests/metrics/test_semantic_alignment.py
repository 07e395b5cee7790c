"""Semantic Alignment Score: loops over samples and classes, the identity matrix, refusals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openworld.metrics import semantic_alignment

pytestmark = pytest.mark.base


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
