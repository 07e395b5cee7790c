"""An estimate taken apart: it adds up, thresholds decide where there are any, and what it cannot do is refused."""

import numpy as np
import pytest
from simulated import outputs, refused

from openworld.estimators import AC, ESTIMATORS, ATCMaxConfidence, Estimate, Outputs, PseudoLabelShift
from openworld.estimators.quote.by_class import chances, expected_confusion

SOURCE, TARGET = outputs(0, 300, 4, 2.0, 2), outputs(1, 200, 4, 1.5, 2)


@pytest.mark.parametrize("name", ["AC", "IM", "GDE", "ATC-MC", "COTT", "CBPE", "FRAP"])
def test_classes_add_up_to_the_estimate(name):
    estimate = ESTIMATORS[name]().fit(SOURCE).estimate(TARGET, interval=False)
    found = expected_confusion(estimate, TARGET)
    assert np.trace(found) / TARGET.n == pytest.approx(estimate.accuracy)
    assert found.sum(axis=1) == pytest.approx(np.bincount(TARGET.predictions, minlength=4))
    assert (found >= -1e-12).all() and (found.sum(axis=0) > 0).all()


def test_by_hand():
    """Two images named 0 with chances .8 and .6, one named 2 with .5; the rest goes where the probabilities are."""
    target = Outputs(np.log([[0.8, 0.1, 0.1], [0.6, 0.4, 1e-300], [0.25, 0.25, 0.5]]))
    estimate = AC(calibrate=False).fit(target).estimate(target, interval=False)
    expected = [[1.4, 0.5, 0.1], [0, 0, 0], [0.25, 0.25, 0.5]]
    np.testing.assert_allclose(expected_confusion(estimate, target), expected, atol=1e-12)
    certain = expected_confusion(Estimate.of(0.4, sample_scores=[0.5]), Outputs([[1e4, 0.0, 0.0]]))
    np.testing.assert_allclose(certain[0], [0.6, 0.2, 0.2])  # 1 and 0 say nothing of the other classes


def test_a_threshold_says_right_or_wrong_and_at_infinity_what_the_estimate_says():
    estimate = ATCMaxConfidence().fit(SOURCE).estimate(TARGET, interval=False)
    right = chances(estimate, TARGET.n)
    assert set(right) == {0.0, 1.0} and right.mean() == pytest.approx(estimate.accuracy)
    faultless = Outputs([[5.0, 0.0], [0.0, 5.0]], labels=[0, 1])  # nothing lies below the threshold
    estimate = ATCMaxConfidence().fit(faultless).estimate(faultless, interval=False)
    assert estimate.details["threshold"] is None and chances(estimate, 2).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("accuracy", [0.0, 0.3, 0.5, 0.7, 1.0])
def test_chances_are_scaled_to_the_estimate(accuracy):
    scores = np.array([0.2, 0.5, 0.8])
    found = chances(Estimate.of(1 - accuracy, sample_scores=scores), 3)
    assert found.mean() == pytest.approx(accuracy) and found.min() >= 0 and found.max() <= 1
    assert (np.diff(found) >= 0).all()


def test_what_cannot_be_taken_apart_is_refused():
    whole = PseudoLabelShift().fit(SOURCE).estimate(TARGET, interval=False)
    refused("says nothing of single images", expected_confusion, whole, TARGET)
    refused(
        "is of 2 images, but 200 were given", expected_confusion, Estimate.of(0.5, sample_scores=[0.5, 0.5]), TARGET
    )
    refused(r"chances in \[0, 1\]", expected_confusion, Estimate.of(0.5, sample_scores=[-3.0, 2.0]), Outputs(np.eye(2)))
