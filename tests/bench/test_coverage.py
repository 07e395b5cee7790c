"""The simulation's truth is true: accuracies of the laws, calibration, over-confidence; the table has every cell."""

import numpy as np
import pytest
from coverage import HARDER, SOURCE, TARGETS, accuracy, drawn, measure, strength, table

from openworld.estimators import AC, ESTIMATORS


@pytest.mark.parametrize("classes", [2, 10, 100])
def test_laws_are_right_as_often_as_they_say(classes):
    assert accuracy(strength(SOURCE, classes), classes) == pytest.approx(SOURCE, abs=1e-9)
    for target in TARGETS.values():
        found = drawn(np.random.default_rng(0), 2000, classes, target)
        assert 1 - found.mistakes / found.n == pytest.approx(target.accuracy, abs=0.035)


def test_calibrated_and_over_confident():
    rng = np.random.default_rng(0)
    source = drawn(rng, 4000, 5)
    fitted = AC().fit(source)
    assert fitted.known.temperature == pytest.approx(1, abs=0.08)
    missed = {name: fitted.estimate(drawn(rng, 4000, 5, one)).accuracy - one.accuracy for name, one in TARGETS.items()}
    assert missed["harder, calibrated"] == pytest.approx(0, abs=0.025)
    assert missed["harder, over-confident"] > 0.05
    assert TARGETS["harder, calibrated"].accuracy == HARDER


def test_every_estimator_has_a_cell():
    outcomes = list(measure(3, 60, repeats=2, resamples=20))
    assert {(one.target, one.estimator) for one in outcomes} == {
        (kind, name) for kind in TARGETS for name in ESTIMATORS
    }
    lines = table(outcomes, "label shift").splitlines()
    assert len(lines) == 5 + len(ESTIMATORS) and "C=3 n=60" in lines[3]
