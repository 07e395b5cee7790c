"""What a reference must show on the labelled source: knowledge, class by class, and mistakes of its own."""

from dataclasses import replace

import numpy as np
import pytest
from simulated import outputs

from openworld._errors import OpenworldError
from openworld.estimators import FRAP, RAP, Outputs, TwoViews, check_reference


def scores(labels, strength, seed, classes=10):
    return strength * np.eye(classes)[labels] + np.random.default_rng(seed).normal(size=(len(labels), classes))


LABELS = np.random.default_rng(0).integers(0, 10, 1500)
LOGITS = scores(LABELS, 3.0, 1)


def source(reference):
    return Outputs(LOGITS, LABELS, reference=reference)


def test_another_model_passes():
    found = check_reference(source(scores(LABELS, 2.5, 2)))
    assert found.informed and found.independent and found.warnings == () and found.known.all()
    assert found.repeated < 0.05 and 0.7 < found.accuracy < found.model_accuracy


def test_one_that_knows_nothing_does_not():
    found = check_reference(source(scores(LABELS, 0.0, 2)))
    assert not found.informed and "knows too little" in found.warnings[0]


def test_a_copy_and_a_tuned_sibling_do_not():
    for other in (LOGITS, LOGITS + 0.5 * scores(LABELS, 0.0, 3)):
        found = check_reference(source(other))
        assert not found.independent and "may not err independently" in found.warnings[0]


def test_chance_explains_that_two_classes_have_one_wrong_name():
    labels = LABELS % 2
    found = check_reference(Outputs(scores(labels, 1.0, 4, 2), labels, reference=scores(labels, 1.0, 5, 2)))
    assert found.independent and found.repeated < 0.1  # as it is, both are wrong alike in a quarter of the cases


def test_misnamed_classes_are_left_out():
    names = np.array([1, 2, 0, 3, 4, 5, 6, 7, 8, 9])
    found = check_reference(source(scores(LABELS, 6.0, 6)[:, names]))
    assert found.known.tolist() == [False] * 3 + [True] * 7
    assert found.accuracy < 0.75 and found.known_accuracy > 0.95 and found.informed and found.independent


def test_a_reference_without_a_mistake_repeats_none():
    assert check_reference(source(np.eye(10)[LABELS])).repeated == 0.0
    assert check_reference(source(np.eye(10)[LABELS])).independent  # the model's mistakes are not repeated
    nothing = check_reference(Outputs(np.eye(2), [0, 1], reference=np.eye(2)[::-1]))
    assert not nothing.known.any() and not nothing.informed


def test_of_few_mistakes_nothing_is_known():
    few = Outputs(LOGITS[:40], LABELS[:40], reference=scores(LABELS, 2.5, 2)[:40])
    found = check_reference(few)
    assert found.repeated < 0.2 < found.at_most and not found.independent


def test_noise_does_not_hide_a_copy():
    rng = np.random.default_rng(3)
    found = check_reference(source(LOGITS + 1.5 * rng.normal(size=LOGITS.shape)))
    assert found.accuracy < 0.8 and not found.independent


def test_python_is_told_as_the_command_is():
    weak, target = source(scores(LABELS, 0.0, 2)), outputs(1, 60, 10)
    for estimator in (FRAP(), RAP(), TwoViews(), FRAP(reference="pseudo-labels")):
        warnings = estimator.fit(weak).estimate(target, interval=False).warnings
        assert any("knows too little" in one for one in warnings), estimator.name
        good = replace(weak, reference=scores(LABELS, 2.5, 2))
        assert not any("reference names" in one for one in estimator.fit(good).estimate(target).warnings)


def test_labels_and_a_reference_are_needed():
    with pytest.raises(OpenworldError, match="needs reference"):
        check_reference(Outputs(LOGITS, LABELS))
