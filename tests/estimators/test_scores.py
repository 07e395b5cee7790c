"""Scores of sets, by hand, and the line that makes errors of them: SciPy's, its interval, warnings, refusals."""

import numpy as np
import pytest
from scipy.stats import linregress
from simulated import outputs, refused

from openworld.estimators import MDE, MaNo, NuclearNorm, Outputs, ScoreRegression, SoftmaxCorr


def sets(count, n=400, start=0):
    return [outputs(start + i, n, strength=strength) for i, strength in enumerate(np.linspace(0.5, 4, count))]


def test_nuclear_norm_and_softmax_corr_by_hand():
    certain = [Outputs(99 * np.eye(4)[named]) for named in (np.arange(40) % 4, np.zeros(40, int))]
    assert [NuclearNorm().score(one) for one in certain] == pytest.approx([1, 0.5])
    labels = np.repeat([0, 1, 2], [30, 10, 5])
    uneven = Outputs(99 * np.eye(3)[labels], reference=np.eye(3)[labels])
    assert SoftmaxCorr(frequencies="reference").score(uneven) == pytest.approx(1)
    assert SoftmaxCorr().score(uneven) == pytest.approx(45 / np.sqrt((30**2 + 10**2 + 5**2) * 3))


def test_mano_by_hand():
    assert MaNo(normalisation="taylor").score(Outputs(np.ones((3, 4)))) == pytest.approx(1 / 4)  # prefers no class
    assert MaNo(power=1, normalisation="softmax").score(outputs(0)) == pytest.approx(1 / 4)


def test_mde_is_free_of_size_and_undefined_for_equal_energies():
    once = outputs(0)
    often = Outputs(np.tile(once.logits, (10, 1)))
    assert MDE().score(often) == pytest.approx(MDE().score(once), abs=1e-9)
    whole = MDE(size_free=False)
    assert whole.score(often) > whole.score(once) != MDE(2.0, size_free=False).score(Outputs(2 * once.logits))
    assert MDE().score(Outputs(np.ones((7, 3)) * 0.1)) is MDE().score(once.take([0])) is None


@pytest.mark.parametrize("score", [NuclearNorm(), MaNo(), SoftmaxCorr(), MDE()], ids=lambda one: one.name)
def test_the_line_is_scipys(score):
    labelled, target = sets(12), outputs(99, 400, strength=1.7)
    line = linregress([score.score(one) for one in labelled], [one.mistakes / one.n for one in labelled])
    found = ScoreRegression(score).fit(labelled).estimate(target)
    assert found.raw_error == pytest.approx(line.slope * score.score(target) + line.intercept, abs=1e-9)
    assert found.details["r_squared"] == pytest.approx(line.rvalue**2, abs=1e-9)
    assert found.error == pytest.approx(target.mistakes / target.n, abs=0.1)


def test_the_interval_holds_other_sets_of_the_same_kind():
    fitted = ScoreRegression(NuclearNorm()).fit(sets(25))
    held = 0
    for seed in range(30):
        target = outputs(1000 + seed, 400, strength=0.5 + 3.5 * seed / 30)
        low, high = fitted.estimate(target, seed=seed, resamples=100).interval
        held += low <= 1 - target.mistakes / target.n <= high
    assert held >= 26


def test_what_is_doubtful_is_said():
    said = ScoreRegression(NuclearNorm()).fit(sets(4)).estimate(outputs(9, 400, strength=9.0)).warnings
    assert "rests on 4 labelled sets" in said[0] and "lies outside those of the labelled sets" in said[1]
    assert not ScoreRegression(NuclearNorm()).fit(sets(10)).estimate(outputs(9, 400)).warnings
    rng = np.random.default_rng(0)
    unrelated = [Outputs(one.logits, rng.integers(0, 4, one.n)) for one in sets(12)]
    assert "explains little" in ScoreRegression(NuclearNorm()).fit(unrelated).estimate(outputs(9, 400)).warnings[0]


def test_without_anything_to_go_by_there_is_no_estimate():
    same = ScoreRegression(NuclearNorm()).fit([outputs(0)] * 3).estimate(outputs(1))
    assert same.accuracy is None and "the same for all labelled sets" in same.warnings[0]
    single = ScoreRegression(MDE()).fit(sets(4)).estimate(outputs(1).take([0]))
    assert single.accuracy is None and "undefined on the target" in single.warnings[0]
    two = ScoreRegression(MaNo(normalisation="taylor")).fit([outputs(seed, classes=2) for seed in range(4)])
    assert two.estimate(outputs(9, classes=2)).accuracy is None


def test_sets_that_do_not_go_together_are_refused():
    three, fit = sets(3), ScoreRegression(MaNo()).fit
    refused("MaNo needs labels", fit, [*three, Outputs(three[0].logits)])
    refused("4 and 5 classes", fit, [*three, outputs(0, classes=5)])
    refused("2", fit, three[:2])
    few = [three[0], three[1].take([0]), three[2]]
    refused("MDE is undefined on labelled set 1", ScoreRegression(MDE()).fit, few)
    refused("needs reference", SoftmaxCorr(frequencies="reference").score, Outputs(three[0].logits))
