"""Outputs: what is derived, parts and draws of them, what is refused."""

import pickle

import numpy as np
from simulated import refused

from openworld.estimators import Outputs

TWO = [[1.0, 0.0], [0.0, 1.0]]


def test_predictions_take_the_first_of_equal_logits():
    outputs = Outputs([[1, 1, 0], [0, 2, 2]], labels=[1, 1])
    assert outputs.predictions.tolist() == [0, 1]
    assert outputs.wrong.tolist() == [True, False] and outputs.mistakes == 1


def test_a_part_keeps_everything_in_line_and_nothing_found():
    outputs = Outputs(TWO, [0, 1], np.array(TWO) + 5, (np.array(TWO) - 5,))
    part = outputs.take([1])
    assert part.n == 1 and part.labels.tolist() == [1]
    assert part.reference.tolist() == [[5, 6]] and part.partners[0].tolist() == [[-5, -4]]
    assert Outputs(TWO).take(np.array([True, False])).logits.tolist() == [[1, 0]]
    assert outputs.once("first", list) is outputs.once("first", dict) != outputs.once("second", dict)
    assert outputs.take([0]).once("first", dict) == {}


def test_what_does_not_go_together_is_refused():
    for arguments, words in (
        ({"logits": np.zeros((0, 3))}, "at least one image and two classes"),
        ({"logits": [[1.0]]}, "at least one image and two classes"),
        ({"labels": [0]}, "labels has 1 entries, expected 2"),
        ({"labels": [0, 2]}, "labels holds class 2, but the logits have 2 classes"),
        ({"reference": [[1.0, 0.0]]}, r"reference has shape \(1, 2\), expected \(2, 2\)"),
        ({"partners": (TWO, [[1.0, np.nan]] * 2)}, r"partners\[1\] holds 2 value"),
        ({"slices": [[2], [0]]}, "other values than 1, 0 and -1"),
        ({"features": np.eye(3)}, "features has shape"),
        ({"features": np.zeros((2, 4))}, "all zero"),
    ):
        refused(words, Outputs, **{"logits": TWO} | arguments)
    refused("whether a prediction is wrong needs labels", lambda: Outputs(TWO).mistakes)
    refused("one or more", Outputs(TWO).take, np.zeros(2, bool))


def test_a_drawn_set_is_the_taken_one_and_finds_nothing_of_an_image_twice():
    generator, rows = np.random.default_rng(0), np.array([3, 1, 1, 0])
    whole = Outputs(generator.normal(size=(5, 3)), labels=[0, 1, 2, 0, 1], partners=(np.ones((5, 3)),))
    drawn, taken, looked_at = whole.draw(rows), whole.take(rows), []

    def largest(own):
        looked_at.append(own.n)
        return own.logits.max(axis=1)

    for _ in range(2):
        np.testing.assert_array_equal(drawn.per_image("largest", largest), taken.logits.max(axis=1))
    whole.draw(rows[:2]).per_image("largest", largest)
    assert looked_at == [5] and (drawn.n, drawn.classes) == (taken.n, taken.classes)
    np.testing.assert_array_equal(drawn.predictions, taken.predictions)
    np.testing.assert_array_equal(drawn.logits, taken.logits)
    assert drawn.mistakes == taken.mistakes and drawn.partners[0].shape == (4, 3)
    assert pickle.loads(pickle.dumps(drawn)).logits.shape == (4, 3) and not hasattr(drawn, "other")
