"""The bootstrap: resampling by hand, agreement with the closed form, groups, threads, edges."""

import numpy as np
import pytest

from openworld.metrics import QUANTITIES, average, bootstrap, openworld_auc
from openworld.metrics._bootstrap import _Layout, _units

pytestmark = pytest.mark.base


def middling(seed=0, n_base=120, n_new=100, **options):
    rng = np.random.default_rng(seed)
    return openworld_auc(
        rng.normal(1, 1, n_base).round(1),
        rng.random(n_base) < 0.8,
        rng.normal(0, 1, n_new).round(1),
        rng.random(n_new) < 0.6,
        **options,
    )


@pytest.mark.parametrize("of", QUANTITIES)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_replicate_is_the_quantity_of_the_repeated_samples(of, weighted):
    """Counts in, value out: the same as building the resampled data set and starting afresh."""
    rng = np.random.default_rng(3)
    weights = {"base_weights": rng.random(120), "new_weights": rng.random(100)} if weighted else {}
    result = middling(**weights)
    samples = result.samples
    codes = np.arange(120), np.arange(100)
    layout = _Layout(samples, of, codes)
    k, m = (np.bincount(rng.integers(0, code.size, code.size), minlength=code.size) for code in codes)
    repeated = {name: np.repeat(weight, times) for (name, weight), times in zip(weights.items(), (k, m), strict=False)}
    data = (samples.base_scores, samples.base_correct, samples.new_scores, samples.new_correct)
    afresh = openworld_auc(*(np.repeat(x, times) for x, times in zip(data, (k, k, m, m), strict=True)), **repeated)
    assert layout.value(k, m) == pytest.approx(afresh.estimate(of).value, abs=1e-12)


@pytest.mark.parametrize("of", QUANTITIES)
def test_agrees_with_the_closed_form(of):
    result = middling()
    found, expected = bootstrap(result, of, replicates=2000), result.estimate(of)
    assert found.standard_error == pytest.approx(expected.standard_error, rel=0.08)
    assert found.interval() == pytest.approx(expected.interval(), abs=0.02)


@pytest.mark.parametrize("crossed", [False, True])
def test_groups_are_drawn_whole(crossed):
    rng = np.random.default_rng(0)
    drawing = np.repeat(np.arange(40), 5)
    effect = rng.normal(0, 2, 40)
    offset = 0 if crossed else 100
    data = effect[drawing] + rng.normal(1, 1, 200), np.ones(200), effect[drawing] + rng.normal(0, 1, 200), np.ones(200)
    grouped = openworld_auc(*data, base_groups=drawing, new_groups=drawing + offset)
    plain = openworld_auc(*data)
    assert (len(_units(grouped.samples.design)[1]) == 1) == crossed
    found = bootstrap(grouped, replicates=1500).standard_error
    assert found == pytest.approx(grouped.standard_error, rel=0.1)
    assert abs(found / plain.standard_error - 1) > 0.2  # wider apart, sharper where both sides share the drawing


def test_averages_share_their_draws():
    result = middling()
    two, three = (bootstrap(average([result] * count), replicates=50) for count in (2, 3))
    assert two.values == pytest.approx(three.values, abs=1e-15)
    several = average([middling(seed) for seed in range(3)])
    assert bootstrap(several, replicates=1500).standard_error == pytest.approx(several.standard_error, rel=0.1)


def test_threads_and_seed():
    result = middling(n_base=3000, n_new=2000)
    one, four = (bootstrap(result, replicates=60, threads=threads) for threads in (1, 4))
    assert one.values.tolist() == four.values.tolist()
    assert bootstrap(result, replicates=60, seed=1).values.tolist() != one.values.tolist()
    assert bootstrap(result, replicates=30).values.tolist()[:25] == one.values.tolist()[:25]


def test_honest_at_the_edges():
    for data in (([3, 2], [1, 1], [1, 0], [1, 1]), ([3, 2], [0, 0], [1, 0], [1, 1])):  # values 1 and 0
        found = bootstrap(openworld_auc(*data), replicates=20)
        assert found.standard_error is None and found.interval() is None and "no evidence" in found.reason
    assert "no new sample" in bootstrap(openworld_auc([1], [1], [], [])).reason
    assert "fewer than 2" in bootstrap(openworld_auc([3, 1, 0], [1, 1, 1], [2], [1])).reason


def test_a_draw_without_one_side_is_counted_as_undefined():
    result = openworld_auc([3, 0], [1, 1], [2, 1], [1, 1], base_groups=[0, 1], new_groups=[1, 2])
    found = bootstrap(result, replicates=400)
    assert 0 < found.undefined < 400 and found.values.size == 400 - found.undefined
