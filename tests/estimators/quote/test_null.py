"""What estimators say of sets like the source: bias and spread against draws of the same law, and what is refused."""

import numpy as np
import pytest
from simulated import outputs, refused

from openworld.estimators import AC, COTT, GDE, ATCMaxConfidence, DoC, Outputs, measure_null

ASKED = {"COTT": COTT(), "ATC-MC": ATCMaxConfidence(), "DoC": DoC()}
CLASSES = 20


def test_bias_is_that_of_fresh_sets_of_the_same_law():
    source = outputs(0, 400, CLASSES, 2.5)
    off = {name: [] for name in ASKED}
    for seed in range(1, 21):
        known, target = outputs(seed, 400, CLASSES, 2.5), outputs(100 + seed, 100, CLASSES, 2.5)
        for name, one in ASKED.items():
            off[name].append(one.fit(known).estimate(target, interval=False).accuracy - 1 + target.mistakes / target.n)
    found = measure_null(ASKED, source, 100)
    assert np.mean(off["COTT"]) < -0.04  # few images a class: far too low, and known
    for name in ASKED:
        assert found[name].bias == pytest.approx(np.mean(off[name]), abs=0.025)
        assert found[name].spread == pytest.approx(np.std(off[name], ddof=1), rel=0.4)


def test_draws_are_shared_and_repeat_whatever_the_others_number_of_sources():
    source = outputs(0, 200, 4, 2.0)
    several = {"COTT": 3, "ATC-MC": 3, "DoC": 5}
    first, again, other = (measure_null(ASKED, source, 50, sources=several, seed=seed) for seed in (3, 3, 4))
    assert (first["ATC-MC"].accuracies == first["COTT"].accuracies).all()
    assert (first["DoC"].estimates != other["DoC"].estimates).any() and len(first["DoC"].estimates) == 5
    for name, found in first.items():
        alone = measure_null({name: ASKED[name]}, source, 50, sources=several[name], seed=3)[name]
        for same in (again[name], alone):
            np.testing.assert_array_equal(found.estimates, same.estimates)
            np.testing.assert_array_equal(found.accuracies, same.accuracies)
    found = first["DoC"]
    assert (found.range, found.off.tolist()) == (
        tuple(np.quantile(found.estimates, [0.025, 0.975])),
        (found.estimates - found.accuracies).tolist(),
    )
    assert found.mean == found.estimates.mean() and found.bias == found.off.mean()
    refused("needs labels", measure_null, {"GDE": GDE()}, Outputs(source.logits), 20)


def test_large_sets_are_drawn_smaller_and_fewer():
    done = []
    found = measure_null({"AC": AC()}, outputs(0, 300, 4, 2.0), 1_000_000, sources=3, progress=done.append)["AC"]
    assert found.n == 5000 and found.estimates.shape == (3, 4) and done == [1, 2, 3]


@pytest.mark.parametrize(("numbers", "sources"), [(10_000, 8), (24_000, 12), (20_000_000, 25)])
def test_fewer_sources_are_drawn_where_their_logits_take_much_memory_and_eight_at_least(monkeypatch, numbers, sources):
    monkeypatch.setattr("openworld.estimators.quote.null.NUMBERS", numbers)
    found = measure_null({"AC": AC()}, outputs(0, 300, 4, 2.0), 50)["AC"]  # 4 (300 + 4 x 50) = 2000 logits a source
    assert found.estimates.shape == (sources, 4)
