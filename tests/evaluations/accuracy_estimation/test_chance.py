"""Drawing shifts and trainings anew: a brute-force twin, what is held fixed, and the tests."""

import numpy as np
import pytest

from openworld.evaluations.accuracy_estimation.chance import REPLICATES, Chance, mean_of_rows
from openworld.metrics import holm


@pytest.fixture(scope="module")
def chance(estimates):
    return Chance(estimates)


def test_replicates_are_means_over_what_was_drawn(chance, estimates):
    values = np.abs(estimates.off[0])
    found = chance.replicates(values, "Emoji, synthetic")
    chosen = estimates.of_row("Emoji, synthetic")
    for draw in range(5):
        counts = np.outer(chance._models[draw], chance._conditions[draw])[:, chosen]
        twin = np.repeat(values[:, chosen].ravel(), counts.ravel().astype(int)).mean()
        assert found[draw] == pytest.approx(twin)
    assert len(found) == REPLICATES


def test_shifts_and_trainings_are_drawn_whole(chance, estimates):
    for draw in range(20):
        for group in ("fog", "snow"):
            same = [place for place, one in enumerate(estimates.conditions) if one.corruption == group]
            assert len(set(chance._conditions[draw, same])) == 1
        for model in estimates.models:
            same = [place for place, one in enumerate(estimates.models) if one.training == model.training]
            assert len(set(chance._models[draw, same])) == 1
    assert chance.shifts() == 7 and chance.shifts("Emoji, natural") == 3 and chance.trainings == 4
    assert chance.freedom() == 3 and chance.freedom("Emoji, natural") == 2


def test_the_interval_holds_the_mean_and_is_the_same_again(chance, estimates):
    values = np.abs(estimates.off[0])
    low, high = chance.interval(values)
    assert low < mean_of_rows(estimates, values) < high
    assert chance.interval(values) == Chance(estimates).interval(values)


def test_it_widens_with_fewer_shifts(handmade):
    def width(count):
        errors = np.random.default_rng(3).uniform(0.1, 0.5, count)
        run = handmade({f"style {place}": ("one", 0.9, {"AC": error}) for place, error in enumerate(errors)})
        low, high = Chance(run).interval(np.abs(run.off[0]))
        return high - low

    assert width(80) < 0.5 * width(6)


def test_nothing_to_draw_is_no_interval_and_no_test(smallest, handmade):
    assert Chance(smallest).interval(np.abs(smallest.off[0])) is None
    run = handmade({"a": ("one", 0.8, {"AC": 0.1, "COT": 0.3})})
    test = Chance(run).compare("COT", "AC")
    assert test.p is None and test.difference == pytest.approx(0.0) and "nothing to draw" in test.reason


def test_one_training_is_held_fixed(estimates_of):
    run = estimates_of(models=("convnet",), seeds=(0,))
    chance = Chance(run)
    assert (chance._models == 1).all() and chance.freedom() == 5
    assert chance.interval(np.abs(run.off[0])) is not None


def test_a_method_that_errs_less_is_shown_to(chance):
    test = chance.compare("FRAP", "AC")
    assert test.better and test.difference > 0.1
    other = chance.compare("AC", "FRAP")
    assert other.worse and other.p == pytest.approx(test.p)


def test_all_tests_against_one_are_corrected_together(chance, estimates):
    tests = chance.against("AC")
    assert list(tests) == [label for label in estimates.labels if label != "AC"]
    raw = [chance.compare(label, "AC").p for label in tests]
    assert [test.p for test in tests.values()] == pytest.approx(holm(raw))


def test_the_same_numbers_are_no_evidence(estimates_of):
    twice = {"AC": ("AC", None, {}, 0.5, 0.0), "DoC": ("DoC", None, {}, 0.5, 0.0)}
    test = Chance(estimates_of(methods=twice)).compare("DoC", "AC")
    assert test.p is None and "zero variance" in test.reason


def test_missing_estimates_are_left_out_of_pairs(chance, estimates):
    place = estimates.labels.index("ALine-S")
    known = np.isfinite(estimates.off[place])
    assert not known.all()
    spared = np.abs(estimates.off[0]) - np.abs(estimates.off[place])
    assert chance.compare("ALine-S", "AC").difference == pytest.approx(mean_of_rows(estimates, spared))
