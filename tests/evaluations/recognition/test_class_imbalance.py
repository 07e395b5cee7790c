"""Other mixes of base and new images: by hand, against plain loops, and what they must have in common."""

import numpy as np
import pytest

from openworld.evaluations.recognition.class_imbalance import ALL_RATIOS, MIXED, SHRUNK, VARIANCES, mix_rows
from openworld.evaluations.recognition_metrics import image_table
from openworld.features import Features
from openworld.learners import Answer
from openworld.metrics.thinning import thin
from openworld.results import Results

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
    rows = mix_rows(table, "GMoP", factor=factor, ratios=ratios, resamples=resamples, seed=seed)
    return Results("recognition", tuple(rows))


def at(results, name="openworld_auc", **where):
    return results.value("GMoP", name, **where)


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
    found = mixes(table, factor=2, resamples=40, seed=0)
    area, overall = (at(found, name, mix="forward") for name in ("openworld_auc", "overall_accuracy"))
    wins = round(40 * area.value)
    assert area.value == wins / 40 and 0 < wins < 40
    assert area.deviation == pytest.approx(np.std([1] * wins + [0] * (40 - wins), ddof=1))
    assert overall.value == pytest.approx(0.5 + area.value / 2)  # right with it, wrong without
    backward = at(found, mix="backward")  # a class keeps one image at least
    assert (backward.value, backward.deviation) == (0.5, 0)


def test_every_draw_is_the_plain_number_of_the_images_drawn():
    table, first_new, values = made_up((15, 11, 9, 8), base_count=2), 26, []
    for resample in range(3):
        drawn = thin(table["label"][first_new:], 3, np.random.default_rng([7, resample]))
        values.append(brute_force(table, [*range(first_new), *(first_new + drawn)])[0])
    found = at(mixes(table, factor=3, resamples=3, seed=7), mix="forward")
    assert (found.value, found.deviation) == pytest.approx((np.mean(values), np.std(values, ddof=1)))


def test_ratios_multiply_the_natural_share():
    """400 base and 200 new images."""
    shares = {row.where["ratio"]: row.where["new_share"] for row in mixes(made_up()) if "ratio" in row.where}
    counts = [(40, 200), (200, 200), (400, 200), (400, 100), (400, 20)]
    assert [shares[ratio] for ratio in RATIOS] == pytest.approx([new / (base + new) for base, new in counts])


def test_variation_is_that_of_one_draw_averaged_over_draws():
    table = made_up((40, 40, 40))
    one, other = (mixes(table, resamples=1, seed=seed) for seed in (1, 2))
    for name in MIXED:
        values = [at(one, name, ratio=ratio).value for ratio in RATIOS]
        assert at(one, name, mix=ALL_RATIOS).value == pytest.approx(np.mean(values))
        assert at(one, VARIANCES[name].key, mix=ALL_RATIOS).value == pytest.approx(np.var(values, ddof=1))
    assert one.rows != other.rows
    many = mixes(table, resamples=30)
    smooth = np.var([at(many, ratio=ratio).value for ratio in RATIOS], ddof=1)
    noisy = at(many, VARIANCES["openworld_auc"].key, mix=ALL_RATIOS).value
    assert smooth < noisy  # averaging first would hide a draw's noise


def test_without_new_images_numbers_are_none():
    found = mixes(made_up((20, 20), base_count=2))
    for mix in (*SHRUNK, ALL_RATIOS):
        assert at(found, mix=mix).value is None and at(found, mix=mix).reason
    assert at(found, "base_accuracy", mix=ALL_RATIOS).value is not None


def test_no_ratio_no_sweep():
    assert mixes(made_up(), ratios=()).places("mix") == tuple(SHRUNK)
    assert "two ratios" in at(mixes(made_up(), ratios=(1.0,)), "auroc_variance", mix=ALL_RATIOS).reason
    assert at(mixes(made_up(), ratios=(1.0, 2.0)), "auroc_variance", mix=ALL_RATIOS).value is not None
