"""What estimators say of sets like the source: bias and spread against draws of the same law, and what is refused."""

import numpy as np
import pytest
from simulated import outputs

from openworld.core.errors import OpenworldError
from openworld.estimators import AC, COTT, GDE, ATCMaxConfidence, DoC, Outputs, measure_null

ASKED = {"COTT": COTT(), "ATC-MC": ATCMaxConfidence(), "DoC": DoC()}
CLASSES = 20


def test_bias_is_that_of_fresh_sets_of_the_same_law():
    source = outputs(0, 400, CLASSES, 2.5)
    off = {name: [] for name in ASKED}
    for seed in range(1, 31):
        known, target = outputs(seed, 400, CLASSES, 2.5), outputs(100 + seed, 100, CLASSES, 2.5)
        for name, one in ASKED.items():
            off[name].append(one.fit(known).estimate(target, interval=False).accuracy - 1 + target.mistakes / target.n)
    found = measure_null(ASKED, source, 100)
    assert np.mean(off["COTT"]) < -0.04  # few images a class: far too low, and known
    for name in ASKED:
        assert found[name].bias == pytest.approx(np.mean(off[name]), abs=0.025)
        assert found[name].spread == pytest.approx(np.std(off[name], ddof=1), rel=0.4)


def test_the_range_holds_what_is_said_of_sets_like_the_source():
    found = measure_null(ASKED, outputs(0, 300, 4, 2.0), 200)["DoC"]
    assert found.range[0] <= found.mean <= found.range[1]
    inside = (found.estimates >= found.range[0]) & (found.estimates <= found.range[1])
    assert 0.9 <= inside.mean() <= 1 and found.off.shape == found.accuracies.shape


def test_draws_are_shared_and_repeat():
    source = outputs(0, 200, 4, 2.0)
    first, again = (measure_null(ASKED, source, 50, seed=3) for _ in range(2))
    assert (first["DoC"].accuracies == first["COTT"].accuracies).all()
    assert (first["COTT"].estimates == again["COTT"].estimates).all()
    alone = measure_null({"COTT": COTT()}, source, 50, seed=3)["COTT"]
    assert (alone.estimates == first["COTT"].estimates).all()
    assert (measure_null(ASKED, source, 50, seed=4)["DoC"].estimates != first["DoC"].estimates).any()


def test_large_sets_are_drawn_smaller_and_fewer():
    done = []
    found = measure_null({"AC": AC()}, outputs(0, 300, 4, 2.0), 1_000_000, sources=3, progress=done.append)["AC"]
    assert found.n == 5000 and found.estimates.shape == (3, 4) and done == [1, 2, 3]


@pytest.mark.parametrize(("numbers", "sources"), [(10_000, 8), (24_000, 12), (20_000_000, 25)])
def test_fewer_sources_are_drawn_where_their_logits_take_much_memory_and_eight_at_least(monkeypatch, numbers, sources):
    monkeypatch.setattr("openworld.estimators.quote.null.NUMBERS", numbers)
    found = measure_null({"AC": AC()}, outputs(0, 300, 4, 2.0), 50)["AC"]  # 4 (300 + 4 x 50) = 2000 logits a source
    assert found.estimates.shape == (sources, 4)


def test_what_can_tell_nothing_is_left_out():
    source = outputs(0, 50, 4, 2.0, partners=1)
    assert set(measure_null({"AC": AC(), "GDE": GDE()}, source, 20)) == {"AC", "GDE"}
    with pytest.raises(OpenworldError, match="needs labels"):
        measure_null({"GDE": GDE()}, Outputs(source.logits), 20)
    with pytest.raises(OpenworldError, match="n"):
        measure_null({"AC": AC()}, source, 0)


def test_estimators_may_have_numbers_of_sources_of_their_own_and_share_the_first():
    source = outputs(0, 300, 4, 2.0)
    found = measure_null(ASKED, source, 60, sources=dict.fromkeys(ASKED, 3) | {"DoC": 5})
    for name, null in found.items():
        alone = measure_null({name: ASKED[name]}, source, 60, sources=5 if name == "DoC" else 3)[name]
        np.testing.assert_array_equal(null.estimates, alone.estimates)
        np.testing.assert_array_equal(null.accuracies, alone.accuracies)
    with pytest.raises(OpenworldError, match="DoC"):
        measure_null(ASKED, source, 60, sources=dict.fromkeys(ASKED, 3) | {"DoC": 1})
