"""Whether confidence tells right from wrong: by hand, against scikit-learn, and what is said where it does not."""

import numpy as np
import pytest
from simulated import outputs, refused
from sklearn.metrics import roc_auc_score

from openworld.estimators import Outputs
from openworld.estimators.engine.confidence_check import check_confidence
from openworld.estimators.engine.temperature import confidences, source_temperature


def test_figures_are_scikit_learns_and_the_definitions():
    source = outputs(0, 400, 5, 1.5)
    found, temperature = check_confidence(source), source_temperature(source.logits, source.labels).value
    sure, right = confidences(source.logits, temperature), ~source.wrong
    assert found.area == pytest.approx(roc_auc_score(right, sure)) and found.mistakes == source.mistakes
    assert found.slope == pytest.approx(sure[right].mean() - sure[~right].mean())
    assert found.gap == pytest.approx(abs(sure.mean() - right.mean())) and found.tells and not found.why


def test_a_confidence_that_does_not_tell():
    source = outputs(0, 400, 5, 1.0)
    rng = np.random.default_rng(1)
    blind = Outputs(8 * np.eye(5)[source.predictions] + rng.random(source.logits.shape), source.labels)
    found = check_confidence(blind)
    assert not found.tells and f"{100 * found.area:.0f} %" in found.why and f"{found.mistakes}" in found.why


def test_one_that_cannot_be_calibrated_and_one_without_mistakes():
    labels = np.arange(400) % 4
    logits = 500.0 * np.eye(4)[labels]
    logits[:100] = 1e5 * np.eye(4)[(labels[:100] + 1) % 4]  # surest of all where it is wrong
    found = check_confidence(Outputs(logits, labels))
    assert found.gap > 0.1 and not found.tells and "calibrated" in found.why
    found = check_confidence(Outputs(4 * np.eye(3), [0, 1, 2]))
    assert found.area is None and found.slope is None and found.mistakes == 0 and found.gap < 0.1 and found.tells
    refused("needs labels", check_confidence, Outputs(np.eye(3)))
