"""A correction learned from labelled periods: what it finds, where it does nothing, and what is refused."""

import numpy as np
import pytest
from simulated import refused

from openworld.estimators.quote.recalibration import RANGE, accuracy_with, recalibrate


def test_a_loss_that_is_seen_by_half_is_corrected():
    estimated = np.linspace(0.5, 0.88, 30)
    power = recalibrate(0.9, estimated, 0.9 * (estimated / 0.9) ** 2, np.full(30, 0.01))
    assert power == pytest.approx(2, abs=0.1)
    assert accuracy_with(power, 0.7, 0.9) == pytest.approx(0.9 * (7 / 9) ** 2, abs=0.01)


def test_healthy_periods_teach_nothing_and_are_not_corrected():
    power = recalibrate(0.9, [0.9, 0.89, 0.9], [0.84, 0.95, 0.9], [0.04] * 3)
    assert power == pytest.approx(1, abs=0.2)
    assert accuracy_with(power, 0.9, 0.9) == 0.9 and accuracy_with(power, 0.95, 0.9) == 0.95


def test_a_single_uncertain_period_hardly_moves_it():
    sure, unsure = (recalibrate(0.9, [0.6], [0.3], [error]) for error in (0.01, 0.3))
    assert 1 < unsure < sure < RANGE[1] == recalibrate(0.9, [0.85] * 500, [0.0] * 500, [0.001] * 500)
    refused("labelled has 2", recalibrate, 0.9, [0.5], [0.5, 0.6], [0.1])
