"""FRAP: stored values of every variant, the closed form under a uniform reference, invariances, the source itself."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax
from simulated import CASES, outputs, stored

from openworld.core.errors import OpenworldError
from openworld.estimators import FRAP, Outputs, dirichlet_reference, uniform_reference
from openworld.estimators.engine.threshold import share_below, threshold

seeds = st.integers(0, 10**6)
cases = pytest.mark.parametrize("case", CASES)


def estimate(frap, source, target):
    return frap.fit(source).estimate(target, interval=False)


def stored_estimate(case, **chosen):
    frap = replace(FRAP(rule="reference", calibrate=False), **chosen)
    return estimate(frap, *stored(case, CASES[case]["outputs"]["cot_repo"]["temperature"]))


VARIANTS = {
    "TTC_own_tau": {},
    "TTC_target_tau_for_both": {"tau_source": "target"},
    **{f"fixed_{tau}": {"tau": tau} for tau in (1.0, 0.1, 0.05, 0.01)},
}


@cases
@pytest.mark.parametrize("variant", VARIANTS)
def test_stored_values(case, variant):
    expected = CASES[case]["outputs"]["frap"][variant]
    found = stored_estimate(case, **VARIANTS[variant])
    assert found.error == pytest.approx(expected["err"], abs=1e-12)
    assert found.details["threshold"] == pytest.approx(expected["threshold"], abs=1e-8)
    plain = stored_estimate(case, **VARIANTS[variant], rule=None)
    assert plain.error == pytest.approx(expected["err_no_threshold"], abs=1e-8)


@cases
def test_stored_unfused_and_pseudo_labels(case):
    expected = CASES[case]["outputs"]["frap"]
    unfused = stored_estimate(case, tau=1.0, reference="foundation")
    assert unfused.error == pytest.approx(expected["raw_unfused"]["err"], abs=1e-12)
    assert unfused.details["threshold"] == pytest.approx(expected["raw_unfused"]["threshold"], abs=1e-12)
    assert stored_estimate(case, reference="pseudo-labels").error == pytest.approx(expected["Base_err"], abs=1e-12)
    assert stored_estimate(case).details["base_weight"] == pytest.approx(expected["mean_weight_base_tgt"], abs=1e-8)


@settings(max_examples=20)
@given(seeds)
def test_a_uniform_reference_has_a_closed_form(seed):
    """Thresholding of w_b ||p_b||^2 + w_f / C."""
    source, target = (
        replace(one, reference=uniform_reference(one.n, one.classes)) for one in (outputs(seed), outputs(seed + 1))
    )

    def closed(each):
        p = softmax(each.logits, axis=1)
        weight = p.max(axis=1) / (p.max(axis=1) + 1 / each.classes)
        return weight * (p**2).sum(axis=1) + (1 - weight) / each.classes

    cut = threshold(closed(source), source.mistakes)
    found = estimate(FRAP(calibrate=False), source, target)
    assert found.sample_scores == pytest.approx(closed(target), abs=1e-12)
    assert found.error == share_below(closed(target), cut)
    assert any("uninformative" in warning for warning in found.warnings)


def test_a_random_reference_nearly_is_one():
    sure = np.eye(5)[np.arange(200) % 5] * 30
    labels = np.r_[np.arange(190) % 5, (np.arange(10) + 1) % 5]
    source, target = (Outputs(sure, labels, dirichlet_reference(200, 5, seed=seed)) for seed in (0, 1))
    found = estimate(FRAP(calibrate=False), source, target)
    assert any("uninformative" in warning for warning in found.warnings)
    assert found.details["tau"] == 100 and np.ptp(found.sample_scores) < 0.01


VARIED = st.builds(
    FRAP,
    tau=st.sampled_from(["dynamic", 1.0, 0.01]),
    tau_source=st.sampled_from(["own", "target"]),
    reference=st.sampled_from(["fused", "foundation"]),
    weighting=st.sampled_from(["linear", "softmax"]),
    fusion=st.sampled_from(["arithmetic", "geometric"]),
)


@settings(max_examples=20)
@given(seeds, VARIED)
def test_on_the_source_itself_the_error_is_the_sources(seed, frap):
    source = outputs(seed)
    assert estimate(frap, source, source).error == source.mistakes / source.n


@settings(max_examples=20)
@given(seeds, VARIED)
def test_the_order_of_images_does_not_matter(seed, frap):
    source, target, rng = outputs(seed), outputs(seed + 1), np.random.default_rng(seed)
    shuffled = [one.take(rng.permutation(one.n)) for one in (source, target)]
    assert estimate(frap, *shuffled).error == estimate(frap, source, target).error


@settings(max_examples=20)
@given(seeds, st.floats(0.2, 5))
def test_the_scale_of_the_logits_does_not_matter_where_they_are_calibrated(seed, scale):
    pair = outputs(seed), outputs(seed + 1)
    scaled = (replace(one, logits=scale * one.logits) for one in pair)
    one, other = estimate(FRAP(), *pair), estimate(FRAP(), *scaled)
    assert other.sample_scores == pytest.approx(one.sample_scores, abs=1e-6)
    assert other.details["temperature"] == pytest.approx(scale * one.details["temperature"], rel=1e-6)


@settings(max_examples=20)
@given(seeds, st.floats(0.2, 5), st.floats(-1, 1))
def test_scale_and_offset_of_the_similarities_do_not_matter(seed, scale, offset):
    pair = outputs(seed), outputs(seed + 1)
    moved = (replace(one, reference=scale * one.reference + offset) for one in pair)
    one, other = estimate(FRAP(), *pair), estimate(FRAP(), *moved)
    assert other.sample_scores == pytest.approx(one.sample_scores, abs=1e-6)


def test_pseudo_labels_count_disagreement():
    target = Outputs([[1, 0], [1, 0], [0, 1], [0, 1]], reference=[[1, 0], [0, 1], [0, 1], [1, 0]])
    found = FRAP(reference="pseudo-labels").fit(outputs(0, classes=2)).estimate(target)
    assert found.error == 0.5 and found.sample_scores.tolist() == [1, 0, 1, 0]


def test_a_better_reference_gives_a_better_estimate():
    source, target = outputs(0, 3000), outputs(1, 3000, strength=1.2)
    missed = {}
    for strength in (0.0, 4.0):
        rng = np.random.default_rng(2)
        pair = (
            replace(one, reference=strength * np.eye(4)[one.labels] + rng.normal(size=one.logits.shape))
            for one in (source, target)
        )
        missed[strength] = abs(estimate(FRAP(), *pair).error - target.mistakes / target.n)
    assert missed[4.0] < 0.03 < 0.05 < missed[0.0]


def test_every_source_image_named_wrong():
    source = Outputs(np.eye(4), (np.arange(4) + 1) % 4, np.eye(4))
    found = FRAP(calibrate=False).fit(source).estimate(outputs(4))
    assert found.error == 1 and any("every source image is named wrong" in warning for warning in found.warnings)


def test_no_mistake_on_the_source_gives_no_error_and_says_so():
    source = outputs(3, strength=40.0)
    found = FRAP().fit(source).estimate(outputs(4))
    assert found.error == 0 and any("no source image is named wrong" in warning for warning in found.warnings)


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"tau": 0.0}, "tau: 0.0 came .*expected .* 1e-140 or more or one of 'dynamic'"),
        ({"tau": "dynamics"}, "tau: 'dynamics'"),
        ({"tau": float("nan")}, "tau: nan"),
        ({"tau_source": "targets"}, "tau_source: unknown value 'targets'; did you mean 'target'"),
        ({"reference": "fuse"}, "did you mean 'fused'"),
        ({"weighting": "line"}, "weighting: unknown value"),
        ({"fusion": "mean"}, "fusion: unknown value"),
        ({"rule": "median"}, "rule: unknown value 'median'"),
    ],
)
def test_refusals(chosen, message):
    with pytest.raises(OpenworldError, match=message):
        FRAP(**chosen)
