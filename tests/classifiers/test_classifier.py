"""Asking a classifier: one image at a time, many at a time, on any number of threads; and what it refuses."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from made_up import NAMES, image, image_set
from torch import nn

from openworld import OpenworldError
from openworld.classifiers import Classifier, Preprocess

PLAIN = Preprocess(16, 16, "shortest", (0.5,) * 3, (0.25,) * 3)


class MeanColour(nn.Module):
    """The mean of every channel: logits that a test can compute itself."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))

    def forward(self, pixels):
        return pixels.mean(dim=(2, 3)) * self.scale


def mean_colour(**changes):
    return Classifier(
        **{"module": MeanColour(), "classnames": NAMES, "preprocess": PLAIN, "architecture": "m"} | changes
    )


def test_any_module_answers_image_by_image_in_order_and_counts_them():
    expected = [PLAIN(image(index)).mean(dim=(1, 2)).tolist() for index in range(24)]
    counted = []
    logits = mean_colour().logits(image_set(), batch_size=10, progress=lambda *counts: counted.append(counts))
    np.testing.assert_allclose(logits, expected, rtol=1e-5, atol=1e-6)
    assert counted == [(10, 24), (20, 24), (24, 24)]
    assert mean_colour().logits(image_set().subset([])).shape == (0, 3)


def test_prepared_images_give_the_same_bytes(trained):
    classifier = trained[4]
    pixels = np.stack([classifier.prepare(image(index)) for index in range(24)])
    assert pixels.shape == (24, 3, 16, 16) and pixels.dtype == np.uint8
    logits = classifier.logits(image_set())
    assert logits.dtype == np.float32
    assert logits.tobytes() == classifier.logits_of_pixels(pixels).tobytes()


def test_the_same_bytes_on_any_number_of_threads(trained):
    before = torch.get_num_threads()
    try:
        answers = []
        for threads in (1, 3):
            torch.set_num_threads(threads)
            answers.append(trained[4].logits(image_set(), batch_size=5).tobytes())
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
    assert answers[0] == answers[1]


def test_of_one_view_are_those_that_prepare_alike(trained):
    other = mean_colour(preprocess=replace(PLAIN, mean=(0.1,) * 3))
    assert mean_colour().view == other.view and trained[1].view == trained[4].view
    assert mean_colour(preprocess=replace(PLAIN, resize=20)).view != other.view


def test_the_fingerprint_is_of_weights_names_and_preprocessing():
    assert mean_colour().fingerprint == mean_colour().fingerprint
    moved = MeanColour()
    moved.scale.data[1] = 2
    changes = ({}, {"module": moved}, {"classnames": NAMES[::-1]}, {"preprocess": replace(PLAIN, std=(0.2,) * 3)})
    assert len({mean_colour(**change).fingerprint for change in changes}) == 4


def infinite():
    module = MeanColour()
    module.scale.data[0] = float("inf")
    return module


def unreadable(index):
    if index == 7:
        raise OpenworldError("image-7.png cannot be read.")
    return image(index)


UINT8 = np.zeros((2, 3, 8, 8), np.uint8)
REFUSED = [
    (lambda: mean_colour().logits_of_pixels(UINT8), r"uint8\[N, 3, 16, 16\], got uint8 of shape \[2, 3, 8, 8\]"),
    (lambda: mean_colour().logits_of_pixels(np.zeros((2, 3, 16, 16), np.float32)), "got float32 of shape"),
    (lambda: mean_colour(classnames=("a", "b")).logits(image_set()), "for 24 images and 2 class names"),
    (lambda: mean_colour(module=infinite()).logits(image_set()), "not finite"),
    (lambda: mean_colour().logits(image_set(read=unreadable)), "image-7"),
]


@pytest.mark.parametrize(("call", "words"), REFUSED)
def test_refused(call, words):
    with pytest.raises(OpenworldError, match=words):
        call()
