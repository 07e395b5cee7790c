"""Asking a classifier: one picture at a time, many at a time, on any number of threads; and what it refuses."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from made_up import NAMES, image_set, picture
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


def test_any_module_answers_picture_by_picture_in_order():
    expected = [PLAIN(picture(index)).mean(dim=(1, 2)).tolist() for index in range(24)]
    np.testing.assert_allclose(mean_colour().logits(image_set(), batch_size=5), expected, rtol=1e-5, atol=1e-6)


def test_prepared_pictures_give_the_same_bytes(trained):
    classifier = trained[4]
    pixels = np.stack([classifier.prepare(picture(index)) for index in range(24)])
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


def test_progress_counts_pictures():
    told = []
    mean_colour().logits(image_set(), batch_size=10, progress=lambda *counts: told.append(counts))
    assert told == [(10, 24), (20, 24), (24, 24)]


def test_no_picture_gives_no_row(trained):
    assert trained[4].logits(image_set().subset([])).shape == (0, 3)


def test_of_one_view_are_those_that_prepare_alike(trained):
    other = mean_colour(preprocess=replace(PLAIN, mean=(0.1,) * 3))
    assert mean_colour().view == other.view and trained[1].view == trained[4].view
    assert mean_colour(preprocess=replace(PLAIN, resize=20)).view != other.view


def test_the_fingerprint_is_of_weights_names_and_preprocessing(trained):
    same, one = mean_colour(), mean_colour()
    assert same.fingerprint == one.fingerprint
    moved = MeanColour()
    moved.scale.data[1] = 2
    changed = [
        mean_colour(module=moved),
        mean_colour(classnames=NAMES[::-1]),
        mean_colour(preprocess=replace(PLAIN, std=(0.2,) * 3)),
        trained[1],
        trained[4],
    ]
    assert len({one.fingerprint, *(other.fingerprint for other in changed)}) == 6


def test_a_classifier_is_in_evaluation_mode_and_collects_no_gradient():
    module = nn.Sequential(nn.Dropout(0.5), MeanColour()).train()
    mean_colour(module=module)
    assert not module.training and not any(weights.requires_grad for weights in module.parameters())


@pytest.mark.parametrize(
    ("pixels", "came"),
    [
        (np.zeros((2, 3, 8, 8), np.uint8), r"uint8 of shape \[2, 3, 8, 8\]"),
        (np.zeros((2, 3, 16, 16), np.float32), "float32 of shape"),
        (np.zeros((3, 16, 16), np.uint8), r"uint8 of shape \[3, 16, 16\]"),
    ],
)
def test_pixels_that_were_not_prepared_are_refused(pixels, came):
    with pytest.raises(OpenworldError, match=rf"looks at uint8\[N, 3, 16, 16\], got {came}"):
        mean_colour().logits_of_pixels(pixels)


def test_names_that_do_not_fit_are_refused():
    with pytest.raises(OpenworldError, match=r"logits of shape \[24, 3\] for 24 images and 2 class names"):
        mean_colour(classnames=("a", "b")).logits(image_set())
    with pytest.raises(OpenworldError, match=r"has 1 class name\(s\), expected 2 or more"):
        mean_colour(classnames=("a",))


def test_logits_that_are_not_finite_are_refused():
    module = MeanColour()
    module.scale.data[0] = float("inf")
    with pytest.raises(OpenworldError, match="not finite"):
        mean_colour(module=module).logits(image_set())


def test_a_picture_that_cannot_be_read_stops_it():
    def read(index):
        if index == 7:
            raise OpenworldError("picture-7.png cannot be read.")
        return picture(index)

    with pytest.raises(OpenworldError, match="picture-7"):
        mean_colour().logits(image_set(read=read))
