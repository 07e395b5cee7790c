"""LoCoOp's background by hand, its rule for K, and CoOp inside it."""

import math
from dataclasses import replace

import pytest
import torch

from openworld import OpenworldError
from openworld.learners import LoCoOp, Schedule
from openworld.learners.locoop import background_entropy


def test_background_of_two_images_by_hand():
    sure, unsure = [50.0, 0.0], [1e-6, 0.0]
    logits = torch.tensor([[sure, unsure, [-1e-6, 0.0]], [sure, unsure, [0.0, 50.0]]])
    # Of label 0 only the last patch is background, of label 1 the first two: entropies log 2, 0 and log 2.
    entropy = background_entropy(logits, torch.tensor([0, 1]), 1)
    assert float(entropy) == pytest.approx(2 / 3 * math.log(2), abs=2e-5)


@pytest.mark.parametrize(("classes", "top"), [(1, 1), (2, 1), (5, 1), (8, 2), (100, 20), (500, 100), (1000, 200)])
def test_a_fifth_of_the_classes(clip, classes, top):
    names = [f"owl {number}" for number in range(classes)]
    assert LoCoOp(context_length=2).prepare(clip, names)[1] == top


@pytest.mark.parametrize("top", [3, 200])
def test_a_top_that_leaves_no_background_is_refused(clip, shots, top):
    few = replace(shots, labels=shots.labels % 3, classnames=shots.classnames[:3])
    with pytest.raises(OpenworldError, match=f"top is {top}, but there are 3 classes"):
        LoCoOp(top=top).fit(clip, few, seed=0)


def test_one_class_has_no_background(clip, shots):
    one = replace(shots, labels=0 * shots.labels, classnames=("owl",))
    fitted = LoCoOp(context_length=2, schedule=Schedule(epochs=1)).fit(clip, one, seed=0)
    assert fitted.history == ({"cross_entropy": 0.0, "background_entropy": 0.0, "total": 0.0},)
