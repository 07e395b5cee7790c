"""FRAP and its fusion: by hand, closed form under a uniform reference, invariances, the source itself, RAP."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import rel_entr, softmax
from simulated import outputs, refused

from openworld.estimators import FRAP, RAP, Outputs, base_weights, dirichlet_reference, fuse, uniform_reference
from openworld.estimators.engine.threshold import share_below, threshold

seeds = st.integers(0, 10**6)
BASE, OTHER = np.array([[0.8, 0.2, 0.0]]), np.array([[0.2, 0.4, 0.4]])
VARIED = st.builds(
    FRAP,
    tau=st.sampled_from(["dynamic", 1.0, 0.01]),
    tau_source=st.sampled_from(["own", "target"]),
    reference=st.sampled_from(["fused", "foundation"]),
    weighting=st.sampled_from(["linear", "softmax"]),
    fusion=st.sampled_from(["arithmetic", "geometric"]),
)


def estimate(frap, source, target):
    return frap.fit(source).estimate(target, interval=False)


def test_fusion_by_hand():
    assert base_weights(BASE, OTHER) == pytest.approx([0.8 / 1.2])
    assert base_weights(BASE, OTHER, "softmax") == pytest.approx(1 / (1 + np.exp(-0.4)))
    assert fuse(BASE, OTHER)[0] == pytest.approx([0.6, 0.8 / 3, 0.4 / 3])
    assert fuse(BASE, OTHER, fusion="geometric")[0, 2] == pytest.approx(0, abs=1e-200)  # one refuses it
    for fusion in ("arithmetic", "geometric"):
        assert fuse(np.eye(2)[[0]], np.eye(2)[[1]], fusion=fusion)[0] == pytest.approx([0.5, 0.5])
    refused("reference has shape", fuse, BASE, OTHER[:, :2] / 0.6)


@given(seeds, st.sampled_from(["linear", "softmax"]))
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


def test_references_that_know_nothing():
    drawn = dirichlet_reference(4000, 3, seed=0)
    assert drawn.shape == (4000, 3) and drawn.mean(axis=0) == pytest.approx(np.full(3, 1 / 3), abs=0.02)
    assert np.array_equal(drawn, dirichlet_reference(4000, 3, seed=0))
    assert not np.array_equal(drawn, dirichlet_reference(4000, 3, seed=1))
    labels = np.r_[np.arange(190) % 5, (np.arange(10) + 1) % 5]
    pair = [Outputs(30 * np.eye(5)[np.arange(200) % 5], labels, dirichlet_reference(200, 5, seed=s)) for s in (0, 1)]
    found = estimate(FRAP(calibrate=False), *pair)
    assert any("uninformative" in warning for warning in found.warnings)
    assert found.details["tau"] == 100 and np.ptp(found.sample_scores) < 0.01 and not found.details["informative"]


@given(seeds)
def test_a_uniform_reference_has_a_closed_form(seed):
    """Thresholding of w_b ||p_b||^2 + w_f / C."""
    pair = [replace(one, reference=uniform_reference(one.n, one.classes)) for one in map(outputs, (seed, seed + 1))]

    def closed(each):
        p = softmax(each.logits, axis=1)
        weight = p.max(axis=1) / (p.max(axis=1) + 1 / each.classes)
        return weight * (p**2).sum(axis=1) + (1 - weight) / each.classes

    found = estimate(FRAP(calibrate=False), *pair)
    assert found.sample_scores == pytest.approx(closed(pair[1]), abs=1e-12)
    assert found.error == share_below(closed(pair[1]), threshold(closed(pair[0]), pair[0].mistakes))
    assert any("uninformative" in warning for warning in found.warnings)


@given(seeds, VARIED)
def test_the_error_on_the_source_itself_is_the_sources(seed, frap):
    source = outputs(seed)
    assert estimate(frap, source, source).error == source.mistakes / source.n


@given(seeds, st.floats(0.2, 5), st.floats(-1, 1))
def test_scales_do_not_matter(seed, scale, offset):
    """Of logits that are calibrated, and of similarities, whose offset does not matter either."""
    pair = outputs(seed), outputs(seed + 1)
    plain = estimate(FRAP(), *pair)
    louder = estimate(FRAP(), *(replace(one, logits=scale * one.logits) for one in pair))
    assert louder.details["temperature"] == pytest.approx(scale * plain.details["temperature"], rel=1e-6)
    moved = estimate(FRAP(), *(replace(one, reference=scale * one.reference + offset) for one in pair))
    for found in (louder, moved):
        assert found.sample_scores == pytest.approx(plain.sample_scores, abs=1e-6)


def test_pseudo_labels_count_disagreement_and_rap_is_a_setting():
    target = Outputs([[1, 0], [1, 0], [0, 1], [0, 1]], reference=[[1, 0], [0, 1], [0, 1], [1, 0]])
    found = FRAP(reference="pseudo-labels").fit(outputs(0, classes=2)).estimate(target)
    assert found.error == 0.5 and found.sample_scores.tolist() == [1, 0, 1, 0]
    ignorant = replace(outputs(0), reference=np.random.default_rng(0).random((60, 4)))
    assert any("knows too little" in one for one in FRAP().fit(ignorant).estimate(outputs(1)).warnings)
    fitted, twin = (one.fit(outputs(0)) for one in (RAP(), FRAP(tau=1.0, reference="foundation")))
    assert fitted.estimator == RAP() and fitted.estimate(outputs(1)).interval == twin.estimate(outputs(1)).interval


def test_a_source_named_all_wrong_and_one_named_all_right():
    source = Outputs(np.eye(4), (np.arange(4) + 1) % 4, np.eye(4))
    found = FRAP(calibrate=False).fit(source).estimate(outputs(4))
    assert found.error == 1 and any("every source image is named wrong" in warning for warning in found.warnings)
    found = FRAP().fit(outputs(3, strength=40.0)).estimate(outputs(4))
    assert found.error == 0 and any("no source image is named wrong" in warning for warning in found.warnings)
