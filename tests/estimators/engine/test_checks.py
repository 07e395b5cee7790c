"""What the labelled source shows: of confidence, against scikit-learn; of a reference, by hand and class by class."""

import numpy as np
import pytest
from simulated import outputs, refused
from sklearn.metrics import roc_auc_score

from openworld.estimators import Outputs, check_reference
from openworld.estimators.engine import checks
from openworld.estimators.engine.checks import check_confidence
from openworld.estimators.engine.temperature import confidences, source_temperature


def scores(labels, strength, seed, classes=10):
    return strength * np.eye(classes)[labels] + np.random.default_rng(seed).normal(size=(len(labels), classes))


LABELS = np.random.default_rng(0).integers(0, 10, 1500)
LOGITS = scores(LABELS, 3.0, 1)


def source(reference):
    return Outputs(LOGITS, LABELS, reference=reference)


def test_another_model_passes_and_an_ignorant_one_does_not():
    found = check_reference(source(scores(LABELS, 2.5, 2)))
    assert found.informed and found.independent and found.warnings == () and found.known.all()
    assert found.repeated < 0.05 and 0.7 < found.accuracy < found.model_accuracy
    found = check_reference(source(scores(LABELS, 0.0, 2)))
    assert not found.informed and "knows too little" in found.warnings[0]
    refused("needs reference", check_reference, Outputs(LOGITS, LABELS))


@pytest.mark.parametrize("noise", [0.0, 0.5, 1.5])
def test_a_copy_does_not_pass_nor_a_tuned_sibling_or_a_noisy_copy(noise):
    found = check_reference(source(LOGITS + noise * scores(LABELS, 0.0, 3)))
    assert not found.independent and "may not err independently" in found.warnings[0]


def test_misnamed_classes_are_left_out():
    names = np.array([1, 2, 0, 3, 4, 5, 6, 7, 8, 9])
    found = check_reference(source(scores(LABELS, 6.0, 6)[:, names]))
    assert found.known.tolist() == [False] * 3 + [True] * 7
    assert found.accuracy < 0.75 and found.known_accuracy > 0.95 and found.informed and found.independent


@pytest.mark.parametrize("classes", [2, 10])
def test_one_that_gives_all_images_one_name_does_not(classes):
    labels = np.random.default_rng(7).integers(0, classes, 500) * (np.arange(500) % 10 < 3)  # 0 is the most frequent
    constant = np.zeros((500, classes))
    constant[:, 0] = 1
    found = check_reference(Outputs(scores(labels, 3.0, 8, classes), labels, reference=constant))
    assert found.accuracy > 0.7 and abs(found.beyond_chance) < 1e-9 and not found.informed


def test_chance_explains_that_two_classes_have_one_wrong_name():
    labels = LABELS % 2
    found = check_reference(Outputs(scores(labels, 1.0, 4, 2), labels, reference=scores(labels, 1.0, 5, 2)))
    assert found.independent and found.repeated < 0.1  # as it is, both are wrong alike in a quarter of the cases


def test_a_reference_without_a_mistake_repeats_none():
    assert check_reference(source(np.eye(10)[LABELS])).repeated == 0.0
    nothing = check_reference(Outputs(np.eye(3), [0, 1, 2], reference=np.eye(3)[::-1]))
    assert nothing.known.tolist() == [False, True, False] and nothing.repeated is None and not nothing.independent
    none = check_reference(Outputs(np.eye(2), [0, 1], reference=np.eye(2)[::-1]))
    assert not none.known.any() and none.reasons == (
        "knows too little of these classes",
        "may repeat the model's mistakes",
        "agrees wherever both are wrong, of two classes",
    )


def test_every_figure_by_hand(monkeypatch):
    monkeypatch.setattr(checks, "SHARE", 0.0)  # each mistake is held against ten right answers
    labels, model = np.repeat([0, 1, 2], 20), np.zeros((60, 3))
    model[np.arange(60), labels], model[np.arange(60), (labels + 1) % 3] = 2.0, 1.0
    wrong = [0, 1, 2, 3, 20, 21, 22, 40, 41, 42]
    model[wrong, labels[wrong]], model[wrong, (labels[wrong] + 1) % 3] = 1.0, 2.0
    reference = labels.copy()
    reference[[0, 1, 20, 40]] = [1, 1, 2, 0]  # four of ten mistakes are named like the model
    reference[[10, 11, 12, 13, 14]] = [1, 1, 1, 1, 1]  # of 50 right answers five have the model's second class
    found = check_reference(Outputs(model, labels, reference=np.eye(3)[reference]))
    assert found.accuracy == found.known_accuracy == 51 / 60 and found.model_accuracy == 50 / 60
    counts = np.bincount(reference, minlength=3)
    chance = (counts * 20).sum() / 60**2
    assert found.beyond_chance == pytest.approx((51 / 60 - chance) / (1 - chance))
    near = np.flatnonzero(~np.isin(np.arange(60), wrong))[:10]  # all lead by 1: those that come first
    second, first = (reference[near] == (labels[near] + 1) % 3).mean(), (reference[near] == labels[near]).mean()
    assert second > 0 and found.repeated == pytest.approx((0.4 - second) / (first - second))


def test_of_few_mistakes_of_the_model_those_of_the_reference_are_asked():
    labels = np.arange(300) % 5
    reference = scores(labels, 1.0, 4, 5)
    model = np.where((np.arange(300) < 9)[:, None], reference, 4 * np.eye(5)[labels])
    found = check_reference(Outputs(model, labels, reference=reference))
    assert (model.argmax(axis=1) != labels).sum() < 10 and found.repeated is not None and found.repeated < 0.3
    few = check_reference(Outputs(LOGITS[:40], LABELS[:40], reference=scores(LABELS, 4.0, 2)[:40]))
    assert few.repeated is None and not few.independent and "fewer than 10 mistakes" in few.warnings[0]


def test_figures_are_scikit_learns_and_the_definitions():
    source = outputs(0, 400, 5, 1.5)
    found, temperature = check_confidence(source), source_temperature(source.logits, source.labels).value
    sure, right = confidences(source.logits, temperature), ~source.wrong
    assert found.area == pytest.approx(roc_auc_score(right, sure)) and found.mistakes == source.mistakes
    assert found.slope == pytest.approx(sure[right].mean() - sure[~right].mean())
    assert found.gap == pytest.approx(abs(sure.mean() - right.mean())) and found.tells and not found.why


def test_a_confidence_that_does_not_tell():
    source = outputs(0, 400, 5, 1.0)
    rng = np.random.default_rng(1)
    blind = Outputs(8 * np.eye(5)[source.predictions] + rng.random(source.logits.shape), source.labels)
    found = check_confidence(blind)
    assert not found.tells and f"{100 * found.area:.0f} %" in found.why and f"{found.mistakes}" in found.why


def test_one_that_cannot_be_calibrated_and_one_without_mistakes():
    labels = np.arange(400) % 4
    logits = 500.0 * np.eye(4)[labels]
    logits[:100] = 1e5 * np.eye(4)[(labels[:100] + 1) % 4]  # surest of all where it is wrong
    found = check_confidence(Outputs(logits, labels))
    assert found.gap > 0.1 and not found.tells and "calibrated" in found.why
    found = check_confidence(Outputs(4 * np.eye(3), [0, 1, 2]))
    assert found.area is None and found.slope is None and found.mistakes == 0 and found.gap < 0.1 and found.tells
    refused("needs labels", check_confidence, Outputs(np.eye(3)))
