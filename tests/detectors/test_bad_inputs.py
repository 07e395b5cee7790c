"""Classifiers, features and images that do not suit: each works, or is refused with a sentence that says what to do.

Bad values and types of every argument are tried in `tests/bad_input`; what a plan refuses, in engine/test_planning.
"""

from dataclasses import replace

import pytest
import torch
from seen_images import make_images, whole
from settled import made
from torch import nn
from torch.nn.functional import linear, normalize

from openworld import OpenworldError
from openworld.detectors import (
    DETECTORS,
    KNN,
    MSP,
    ODIN,
    GradNorm,
    RankFeat,
    fit_together,
    is_sequential,
    plan,
    score_together,
    watch,
)
from openworld.testing import small_classifier
from openworld.testing._classifier import COLOURS, ColourNet


class Cosines(nn.Linear):
    """Scaled cosines with its rows: a linear layer in name alone."""

    def forward(self, features):
        return 16 * linear(normalize(features, dim=1), normalize(self.weight, dim=1))


def negative(seen, below):
    """With features, and those of moved images, that are smaller by so much."""
    moved = {perturbation: features - below for perturbation, features in seen.perturbed.items()}
    return replace(seen, features=seen.features - below, outputs=None, perturbed=moved)


NO_HEAD = {
    "a convolution of 1 x 1, gives them: pool before it": nn.Sequential(
        nn.Conv2d(3, 4, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten()
    ),
    "there is no head; .* at its end. Those that need logits alone run on Activations": nn.Sequential(
        nn.Conv2d(3, 4, 8), nn.Flatten()
    ),
    "'1', a Cosines, does not give W h \\+ b of its weights": nn.Sequential(nn.Flatten(), Cosines(192, COLOURS)),
    "in training mode.*call model.eval\\(\\) first": ColourNet(),
}


@pytest.mark.parametrize("said", NO_HEAD)
def test_a_network_without_a_linear_head(said):
    network = NO_HEAD[said] if "training" in said else NO_HEAD[said].eval()
    with pytest.raises(OpenworldError, match=said):
        watch(network, make_images(0, 2))


def test_images_of_several_sizes():
    """Each batch has one size; batches may differ where the model takes them, all scores then come together."""
    with pytest.raises(OpenworldError, match="differ in size; resize or crop them to one size"):
        small_classifier().see([make_images(0, 1)[0], torch.zeros(3, 9, 9)])
    route = plan([MSP(), ODIN(), GradNorm(), RankFeat()], small_classifier())
    large = nn.functional.interpolate(make_images(1, 4), 12)
    scores = route.score(route.fit([]), [make_images(0, 5), large])
    assert all(found.shape == (9,) and found.isfinite().all() for found in scores.values())
    torch.testing.assert_close(scores["MSP"][5:], route.score(route.fit([]), [large])["MSP"])


SUMS = {"ASH", "SCALE", "GradNorm", "AdaSCALE"}
REFUSED = {"AdaSCALE": "AdaSCALE gives NaN", "SHE": "SHE needs a training image that the model names right"}
REFUSED["OpenMax"] = "OpenMax needs two training images that the model names right"


@pytest.mark.parametrize("name", DETECTORS)
def test_features_below_zero(name):
    """All give numbers of some; those whose sums of features are meant to be sums of activations say so."""
    train, test = whole(), whole(2)
    partly = made(name).fit(negative(train, float(train.features.mean())))
    assert partly.score(negative(test, float(test.features.mean()))).isfinite().all()
    warned = any("made for features that are not negative" in warning for warning in partly.warnings)
    assert warned is (name in SUMS) and bool(made(name).fit(train).warnings) is is_sequential(made(name))
    all_below = negative(train, float(train.features.max()) + 0.1)
    if name in REFUSED:
        with pytest.raises(OpenworldError, match=REFUSED[name]):
            made(name).fit(all_below).score(all_below)
    else:
        assert made(name).fit(all_below).score(all_below).isfinite().all()


@pytest.mark.parametrize("name", DETECTORS)
def test_a_class_without_a_training_image(name):
    seen = whole().take(whole().labels != 1)
    if name in ("SHE", "OpenMax"):
        with pytest.raises(OpenworldError, match="finds (none|fewer) in 1 of 3: 1; fit on more images"):
            made(name).fit(seen)
        return
    fitted = made(name).fit(seen)
    assert fitted.score(whole(2)).isfinite().all()
    left_out = [warning for warning in fitted.warnings if " leaves out 1 of 3 classes" in warning]
    assert len(left_out) == (name in ("MDS", "RMDS", "MDSEnsemble"))


def test_no_image():
    everyone = {name: made(name) for name in DETECTORS}
    none = whole(2).take([])
    assert {len(scores) for scores in score_together(fit_together(everyone, [whole()]), none).values()} == {0}
    with pytest.raises(OpenworldError, match="there is no training image, but MDS learns from some"):
        fit_together(everyone, [none])


def test_features_of_another_width_than_in_the_fit():
    with pytest.raises(OpenworldError, match="fitted on features of 8 numbers, and these have 5"):
        KNN(k=1).fit(torch.randn(6, 8)).score(torch.randn(2, 5))
