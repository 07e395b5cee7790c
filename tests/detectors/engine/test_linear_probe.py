"""The linear probe against scikit-learn, and as the head of a two-tower model."""

import pytest
import torch
from torch.nn.functional import normalize

from openworld import OpenworldError
from openworld.detectors import MDS, activations_of, encode_texts, linear_probe
from openworld.testing import small_world


def points(count=120, width=6, classes=3):
    labels = torch.arange(count) % classes
    noise = torch.randn(count, width, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    return normalize(noise + 2 * torch.eye(width, dtype=torch.float64)[labels], dim=1), labels


@pytest.mark.parametrize("penalty", [1e-1, 1e-3])
def test_it_is_scikit_learns_logistic_regression(penalty):
    linear = pytest.importorskip("sklearn.linear_model")
    features, labels = points()
    theirs = linear.LogisticRegression(C=1 / (penalty * len(labels)), tol=1e-10, max_iter=10_000).fit(features, labels)
    ours = linear_probe(features, labels, penalty=penalty)
    assert linear_probe(features.float(), labels).weight.dtype == torch.float32 and not ours.weight.requires_grad
    torch.testing.assert_close(ours.weight, torch.from_numpy(theirs.coef_), atol=1e-3, rtol=1e-3)
    judged = points(30)[0].flip(0)
    expected = torch.from_numpy(theirs.predict_proba(judged))
    torch.testing.assert_close(ours.logits(judged).softmax(dim=1), expected, atol=1e-4, rtol=0)


def test_as_the_head_of_a_two_tower_model():
    world = small_world()
    texts = encode_texts(world.clip, world.shots.classnames)
    zero_shot = activations_of(world.clip, world.shots, texts)
    seen = activations_of(world.clip, world.shots, texts, linear_probe(zero_shot.features, zero_shot.labels))
    assert (seen.predictions == seen.labels).all() and not (zero_shot.predictions == seen.labels).all()
    assert MDS(shrinkage=0.1).fit(seen).score(seen).shape == (28,)


def test_what_cannot_be_probed():
    features, labels = points()
    for given, classes in ((labels * 2, None), (labels * 0, None), (labels, 2), (labels, 4)):
        with pytest.raises(OpenworldError, match="the labels name classes .* give every class an image"):
            linear_probe(features, given, classes)
    world = small_world()
    with pytest.raises(OpenworldError, match="the head has 3 classes, the texts 7"):
        texts = encode_texts(world.clip, world.shots.classnames)
        activations_of(world.clip, world.shots, texts, linear_probe(torch.rand(120, 32), labels))
