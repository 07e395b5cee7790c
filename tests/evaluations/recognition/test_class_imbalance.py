"""Other mixes of base and new images: by hand, against plain loops, and what they must have in common."""

import numpy as np
import pytest

from openworld.evaluations.recognition import class_imbalance as module
from openworld.evaluations.recognition.class_imbalance import imbalance, other_mixes
from openworld.evaluations.recognition.record import MIXED, MixNumbers, Variation
from openworld.evaluations.recognition_metrics import image_table, recognition_metrics
from openworld.features import Features
from openworld.learners import Answer
from openworld.metrics.thinning import thin

RATIOS = (10.0, 2.0, 1.0, 0.5, 0.1)


def made_up(counts=(200, 200, 200), base_count=2, seed=0):
    """A table of images whose classes have these counts."""
    generator = np.random.default_rng(seed)
    labels = np.repeat(np.arange(len(counts)), counts)
    logits = generator.standard_normal((labels.size, len(counts))) + 1.5 * np.eye(len(counts))[labels]
    answer = Answer(logits, generator.standard_normal(labels.size) + (labels < base_count))
    rows = np.arange(labels.size)
    names = tuple(map(str, range(len(counts))))
    return image_table(answer, Features(np.zeros((labels.size, 1)), labels, rows, rows, names, ""), base_count)


def mixes(table, factor=5.0, ratios=RATIOS, resamples=4, seed=1):
    return other_mixes(table, factor=factor, ratios=ratios, resamples=resamples, seed=seed)


def brute_force(table, rows):
    """OpenworldAUC and overall accuracy of some rows, pair by pair."""
    part = {name: np.asarray(column)[rows] for name, column in table.items()}
    base, new = part["side"] == "base", part["side"] == "new"
    pairs = [
        part["correct"][i] * part["correct"][j] * (part["score"][i] > part["score"][j])
        for i in np.flatnonzero(base)
        for j in np.flatnonzero(new)
    ]
    return np.mean(pairs), np.mean(part["joint_prediction"] == part["label"])


def test_one_half_is_shrunk_class_by_class_and_the_other_stays():
    found = imbalance(made_up((20, 7, 13, 4), base_count=2), factor=5, resamples=3, seed=1)
    assert (found["forward"].n_base, found["forward"].n_new) == (27, 2 + 1)
    assert (found["backward"].n_base, found["backward"].n_new) == (4 + 1, 17)


def test_by_hand():
    """One class each; of the two new images, one is ranked below the base image and one above, all named right."""
    table = {
        "side": np.array(["base", "new", "new"]),
        "label": np.array([0, 1, 1]),
        "joint_prediction": np.array([0, 1, 0]),
        "correct": np.ones(3, bool),
        "score": np.array([2.0, 1.0, 3.0]),
        "group": np.arange(3),
    }
    found = imbalance(table, factor=2, resamples=40, seed=0)["forward"]
    assert (found.factor, found.resamples, found.n_base, found.n_new) == (2, 40, 1, 1)
    assert set(found.values) == {0.0, 1.0} and found.openworld_auc == np.mean(found.values)
    assert found.expected.value == 0.5  # both draws are as likely
    assert found.overall_accuracy == pytest.approx(0.5 + found.openworld_auc / 2)  # right with it, wrong without
    assert found.standard_deviation == pytest.approx(np.std(found.values, ddof=1))
    half = 2.0227 * found.standard_deviation / np.sqrt(40)  # Student's t, 39 degrees of freedom
    assert found.interval == pytest.approx((found.openworld_auc - half, found.openworld_auc + half), abs=1e-4)
    backward = imbalance(table, factor=2, resamples=3, seed=0)["backward"]  # a class keeps one image at least
    assert backward.values == (0.5,) * 3 and backward.standard_deviation == 0 and backward.interval is None


def test_every_draw_is_the_plain_number_of_the_images_drawn():
    table = made_up((15, 11, 9, 8), base_count=2)
    found = imbalance(table, factor=3, resamples=3, seed=7)["forward"]
    first_new = 26
    for resample, value in enumerate(found.values):
        drawn = thin(table["label"][first_new:], 3, np.random.default_rng([7, resample]))
        assert value == pytest.approx(brute_force(table, [*range(first_new), *(first_new + drawn)])[0])


def test_factor_one_is_the_natural_mix():
    table = made_up()
    natural = recognition_metrics(table)
    for one in imbalance(table, factor=1, resamples=3).values():
        assert one.openworld_auc == natural["openworld_auc"]["value"]
        assert one.expected.value == pytest.approx(one.openworld_auc, abs=1e-12)
        assert {name: getattr(one, name) for name in MIXED[:-1]} == {name: natural[name] for name in MIXED[:-1]}
        assert one.standard_deviation == 0 and (one.n_base, one.n_new) == (400, 200)


