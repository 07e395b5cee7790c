"""Whitening within a look: unit covariance there, the same halves through the map, looks that would else be lost."""

import numpy as np
import pytest
import torch

from openworld import OpenworldError
from openworld.shifts import LAID, Decomposition, load_decomposition, whitening

SHORT = {"steps": 200, "batch_size": 64, "learning_rate": 1e-2}


@pytest.fixture(scope="module")
def faint() -> np.ndarray:
    """float32[80, 8, 16]: labels are far apart in 10 directions and hardly in the other 6, which looks differ in."""
    rng = np.random.default_rng(3)
    labels = rng.normal(size=(80, 1, 16)) * np.r_[np.ones(10), np.full(6, 0.004)]
    looks = np.concatenate([np.zeros((1, 8, 10)), 0.05 * rng.normal(size=(1, 8, 6))], axis=2)
    rotation = np.linalg.qr(rng.normal(size=(16, 16)))[0]
    return ((labels + looks + 0.004 * rng.normal(size=(80, 8, 16))) @ rotation).astype(np.float32)


def test_directions_of_a_look_become_alike(texts):
    white = whitening(torch.from_numpy(texts), 8)
    rows = white.of(torch.from_numpy(texts))
    assert rows.shape == (12, 8, 8)
    torch.testing.assert_close(rows.mean(dim=(0, 1)), torch.zeros(8), atol=1e-4, rtol=0)
    inside = (rows - rows.mean(dim=0)).flatten(0, 1)
    assert (inside.T @ inside / len(inside)).diagonal().max() < 1.01


def test_directions_of_most_variance_are_kept(texts):
    rows = torch.from_numpy(texts)
    some, every = (whitening(rows, width).of(rows).var(dim=(0, 1)) for width in (5, 16))
    torch.testing.assert_close(some, every[:5])
    assert (every.diff() < 1e-4).all()


def test_its_map_stands_before_that_of_the_halves(texts):
    rows = torch.from_numpy(texts)
    white = whitening(rows, 8)
    halves = white.before(Decomposition.of_matrix(torch.eye(8))).halves(rows[0])
    torch.testing.assert_close(torch.cat(halves, dim=1), white.of(3 * rows[0]), atol=1e-4, rtol=0)


def test_looks_are_found_that_are_lost_without_it(faint):
    plain = LAID(semantic_width=10, **SHORT).fit(faint).about["validation"]["covariate"]
    white = LAID(semantic_width=10, whitened=16, **SHORT).fit(faint).about["validation"]["covariate"]
    assert white > 0.9 > plain


def test_halves_are_those_of_whitened_features(faint, tmp_path):
    fitted = LAID(semantic_width=6, whitened=8, steps=3).fit(faint)
    assert fitted.semantic.shape == (16, 6) and fitted.covariate.shape == (16, 2) and fitted.about["width"] == 8
    fitted.save(tmp_path / "halves.safetensors")
    again = load_decomposition(tmp_path / "halves.safetensors")
    for one, two in zip(fitted.halves(faint[0]), again.halves(faint[0]), strict=True):
        assert torch.equal(one, two)
    assert LAID(whitened=2, semantic_width=1, steps=1).fit(faint).about["width"] == 2
    for width in (1, 17):
        with pytest.raises(OpenworldError, match=f"whitened is {width}"):
            LAID(whitened=width, semantic_width=1, steps=1).fit(faint)
