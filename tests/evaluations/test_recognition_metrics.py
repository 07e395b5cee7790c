"""Per-image tables and their numbers, by hand."""

import numpy as np
import pytest

from openworld.evaluations.recognition_metrics import image_table, recognition_rows
from openworld.features import Features
from openworld.learners import Answer


def features(labels, rows=None):
    labels = np.asarray(labels)
    rows = np.arange(len(labels)) if rows is None else np.asarray(rows)
    return Features(np.zeros((len(labels), 1)), labels, np.arange(len(labels)), rows, ("a", "b", "c"), "")


# Two base names (0, 1), one new name (2).
LOGITS = [[2.0, 1.0, 0.0], [1.0, 0.5, 3.0], [0.0, 1.0, 0.5], [4.0, 0.0, 1.0]]
LABELS = [0, 0, 0, 2]
BASENESS = [0.9, 0.4, 0.8, 0.6]


@pytest.fixture
def table():
    return image_table(Answer(LOGITS, BASENESS), features(LABELS), base_count=2)


def test_each_image_is_named_among_the_names_of_its_own_side(table):
    assert table["side"].tolist() == ["base", "base", "base", "new"]
    assert table["prediction"].tolist() == [0, 0, 1, 2]
    assert table["joint_prediction"].tolist() == [0, 2, 1, 0]
    assert table["correct"].tolist() == [True, True, False, True]
    assert table["confidence"][0] == pytest.approx(1 / (1 + np.exp(-1)))
    assert table["confidence"][3] == pytest.approx(1.0)


def numbers_of(table):
    return {row.metric.key: row.value for row in recognition_rows(table, "GMoP")}


def test_numbers_by_hand(table):
    numbers = {name: value.value for name, value in numbers_of(table).items()}
    # Pairs with the one new image, named right, at .6: base .9 right and above; .4 right and below; .8 above and wrong.
    assert numbers["openworld_auc"] == pytest.approx(1 / 3)
    assert numbers["auroc"] == pytest.approx(2 / 3)
    assert numbers["base_accuracy"] == pytest.approx(2 / 3)
    assert numbers["new_accuracy"] == 1.0
    assert numbers["overall_accuracy"] == pytest.approx(1 / 4)
    assert numbers["wrong_base"] + numbers["wrong_new"] + numbers["mixed_up"] == pytest.approx(2 / 3)
    closed = {row.metric.key: row.value.value for row in recognition_rows(table, "GMoP", closed_set=True)}
    assert "aurc" not in numbers and closed["openworld_auc"] is None
    assert closed["aurc"] == pytest.approx(1 / 2 / 3 + 1 / 3 / 3)  # at .9 right, at .8 wrong, at .4 right


def test_images_keep_their_number_in_the_image_set():
    table = image_table(Answer(LOGITS, BASENESS), features(LABELS, rows=[7, 3, 5, 0]), base_count=2)
    assert table["id"].tolist() == [7, 3, 5, 0]


def test_without_new_images_numbers_are_none_with_a_reason():
    table = image_table(Answer(LOGITS[:3], BASENESS[:3]), features(LABELS[:3]), base_count=2)
    numbers = numbers_of(table)
    assert numbers["openworld_auc"].value is None
    assert "new" in numbers["openworld_auc"].reason
    assert numbers["base_accuracy"].value == pytest.approx(2 / 3)
    assert numbers["auroc"].value is None and "wrong_base" not in numbers
