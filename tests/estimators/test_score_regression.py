"""Scores made errors: an exact line, SciPy's regression, how often the interval holds, warnings and refusals."""

import numpy as np
import pytest
from scipy.stats import linregress
from simulated import outputs

from openworld.core.errors import OpenworldError
from openworld.estimators import MDE, MaNo, NuclearNorm, Outputs, ScoreRegression, SoftmaxCorr

SCORES = [NuclearNorm(), MaNo(), SoftmaxCorr(), MDE()]
every_score = pytest.mark.parametrize("score", SCORES, ids=lambda one: one.name)


def sets(count, n=400, start=0):
    return [outputs(start + i, n, strength=strength) for i, strength in enumerate(np.linspace(0.5, 4, count))]


@every_score
def test_equals_scipys_line(score):
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
    few = ScoreRegression(NuclearNorm()).fit(sets(4))
    said = few.estimate(outputs(9, 400, strength=9.0)).warnings
    assert any("rests on 4 labelled sets" in one for one in said)
    assert any("lies outside those of the labelled sets" in one for one in said)
    rng = np.random.default_rng(0)
    unrelated = [Outputs(one.logits, rng.integers(0, 4, one.n)) for one in sets(12)]
    said = ScoreRegression(NuclearNorm()).fit(unrelated).estimate(outputs(9, 400)).warnings
    assert any("explains little" in one for one in said)


def test_without_anything_to_go_by_there_is_no_estimate():
    same = ScoreRegression(NuclearNorm()).fit([outputs(0)] * 3).estimate(outputs(1))
    assert same.accuracy is None and "the same for all labelled sets" in same.warnings[0]
    single = ScoreRegression(MDE()).fit(sets(4)).estimate(outputs(1).take([0]))
    assert single.accuracy is None and "undefined on the target" in single.warnings[0]
    two = ScoreRegression(MaNo(normalisation="taylor")).fit([outputs(seed, classes=2) for seed in range(4)])
    assert two.estimate(outputs(9, classes=2)).accuracy is None


def test_refusals():
    three = sets(3)
    regression = ScoreRegression(MaNo())
    with pytest.raises(OpenworldError, match="sets: .*expected a sequence"):
        regression.fit(three[0])
    with pytest.raises(OpenworldError, match="MaNo needs labels"):
        regression.fit([*three, Outputs(three[0].logits)])
    with pytest.raises(OpenworldError, match="4 and 5 classes"):
        regression.fit([*three, outputs(0, classes=5)])
    with pytest.raises(OpenworldError, match="MDE is undefined on labelled set 1"):
        ScoreRegression(MDE()).fit([three[0], three[1].take([0]), three[2]])
    with pytest.raises(OpenworldError, match="the target has 5 classes"):
        regression.fit(three).estimate(outputs(0, classes=5))
