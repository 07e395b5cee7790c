"""Agreement on the line: by hand, written out pair by pair, models built on a line, warnings."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import linregress, norm
from simulated import outputs, refused

from openworld.estimators import ALineD, ALineS, Outputs

both = pytest.mark.parametrize("estimator", [ALineS(), ALineD()], ids=lambda one: one.name)


def written_out(source, target):
    """ALine-S and ALine-D of all models, pair by pair."""
    models = [[one.logits, *one.partners] for one in (source, target)]
    answers = [[np.argmax(each, axis=1) for each in one] for one in models]
    probit = [lambda rate, n=one.n: norm.ppf(min(max(rate, 0.5 / n), 1 - 0.5 / n)) for one in (source, target)]
    accuracies = [probit[0](np.mean(one == source.labels)) for one in answers[0]]
    pairs = list(combinations(range(len(accuracies)), 2))
    agree = [[probit[s](np.mean(answers[s][i] == answers[s][j])) for i, j in pairs] for s in (0, 1)]
    line = linregress(agree[0], agree[1])
    system = np.zeros((len(pairs), len(accuracies)))
    right = np.zeros(len(pairs))
    for row, (i, j) in enumerate(pairs):
        system[row, [i, j]] = 0.5
        right[row] = agree[1][row] + line.slope * ((accuracies[i] + accuracies[j]) / 2 - agree[0][row])
    solved = np.linalg.pinv(system) @ right
    return [norm.cdf(line.slope * a + line.intercept) for a in accuracies], norm.cdf(solved), line


@given(st.integers(0, 10**6), st.integers(2, 5))
def test_equals_the_formulas_pair_by_pair(seed, partners):
    source, target = outputs(seed, 150, partners=partners), outputs(seed + 1, 200, strength=1.0, partners=partners)
    along, at_once, line = written_out(source, target)
    for estimator, expected in ((ALineS(), along), (ALineD(), at_once)):
        found = estimator.fit(source).estimate(target, interval=False)
        assert found.details["model_accuracies"] == pytest.approx(list(expected), abs=1e-9)
        assert found.accuracy == pytest.approx(expected[0], abs=1e-9)
        assert found.details["slope"] == pytest.approx(line.slope, rel=1e-9)
        assert found.details["r_squared"] == pytest.approx(line.rvalue**2, abs=1e-9)
        itself = estimator.fit(source).estimate(source, interval=False)
        assert itself.error == pytest.approx(source.mistakes / source.n, abs=1e-9)


def models_that_share_hard_images(seed, scale, n=1500):
    """Seven models of falling strength on two classes; half of the noise is the image's, half the model's own."""
    rng = np.random.default_rng(seed)
    labels, shared = rng.integers(0, 2, n), rng.normal(size=(n, 2))
    strengths = scale * np.linspace(6, 2.25, 7)
    first, *others = (one * np.eye(2)[labels] + shared + rng.normal(size=(n, 2)) for one in strengths)
    return Outputs(first, labels, partners=others)


@both
def test_models_that_share_hard_images_are_on_the_line(estimator):
    source, target = models_that_share_hard_images(0, 1.0), models_that_share_hard_images(1, 0.6)
    found = estimator.fit(source).estimate(target, resamples=100)
    wrong = [np.mean(one.argmax(axis=1) != target.labels) for one in (target.logits, *target.partners)]
    assert 1 - np.array(found.details["model_accuracies"]) == pytest.approx(wrong, abs=0.06)
    assert not found.warnings and found.details["models"] == 7
    low, high = found.interval
    assert low < found.accuracy < high < low + 0.15


@both
def test_agreements_off_the_line_are_said(estimator):
    rng = np.random.default_rng(3)
    source, target = (
        Outputs(rng.normal(size=(300, 3)), [0] * 300, partners=[p + rng.normal(size=(300, 3)) * s for p, s in noise])
        for noise in ([(0, 1), (0, 1), (0, 1)], [(0, 1), (np.eye(3)[[0] * 300] * 9, 0.1), (0, 1)])
    )
    found = estimator.fit(source).estimate(target)
    assert found.accuracy is not None and any("do not lie on a line" in warning for warning in found.warnings)
    strict = replace(estimator, reject=True).fit(source)
    rejected = strict.estimate(target)
    assert rejected.accuracy is None and rejected.interval is None and rejected.warnings == found.warnings
    assert strict.estimate(source).accuracy == estimator.fit(source).estimate(source).accuracy


@both
def test_models_that_never_differ(estimator):
    one = outputs(0, partners=2)
    same = replace(one, partners=(one.logits, one.logits))
    found = estimator.fit(same).estimate(same)
    assert 0 <= found.accuracy <= 1
    assert any("no slope" in warning for warning in found.warnings)
    assert any("on all images" in warning for warning in found.warnings)
    refused("at least two partners", estimator.fit, outputs(0, partners=1))
    refused("the target has 2 partners, expected 3", estimator.fit(outputs(0, partners=3)).estimate, one)
