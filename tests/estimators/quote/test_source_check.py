"""What scores tell of a source that will not do: images on both sides, repeats, hardly a mistake."""

import numpy as np
import pytest
from simulated import outputs, refused

from openworld.estimators import Outputs, check_source


def rows(seed, n, classes=12):
    generator = np.random.default_rng(seed)
    labels = generator.integers(0, classes, n)
    return Outputs(2 * np.eye(classes)[labels] + generator.normal(size=(n, classes)), labels)


def test_a_fair_source_and_other_images():
    found = check_source(rows(0, 300), rows(1, 400))
    assert (found.n, found.n_target, found.shared, found.repeated) == (300, 400, 0, 0) and found.warnings == ()
    assert found.mistakes == rows(0, 300).mistakes
    assert check_source(rows(0, 300)).n_target == 0
    two = check_source(rows(0, 300), Outputs(np.concatenate([rows(1, 400).logits, rows(0, 300).logits[:2]])))
    assert two.shared == 2 and two.warnings == ()  # not worth a word
    repeats = check_source(rows(0, 300).take(np.r_[:300, :20, :20]))
    assert repeats.repeated == 60 and "60 of 340 source images" in repeats.warnings[0]
    refused("needs labels", check_source, Outputs(np.eye(3)))
    refused("the target has 5 classes and the source 12", check_source, rows(0, 30), rows(0, 30, 5))


@pytest.mark.parametrize("change", ["a constant", "noise of another batch", "float32"])
def test_the_same_images_on_both_sides_are_counted(change):
    source, other = rows(0, 300), rows(1, 200)
    again = source.logits[50:100]
    again = {
        "a constant": again + 7.0,
        "noise of another batch": again + 1e-6 * np.random.default_rng(2).normal(size=again.shape),
        "float32": again.astype(np.float32),
    }[change]
    order = np.random.default_rng(3).permutation(250)
    found = check_source(source, Outputs(np.concatenate([other.logits, again])[order]))
    assert found.shared == 50 and found.repeated == 0
    assert "50 of 250 target images" in found.warnings[0] and "other images than the source" in found.warnings[0]


def test_brute_force_finds_the_same():
    generator = np.random.default_rng(4)
    source, target = (rows(0, 60).take(generator.integers(0, 60, n)) for n in (40, 50))
    equal = (target.logits[:, None] == source.logits).all(axis=2)
    own = (source.logits[:, None] == source.logits).all(axis=2).sum(axis=1) > 1
    found = check_source(source, target)
    assert (found.shared, found.repeated) == (equal.any(axis=1).sum(), own.sum())


COARSE = {
    "two classes": lambda logits: logits[:, :2],
    "three classes": lambda logits: logits[:, :3],
    "a forest's votes": lambda logits: np.log((np.exp(logits) / np.exp(logits).sum(1, keepdims=True)).round(1) + 1e-3),
    "rounded to a digit, few classes": lambda logits: logits[:, :5].round(1),
    "all the same": np.zeros_like,
}


@pytest.mark.parametrize("kind", COARSE)
def test_scores_that_are_equal_by_chance_are_no_images(kind):
    one, other = rows(0, 800), rows(1, 800)
    labels = one.labels % COARSE[kind](one.logits).shape[1]
    found = check_source(Outputs(COARSE[kind](one.logits), labels), Outputs(COARSE[kind](other.logits)))
    assert found.shared == found.repeated == 0


def test_hardly_a_mistake_looks_like_training_images():
    labels = np.arange(500) % 4
    right = Outputs(6 * np.eye(4)[labels] + np.random.default_rng(0).random((500, 4)), labels)
    assert check_source(right).learned and "has not been trained on" in check_source(right).warnings[0]
    assert not check_source(right.take(slice(0, 300))).learned  # so few may be right by chance
    assert not check_source(outputs(0, 400, 4, 2.0)).learned
    wrong = np.r_[:25]
    many = Outputs(np.tile(right.logits, (10, 1)), np.tile(labels, 10))
    still = Outputs(many.logits, np.where(np.isin(np.arange(5000), wrong), (many.labels + 1) % 4, many.labels))
    assert check_source(many).learned and not check_source(still).learned  # 25 mistakes are enough to learn from


def test_logits_that_are_probabilities():
    source, target = rows(0, 300), rows(1, 400)
    softmax = np.exp(target.logits) / np.exp(target.logits).sum(axis=1, keepdims=True)
    assert check_source(source, target).softmax == 0
    mixed = np.concatenate([softmax[:100], target.logits[100:]])
    for logits, share in ((softmax, 1), (mixed, 0.25)):
        found = check_source(source, Outputs(logits))
        assert found.softmax == share and f"{100 * share:.0f} % of the rows of logits" in found.warnings[0]
    assert check_source(Outputs(softmax, target.labels)).softmax == 1
