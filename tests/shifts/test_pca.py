"""PCA of mean texts: known directions, the share of variance, both ways to project."""

import numpy as np
import pytest
import torch

from openworld import OpenworldError
from openworld.shifts import PCA, decomposed_nearest_mean, decomposed_zero_shot, overlap


@pytest.mark.parametrize("variance", [0.5, 0.9, 1.0])
def test_equals_scikit_learn(texts, variance):
    from sklearn.decomposition import PCA as Peer

    units = texts / np.linalg.norm(texts, axis=2, keepdims=True)
    found = PCA(variance=variance).fit(texts)
    for basis, rows in ((found.semantic, units.mean(axis=1)), (found.covariate, units.mean(axis=0))):
        peer = Peer(n_components=None if variance == 1 else variance).fit(rows.astype(np.float64))
        held = peer.components_[: basis.shape[1]]
        assert basis.shape[1] in (len(peer.components_), len(rows) - 1)
        assert overlap(basis, torch.from_numpy(held.T)) == pytest.approx(1, abs=1e-6)


def test_centred_features_lose_the_mean(texts):
    plain, centred = PCA().fit(texts), PCA(centred=True).fit(texts)
    images = texts.reshape(-1, 16)
    moved = plain.halves(images)[0].mean(dim=0) - centred.halves(images)[0].mean(dim=0)
    torch.testing.assert_close(moved, plain.semantic.T @ centred.semantic_centre, atol=1e-5, rtol=0)


def test_nearest_means_are_those_of_unit_rows_in_every_part(texts):
    halves, images = PCA(centred=True).fit(texts), torch.from_numpy(texts.reshape(-1, 16))
    labels = np.repeat(np.arange(12), 8)
    table = decomposed_nearest_mean(halves, images[::2], labels[::2], images[1::2], labels[1::2])
    for row, rows in zip(table, (images, *halves.halves(images)), strict=True):
        units = torch.nn.functional.normalize(rows)
        means = torch.stack([units[1::2][labels[1::2] == label].mean(dim=0) for label in range(12)])
        found = torch.cosine_similarity(units[::2, None], means[None], dim=2).argmax(dim=1)
        assert row.top1.value == pytest.approx((found.numpy() == labels[::2]).mean())
    assert table[1].top1.value > 0.9 > table[2].top1.value


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda texts: PCA().fit(np.ones((3, 2, 4))), "labels do not differ"),
        (lambda texts: PCA().fit(np.repeat(texts[:, :1], 3, axis=1)), "templates do not differ"),
        (
            lambda texts: decomposed_nearest_mean(PCA().fit(texts), texts[0], [0] * 8, texts[0], [0, 2] * 4),
            "class 1 has no",
        ),
        (lambda texts: decomposed_nearest_mean(PCA().fit(texts), texts[0], [2] * 8, texts[0], [0, 1] * 4), "up to 2"),
        (lambda texts: decomposed_zero_shot(PCA().fit(texts), texts[0], [12] * 8, texts[:, 0]), "up to 12"),
        (lambda texts: decomposed_zero_shot(PCA().fit(texts), texts[0, :, :4], [1], texts[:, 0]), "expected 16"),
    ],
)
def test_refusals(texts, call, message):
    with pytest.raises(OpenworldError, match=message):
        call(texts)
