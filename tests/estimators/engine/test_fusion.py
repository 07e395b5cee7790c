"""Confidence-weighted fusion: by hand, and each mean is the one that its divergence asks for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import rel_entr

from openworld.estimators import base_weights, fuse

BASE, OTHER = np.array([[0.8, 0.2, 0.0]]), np.array([[0.2, 0.4, 0.4]])


def test_by_hand():
    assert base_weights(BASE, OTHER) == pytest.approx([0.8 / 1.2])
    assert base_weights(BASE, OTHER, "softmax") == pytest.approx(1 / (1 + np.exp(-0.4)))
    assert fuse(BASE, OTHER)[0] == pytest.approx([0.6, 0.8 / 3, 0.4 / 3])
    even = fuse(np.array([[0.9, 0.1]]), np.array([[0.1, 0.9]]), fusion="geometric")
    assert even[0] == pytest.approx([0.5, 0.5])
    assert fuse(BASE, OTHER, fusion="geometric")[0, 2] == pytest.approx(0, abs=1e-200)  # one refuses it


@given(st.integers(0, 10**6), st.sampled_from(["linear", "softmax"]))
def test_each_mean_minimises_its_divergence(seed, weighting):
    rng = np.random.default_rng(seed)
    base, other, *rivals = rng.dirichlet(np.ones(4), 30)[:, None]
    weight = float(base_weights(base, other, weighting)[0])

    def towards(q):
        return weight * rel_entr(base, q).sum() + (1 - weight) * rel_entr(other, q).sum()

    def away(q):
        return weight * rel_entr(q, base).sum() + (1 - weight) * rel_entr(q, other).sum()

    for fusion, cost in (("arithmetic", towards), ("geometric", away)):
        q = fuse(base, other, weighting=weighting, fusion=fusion)
        assert q.sum() == pytest.approx(1, abs=1e-12)
        assert all(cost(q) <= cost(0.9 * q + 0.1 * rival) + 1e-12 for rival in rivals)


def test_certain_models_that_contradict_share():
    base, other = np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])
    for fusion in ("arithmetic", "geometric"):
        assert fuse(base, other, fusion=fusion)[0] == pytest.approx([0.5, 0.5])
