"""Drawing shifts and trainings anew: a brute-force twin, what is held fixed, and the tests."""

import numpy as np
import pytest

from openworld.label_free.benchmark import crossed_bootstrap
from openworld.label_free.benchmark.arrays import AVERAGE, RunArrays
from openworld.label_free.benchmark.crossed_bootstrap import CrossedBootstrap
from openworld.metrics import holm

SYNTHETIC, NATURAL = "Emoji, synthetic", "Emoji, natural"


def drawn_from(run):
    return CrossedBootstrap(RunArrays(run))


def sizes(bootstrap, place=0):
    """Absolute errors of a method."""
    return np.abs(bootstrap.arrays.signed_error[place])


@pytest.fixture(scope="module")
def bootstrap(estimates):
    return drawn_from(estimates)


def test_replicates_are_means_over_what_was_drawn(bootstrap, arrays):
    values = sizes(bootstrap)
    found = bootstrap.replicates(values, SYNTHETIC)
    chosen = arrays.chosen(row=SYNTHETIC)
    for draw in range(5):
        counts = np.outer(bootstrap._models[draw], bootstrap._conditions[draw])[:, chosen]
        twin = np.repeat(values[:, chosen].ravel(), counts.ravel().astype(int)).mean()
        assert found[draw] == pytest.approx(twin)
    assert len(found) == crossed_bootstrap.REPLICATES


def test_shifts_and_trainings_are_drawn_whole(bootstrap, arrays):
    for draw in range(20):
        for group in ("fog", "snow"):
            same = [place for place, condition in enumerate(arrays.conditions) if condition.corruption == group]
            assert len(set(bootstrap._conditions[draw, same])) == 1
        for model in arrays.models:
            same = [place for place, other in enumerate(arrays.models) if other.training == model.training]
            assert len(set(bootstrap._models[draw, same])) == 1
    assert bootstrap.shifts(AVERAGE) == 7 and bootstrap.shifts(NATURAL) == 3 and bootstrap.trainings == 4
    assert bootstrap.degrees_of_freedom(AVERAGE) == 3 and bootstrap.degrees_of_freedom(NATURAL) == 2


def test_it_widens_with_fewer_shifts(handmade):
    def width(count):
        errors = np.random.default_rng(3).uniform(0.1, 0.5, count).tolist()
        bootstrap = drawn_from(
            handmade({f"style {at}": ("one", 0.9, {"AC": error}) for at, error in enumerate(errors)})
        )
        (interval,) = bootstrap.intervals(sizes(bootstrap), "one")
        return interval.width

    assert width(80) < 0.5 * width(6)


def test_nothing_to_draw_is_no_interval_and_no_test(smallest, handmade):
    alone = drawn_from(smallest)
    assert alone.intervals(sizes(alone), NATURAL) == ()
    test = drawn_from(handmade({"a": ("one", 0.8, {"AC": 0.1, "COT": 0.3})})).compare("COT", "AC", "one")
    assert test.p is None and test.difference == pytest.approx(0.0) and "nothing to draw" in test.reason


def test_one_training_is_held_fixed(make_estimates):
    bootstrap = drawn_from(make_estimates(models=("convnet",), seeds=(0,)))
    assert (bootstrap._models == 1).all() and bootstrap.degrees_of_freedom(AVERAGE) == 5
    assert bootstrap.intervals(sizes(bootstrap), AVERAGE)


def test_a_method_that_errs_less_is_shown_to(bootstrap):
    (interval,) = bootstrap.intervals(sizes(bootstrap), AVERAGE)
    assert interval.low < bootstrap.mean(sizes(bootstrap), AVERAGE) < interval.high and interval.n == 7 * 4
    test = bootstrap.compare("FRAP", "AC", AVERAGE)
    assert test.better and test.difference < -0.1
    other = bootstrap.compare("AC", "FRAP", AVERAGE)
    assert other.worse and other.p == pytest.approx(test.p)


def test_all_tests_against_one_method_are_corrected_together(bootstrap, arrays):
    tests = bootstrap.compare_all("AC", AVERAGE)
    assert [test.entity for test in tests] == [label for label in arrays.labels if label != "AC"]
    raw = [bootstrap.compare(test.entity, "AC", AVERAGE).p for test in tests]
    assert [test.p for test in tests] == pytest.approx(holm(raw))


def test_the_same_numbers_are_no_evidence(make_estimates):
    twice = {"AC": ("AC", None, {}, 0.5, 0.0), "DoC": ("DoC", None, {}, 0.5, 0.0)}
    test = drawn_from(make_estimates(methods=twice)).compare("DoC", "AC", AVERAGE)
    assert test.p is None and "zero variance" in test.reason
