"""GalLoP's closest patches by hand, its draws, and the shared local features inside it."""

from itertools import islice

import pytest
import torch
from torch.nn.functional import normalize

from openworld.learners import GalLoP, Schedule, gallop
from openworld.learners.gallop import closest_patch_cosines


def test_closest_patches_by_hand():
    # Cosines of three patches with the first class 1, 0.6 and 0, with the second 0, 0.8 and 1.
    patches = torch.tensor([[[2.0, 0.0], [0.6, 0.8], [0.0, 5.0]]])
    text = torch.eye(2).expand(3, -1, -1)
    expected = torch.tensor([[[1.0, 1.0]], [[0.8, 0.9]], [[1.6 / 3, 1.8 / 3]]])
    torch.testing.assert_close(closest_patch_cosines(patches, text, (1, 2, 20)), expected)


@pytest.mark.parametrize("alive", [1, 100, 2**25])
def test_chunks_over_classes_are_exact(monkeypatch, alive):
    generator = torch.Generator().manual_seed(0)
    patches = torch.randn(3, 7, 8, generator=generator, dtype=torch.float64, requires_grad=True)
    text = torch.randn(2, 11, 8, generator=generator, dtype=torch.float64, requires_grad=True)
    monkeypatch.setattr(gallop, "SIMILARITIES", alive)
    ours = closest_patch_cosines(patches, text, (2, 5))
    every = torch.einsum("bpd,lcd->lbcp", normalize(patches, dim=-1), text).sort(dim=-1, descending=True).values
    expected = torch.stack([every[0, ..., :2].mean(dim=-1), every[1, ..., :5].mean(dim=-1)])
    torch.testing.assert_close(ours, expected)
    for one, two in zip(
        *(torch.autograd.grad(x.square().sum(), (patches, text)) for x in (ours, expected)), strict=True
    ):
        torch.testing.assert_close(one, two)


def test_an_image_keeps_one_global_context():
    learner = GalLoP(schedule=Schedule(batch_size=1000))
    one, two = islice(learner.loop.draws(torch.Generator().manual_seed(0)), 2)
    assert one.shape == (1000, 1)
    assert all(200 < count < 300 for count in one.flatten().bincount(minlength=4).tolist())
    assert not torch.equal(one, two)


@pytest.mark.parametrize(("dropout", "kept"), [(0.0, 4), (0.3, 3), (0.5, 2), (0.75, 1), (0.99, 1)])
def test_how_many_global_contexts_are_kept(dropout, kept):
    draw = next(GalLoP(dropout=dropout).loop.draws(torch.Generator()))
    assert draw.shape == (32, kept)


def test_contexts_part_by_dropout_and_by_their_own_number_of_patches(clip, shots):
    start = GalLoP(top=(2, 2, 4)).start(clip, shots.classnames, torch.Generator())
    assert all(torch.equal(context, start["global"][0]) for name in ("global", "local") for context in start[name])
    schedule = Schedule(epochs=1, batch_size=14, warmup=False)
    learned = GalLoP(top=(2, 2, 4), schedule=schedule).fit(clip, shots, seed=0).parameters
    assert not torch.allclose(learned["global"][0], learned["global"][1])
    assert torch.allclose(learned["local"][0], learned["local"][1])
    assert not torch.allclose(learned["local"][0], learned["local"][2])
