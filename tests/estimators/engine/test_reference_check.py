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


@pytest.mark.parametrize("classes", [2, 10])
def test_one_that_gives_all_images_one_name_does_not(classes):
    labels = np.random.default_rng(7).integers(0, classes, 500) * (np.arange(500) % 10 < 3)  # 0 is the most frequent
    constant = np.zeros((500, classes))
    constant[:, 0] = 1
    found = check_reference(Outputs(scores(labels, 3.0, 8, classes), labels, reference=constant))
    assert found.accuracy > 0.7 and abs(found.beyond_chance) < 1e-9 and not found.informed


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
    assert nothing.reasons == ("knows too little of these classes", "may repeat the model's mistakes")


def test_every_figure_by_hand():
    labels = np.repeat([0, 1, 2], 20)
    model, reference = labels.copy(), labels.copy()
    model[:4], model[20:22] = 1, 2  # four of 0 are called 1, two of 1 are called 2
    reference[:12], reference[12:14] = 1, 2  # twelve of 0 are called 1, two more 2
    found = check_reference(Outputs(np.eye(3)[model], labels, reference=np.eye(3)[reference]))
    assert found.accuracy == found.known_accuracy == 46 / 60 and found.model_accuracy == 54 / 60
    chance = (6 * 20 + 32 * 20 + 22 * 20) / 60**2
    assert found.beyond_chance == pytest.approx((46 / 60 - chance) / (1 - chance))
    # of 14 mistakes of the reference the model repeats four; of the other 19 images of class 0 it calls 3 (of those
    # that it repeats) or 4 (of eight) a 1, and none a 2
    by_chance = (4 * 3 / 19 + 8 * 4 / 19) / 14
    assert found.repeated == pytest.approx(4 / 14 - by_chance)  # the model's own 6 mistakes are too few to be asked
    share, z = found.repeated, 1.645
    upper = (share + z**2 / 28 + z * np.sqrt(share * (1 - share) / 14 + z**2 / (4 * 14**2))) / (1 + z**2 / 14)
    assert found.at_most == pytest.approx(upper)


def test_the_side_whose_mistakes_are_repeated_most_counts():
    labels = np.zeros(200, np.int64)
    labels[100:] = np.arange(100) % 5
    reference = labels.copy()
    reference[:60] = np.arange(60) % 4 + 1
    model = labels.copy()
    model[:15] = reference[:15]  # all of the model's mistakes are the reference's, which makes many more
    found = check_reference(Outputs(np.eye(5)[model], labels, reference=np.eye(5)[reference]))
    assert found.repeated > 0.7 and found.reasons == ("may repeat the model's mistakes",)


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
