"""PCA of mean texts: the directions and the share of variance of scikit-learn; refusals."""

import numpy as np
import pytest
import torch

from openworld import OpenworldError
from openworld.shifts import PCA, decomposed_zero_shot


@pytest.mark.parametrize("variance", [0.5, 0.9, 1.0])
def test_equals_scikit_learn(texts, variance):
    from sklearn.decomposition import PCA as Peer

    units = texts / np.linalg.norm(texts, axis=2, keepdims=True)
    found = PCA(variance=variance).fit(texts)
    for basis, rows in ((found.semantic, units.mean(axis=1)), (found.covariate, units.mean(axis=0))):
        peer = Peer(n_components=None if variance == 1 else variance).fit(rows.astype(np.float64))
        held = peer.components_[: basis.shape[1]]
        assert basis.shape[1] in (len(peer.components_), len(rows) - 1)
        cosines = torch.linalg.svdvals(torch.from_numpy(held).float() @ basis)  # of the angles between the subspaces
        torch.testing.assert_close(cosines, torch.ones(len(held)), atol=1e-6, rtol=0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda texts: PCA().fit(np.ones((3, 2, 4))), "labels do not differ"),
        (lambda texts: PCA().fit(np.repeat(texts[:, :1], 3, axis=1)), "templates do not differ"),
        (lambda texts: decomposed_zero_shot(PCA().fit(texts), texts[0], [12] * 8, texts[:, 0]), "up to 12"),
        (lambda texts: decomposed_zero_shot(PCA().fit(texts), texts[0, :, :4], [1], texts[:, 0]), "expected 16"),
    ],
)
def test_refusals(texts, call, message):
    with pytest.raises(OpenworldError, match=message):
        call(texts)
