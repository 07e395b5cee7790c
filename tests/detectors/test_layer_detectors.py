"""Detectors that look at several layers, against plain loops over their definitions in NumPy, and pytorch-ood's."""

import numpy as np
import pytest
import torch
from seen_images import whole
from stored import assert_close, more, small_net, stored, tensor
from torch import nn

from openworld import OpenworldError
from openworld.detectors import (
    NAC,
    Activations,
    Gram,
    Layer,
    MDSEnsemble,
    watch,
)
from openworld.detectors.engine.statistics import Mean, PerLayer

LAYERS = ("stem.1", "last")


def array(values):
    return values.double().numpy()


def test_weights_fit_the_layers():
    fitted = MDSEnsemble((0.5, 2.0)).fit(whole())
    one, other = fitted.detector.distances(fitted.state, whole(2)).mT
    torch.testing.assert_close(fitted.score(whole(2)), -(one / 2 + 2 * other))
    with pytest.raises(OpenworldError, match="3 weights, and the layers are 2: stem.1, last; give a weight each"):
        MDSEnsemble((1, 1, 1)).fit(whole())
    with pytest.raises(OpenworldError, match="there are 1 weights for 2 layers; give one each"):
        MDSEnsemble((1,), layers=LAYERS)


@pytest.mark.parametrize("powers", [(1,), (2, 3), (1, 10)])
def test_gram_is_the_loop_over_matrices(powers):
    train, test = whole(), whole(2)
    held = np.random.default_rng(0).random(90) < 0.1
    expected = np.zeros(90)
    for name in LAYERS:
        layer_deviation, usual = np.zeros(90), np.zeros(held.sum())
        for power in powers:

            def rows(seen):
                maps = array(seen.layers[name].maps).reshape(90, -1, np.prod(seen.layers[name].maps.shape[2:]))  # noqa: B023
                matrices = [(own**power) @ (own**power).T for own in maps]  # noqa: B023
                return np.array([np.sign(m.sum(1)) * np.abs(m.sum(1)) ** (1 / power) for m in matrices])  # noqa: B023

            own, others = rows(train), rows(test)
            names = train.predictions.numpy()
            for given, predictions, total in (
                (own[held], names[held], usual),
                (others, test.predictions.numpy(), layer_deviation),
            ):
                for place, (row, label) in enumerate(zip(given, predictions, strict=True)):
                    kept = own[~held & (names == label)]
                    low, high = kept.min(0), kept.max(0)
                    total[place] += (np.maximum(low - row, 0) / np.abs(low + 1e-6)).sum()
                    total[place] += (np.maximum(row - high, 0) / np.abs(high + 1e-6)).sum()
        expected -= layer_deviation / usual.mean()
    np.testing.assert_allclose(Gram(powers).fit(train).score(test).numpy(), expected, rtol=1e-3, atol=1e-4)


def test_gram_of_a_class_that_no_training_image_is_taken_for():
    train = whole().take(whole().predictions != 1)
    fitted = Gram(share=0.0).fit(train)
    assert "takes for 1 of 3 classes, the first number 1" in fitted.warnings[0]
    assert fitted.score(whole(2)).isfinite().all()
    with pytest.raises(OpenworldError, match="holds out all training images; fit on more"):
        Gram(share=0.99).fit(whole().take([0]))


def test_layers_must_be_there_and_the_same():
    fitted = Gram().fit(whole())
    with pytest.raises(OpenworldError, match="Gram needs what leaves the layer 'stem.1'; let `plan"):
        fitted.score(Activations(whole().features, whole().head, layers={"last": whole().layers["last"]}))
    statistic = PerLayer(Mean())
    total = statistic.add(None, Activations(layers={"one": Layer(torch.ones(2, 3))}))
    other = Activations(layers={"other": Layer(torch.ones(2, 3))})
    with pytest.raises(OpenworldError, match="give all the same"):
        statistic.add(total, other)
    with pytest.raises(OpenworldError, match="gather both alike"):
        statistic.merge(total, statistic.add(None, other))


# --- pytorch-ood 0.4.0, of the stored network as a sequence, its head centred so that it names all of three classes


def images_of(part):
    """float32[n, 3, 8, 8]; "train": the first sixteen in-distribution images."""
    images = tensor(stored()["images"]["ood" if part == "ood" else "id"])
    return images[:16] if part == "train" else images


def stages():
    """The stored network as a sequence whose parts give all that is compared."""
    net = small_net()
    features = watch(net, images_of("train")[:1]).see(images_of("train")).features
    head = nn.Linear(32, 3)
    head.weight = nn.Parameter(20 * net.fc.weight[:3].detach())
    head.bias = nn.Parameter(-features.mean(dim=0) @ head.weight.detach().mT)
    parts = (net.conv1, nn.ReLU(), nn.AvgPool2d(2), net.layer3, net.layer4, nn.AdaptiveAvgPool2d(1), nn.Flatten())
    return nn.Sequential(*parts, head).eval().requires_grad_(False)


def of_stages(images, layers, **settings):
    """What they give of images, with the classes that the network names."""
    return watch(stages(), images[:1]).see(images, stages()(images).argmax(dim=1), layers=layers, **settings)


@pytest.mark.parametrize("side", ["id", "ood"])
def test_pytorch_ood(side):
    theirs = more()["layers"]
    train, judged = (of_stages(images_of(part), ("3", "4")) for part in ("train", side))
    scores = Gram((1, 2, 3), share=0.0).fit(train).score(judged)
    torch.testing.assert_close(-scores, torch.tensor(theirs["Gram"][side]), rtol=1e-3, atol=1e-2)

    train, judged = (of_stages(images_of(part), ("6",), layer_gradients=True) for part in ("train", side))
    fitted = NAC(bins=8, steepness=100.0, filled=5).fit(train)
    assert_close(-fitted.score(judged), theirs["NACUE_even_bins"][side])

    both = of_stages(torch.cat([images_of("id"), images_of("ood")]), ("0", "3"))
    scores = MDSEnsemble().fit(both).score(of_stages(images_of(side), ("0", "3")))
    # Theirs: a sum instead of a mean in the scatter, 1e-6 on its diagonal, half the distance.
    assert_close(-scores / (2 * len(both)), theirs["MultiMahalanobis"][side], 1e-3)