def test_the_mean_over_many_draws_is_the_expected_number():
    found = imbalance(made_up((30, 12, 25, 9, 40), base_count=2), resamples=400, seed=2)
    for one in found.values():
        error = one.standard_deviation / np.sqrt(400)
        assert abs(one.openworld_auc - one.expected.value) < 4 * error
        low, high = one.expected.interval
        assert low < one.expected.value < high


def test_classes_of_one_size_leave_the_expected_number_as_it_is():
    table = made_up()
    for one in imbalance(table, factor=5, resamples=2).values():
        assert one.expected.value == pytest.approx(recognition_metrics(table)["openworld_auc"]["value"])


def test_ratios_multiply_the_natural_share():
    sweep = {point.ratio: point for point in mixes(made_up())["ratio_sweep"]}
    assert [(sweep[r].n_base, sweep[r].n_new) for r in RATIOS] == [
        (40, 200),
        (200, 200),
        (400, 200),
        (400, 100),
        (400, 20),
    ]


def test_the_sweep_is_nested_within_each_draw(monkeypatch):
    """With scores that name the images, the arguments of every number tell which images it is of."""
    seen = []
    monkeypatch.setattr(module, "_numbers", lambda *sides: seen.append([set(one["score"]) for one in sides]) or {})
    base, new = ({"score": np.arange(100.0), "label": np.zeros(100, int)} for _ in range(2))
    module._sweep(base, new, RATIOS, np.random.default_rng(0))
    of_base, of_new = zip(*seen, strict=True)
    assert of_base[0] < of_base[1] < of_base[2] and [len(one) for one in of_base] == [10, 50, 100, 100, 100]
    assert of_new[4] < of_new[3] < of_new[2] and [len(one) for one in of_new] == [100, 100, 100, 50, 10]


def test_overall_accuracy_moves_with_the_mix_and_openworld_auc_does_not():
    table = made_up((2000, 2000, 2000))
    found = mixes(table, ratios=(10.0, 1.0, 0.1))
    values = [point.openworld_auc for point in found["ratio_sweep"]]
    assert max(values) - min(values) < 0.05
    natural = found["ratio_sweep"][1]
    assert natural.openworld_auc == recognition_metrics(table)["openworld_auc"]["value"]
    assert natural.spread == MixNumbers(*[0.0] * 6) and natural.resamples == 4


def test_variation_is_that_of_one_draw_averaged_over_draws():
    table, seeds = made_up((40, 40, 40)), (1, 2)
    one, other = (mixes(table, resamples=1, seed=seed)["ratio_variation"] for seed in seeds)
    sweep = mixes(table, resamples=1, seed=1)["ratio_sweep"]
    for name in MIXED:
        values = [getattr(point, name) for point in sweep]
        assert one[name].mean == pytest.approx(np.mean(values))
        assert one[name].variance == pytest.approx(np.var(values, ddof=1))
    assert one != other
    many = mixes(table, resamples=30)
    smooth = np.var([point.openworld_auc for point in many["ratio_sweep"]], ddof=1)
    assert smooth < many["ratio_variation"]["openworld_auc"].variance  # averaging first would hide a draw's noise


def test_draws_do_not_depend_on_the_learner():
    one, other = made_up(seed=0), made_up(seed=1)
    other["correct"], other["score"] = one["correct"], one["score"]
    assert mixes(one)["imbalance"]["forward"].values == mixes(other)["imbalance"]["forward"].values
    assert mixes(one)["imbalance"] != mixes(one, seed=2)["imbalance"]
    assert mixes(one) == mixes(one)


def test_one_draw_has_no_spread():
    found = mixes(made_up(), resamples=1)
    assert found["imbalance"]["forward"].standard_deviation is found["imbalance"]["forward"].interval is None
    assert found["ratio_sweep"][0].spread == MixNumbers()


def test_without_new_images_numbers_are_none():
    table = made_up((20, 20), base_count=2)
    found = mixes(table)
    for one in found["imbalance"].values():
        assert one.openworld_auc is one.standard_deviation is one.interval is one.expected.value is None
        assert "new" in one.expected.reason and one.n_new == 0
    assert found["ratio_variation"]["openworld_auc"] == Variation(None, None)
    assert found["ratio_variation"]["base_accuracy"].mean is not None


def test_no_ratio_no_sweep():
    found = mixes(made_up(), ratios=())
    assert found["ratio_sweep"] == () and found["ratio_variation"]["auroc"] == Variation(None, None)
