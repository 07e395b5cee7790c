"""Classifiers, features and images that do not suit: each works, or is refused with a sentence that says what to do.

What a `Activations`, a head or a setting refuses at once is in test_seen; what a plan refuses, in test_planning.
"""

from dataclasses import replace

import pytest
import torch
from seen_pictures import pictures, whole
from settled import made
from torch import nn
from torch.nn.functional import linear, normalize

from openworld import OpenworldError
from openworld.detectors import (
    DETECTORS,
    KNN,
    MDS,
    MSP,
    ODIN,
    RMDS,
    SHE,
    Activations,
    GradNorm,
    Head,
    RankFeat,
    fit_together,
    is_sequential,
    plan,
    score_together,
    watch,
)
from openworld.testing import small_classifier
from openworld.testing._classifier import COLOURS, WIDTH, ColourNet


class Pointwise(nn.Module):
    """Logits from a 1 x 1 convolution, then the mean over positions."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU())
        self.head = nn.Conv2d(8, 4, 1)

    def forward(self, images):
        return self.head(self.stem(images)).mean(dim=(2, 3))


class Cosines(nn.Linear):
    """Scaled cosines with its rows: a linear layer in name alone."""

    def forward(self, features):
        return 16 * linear(normalize(features, dim=1), normalize(self.weight, dim=1))


class OnUnits(nn.Module):
    """The same with a linear layer in name and in deed, as the refusal advises."""

    def __init__(self, cosines):
        super().__init__()
        self.head = nn.Linear(cosines.in_features, cosines.out_features, bias=False)
        self.head.weight = nn.Parameter(16 * normalize(cosines.weight.detach(), dim=1))

    def forward(self, features):
        return self.head(normalize(features, dim=1))


def negative(seen, how):
    """With features, and those of moved images, that are partly or all below 0."""
    below = float(seen.features.mean()) if how == "some" else float(seen.features.max()) + 0.1
    moved = {perturbation: features - below for perturbation, features in seen.perturbed.items()}
    return replace(seen, features=seen.features - below, outputs=None, perturbed=moved)


def test_a_head_that_is_a_convolution():
    with pytest.raises(OpenworldError, match=r"If 'head', a convolution of 1 x 1, gives them: pool before it"):
        watch(Pointwise().eval(), pictures(0, 1))
    net = Pointwise().eval()
    pooled = nn.Sequential(net.stem, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 4)).eval()
    pooled[3].weight, pooled[3].bias = nn.Parameter(net.head.weight.flatten(1)), net.head.bias
    seen = watch(pooled, pictures(0, 1)).see(pictures(1, 5))
    torch.testing.assert_close(seen.logits, net(pictures(1, 5)).detach())
    torch.testing.assert_close(seen.head.logits(seen.features), seen.logits)


def test_no_linear_layer_at_all():
    wide = nn.Sequential(nn.Conv2d(3, 4, 8), nn.Flatten()).eval()
    with pytest.raises(
        OpenworldError, match="there is no head; .* at its end. Those that need logits alone run on Activations"
    ):
        watch(wide, pictures(0, 1))
    scores = MSP().fit().score(Activations(outputs=wide(pictures(0, 3)).detach()))
    assert scores.shape == (3,)


def test_a_head_of_cosines():
    cosines = Cosines(192, COLOURS)
    with pytest.raises(OpenworldError, match="'1', a Cosines, does not give W h \\+ b of its weights"):
        watch(nn.Sequential(nn.Flatten(), cosines).eval(), pictures(0, 2))
    net = nn.Sequential(nn.Flatten(), OnUnits(cosines)).eval()
    seen = watch(net, pictures(0, 2)).see(pictures(1, 5))
    torch.testing.assert_close(seen.logits, cosines(pictures(1, 5).flatten(1)).detach())


def test_training_mode_of_the_model_or_of_a_part():
    with pytest.raises(OpenworldError, match=r"the model is in training mode.*call model.eval\(\) first"):
        watch(ColourNet(), pictures(0, 1))
    net = ColourNet().eval()
    watched = watch(net, pictures(0, 1))
    net.stem.train()
    with pytest.raises(OpenworldError, match="the model's part 'stem' is in training mode"):
        watched.see(pictures(0, 1))


def test_images_of_several_sizes():
    """Each batch has one size; batches may differ where the model takes them, all scores then come together."""
    with pytest.raises(OpenworldError, match="differ in size; resize or crop them to one size"):
        small_classifier().see([pictures(0, 1)[0], torch.zeros(3, 9, 9)])
    route = plan([MSP(), ODIN(), GradNorm(), RankFeat()], small_classifier())
    large = nn.functional.interpolate(pictures(1, 4), 12)
    scores = route.score(route.fit([]), [pictures(0, 5), large])
    assert all(found.shape == (9,) and found.isfinite().all() for found in scores.values())
    torch.testing.assert_close(scores["MSP"][5:], route.score(route.fit([]), [large])["MSP"])


WARNED = {"ASH", "SCALE", "GradNorm", "AdaSCALE"}
REFUSED = {"AdaSCALE": "AdaSCALE gives NaN", "SHE": "SHE needs a training image that the model names right"}
REFUSED["OpenMax"] = "OpenMax needs two training images that the model names right"


@pytest.mark.parametrize("name", DETECTORS)
def test_features_that_are_partly_negative(name):
    """All give numbers; those whose sums of features are meant to be sums of activations say so."""
    fitted = made(name).fit(negative(whole(), "some"))
    assert fitted.score(negative(whole(2), "some")).isfinite().all()
    told = [warning for warning in fitted.warnings if "made for features that are not negative" in warning]
    assert bool(told) is (name in WARNED)
    assert bool(made(name).fit(whole()).warnings) is is_sequential(made(name))


@pytest.mark.parametrize("name", DETECTORS)
def test_features_that_are_all_negative(name):
    seen = negative(whole(), "all")
    if name in REFUSED:
        with pytest.raises(OpenworldError, match=REFUSED[name]):
            made(name).fit(seen).score(seen)
    else:
        assert made(name).fit(seen).score(seen).isfinite().all()


@pytest.mark.parametrize("detector", [MDS(), RMDS()], ids=lambda one: one.name)
def test_fewer_images_than_features(detector):
    few = whole().take(slice(12))
    fitted = detector.fit(few)
    assert f"{detector.name} was fitted on 12 images of {WIDTH} features" in fitted.warnings[0]
    assert "fit on more, or set shrinkage" in fitted.warnings[0]
    assert fitted.score(whole(2)).isfinite().all()
    assert replace(detector, shrinkage=0.5).fit(few).score(whole(2)).isfinite().all()


@pytest.mark.parametrize("name", DETECTORS)
def test_a_class_without_a_training_image(name):
    seen = whole().take(whole().labels != 1)
    if name in ("SHE", "OpenMax"):
        with pytest.raises(
            OpenworldError, match="finds (none|fewer) in 1 of 3: 1; fit on more images, or take another detector"
        ):
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
    with pytest.raises(OpenworldError, match="N >= 1"):
        small_classifier().see(pictures(0, 0))
    with pytest.raises(OpenworldError, match="expected .* one at least|no training image"):
        SHE().fit(torch.empty(0, 4), torch.empty(0, dtype=torch.int64), Head(torch.rand(2, 4)))


def test_features_of_another_width_than_in_the_fit():
    fitted = KNN(k=1).fit(torch.randn(6, 8))
    with pytest.raises(OpenworldError, match="fitted on features of 8 numbers, and these have 5"):
        fitted.score(torch.randn(2, 5))
