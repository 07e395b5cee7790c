"""Averages over seeds: means and the interval over images."""

import numpy as np
import pytest

from openworld.metrics import QUANTITIES, average, openworld_auc, seed_spread

pytestmark = pytest.mark.base


def seeds(count=3, n_base=50, n_new=40):
    rng = np.random.default_rng(0)
    hard = rng.random(n_base), rng.random(n_new)
    return [
        openworld_auc(rng.normal(1, 1, n_base), hard[0] < rng.normal(0.8, 0.05), rng.normal(0, 1, n_new), hard[1] < 0.6)
        for _ in range(count)
    ]


@pytest.mark.parametrize("of", QUANTITIES)
def test_of_one_seed_it_is_that_seed(of):
    result = seeds(1)[0]
    estimate, expected = average([result]).estimate(of), result.estimate(of)
    assert estimate == expected and estimate.standard_error == expected.standard_error


def test_mean_and_error_over_images_come_from_mean_components():
    results = seeds()
    mean = average(results)
    base = np.mean([one.base_components for one in results], axis=0)
    new = np.mean([one.new_components for one in results], axis=0)
    assert mean.value == pytest.approx(np.mean([one.value for one in results]))
    expected = np.sqrt(base.var(ddof=1) / base.size + new.var(ddof=1) / new.size)
    assert mean.standard_error == pytest.approx(expected, rel=1e-12)
    assert mean.interval()[0] < mean.value < mean.interval()[1]
    assert mean.seed_values() == tuple(one.value for one in results)
    assert len(mean.results) == 3 and mean.error_reason is None and mean.reason is None


def test_undefined():
    empty = openworld_auc([1.0], [1], [], [])
    mean = average([empty, empty])
    assert mean.value is None and mean.reason == "result 1 of 2: there is no new sample"
    assert mean.interval() is None


@pytest.mark.parametrize("values", [[0.3, 0.1 + 0.2, 0.3], [1.0, 1.0], [0.7 - 0.4, 0.3, 0.3]])
def test_seeds_that_agree_but_for_rounding_have_no_interval(values):
    assert seed_spread(values).interval() is None and "no evidence" in seed_spread(values).interval_reason
