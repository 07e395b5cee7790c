"""Learned rows among the patches: published numbers, and the pass written out."""

import pytest
import torch
from tiny_clip import as_tensor, reference
from tiny_clip import tiny_clip as build_tiny_clip

from openworld import backbones
from openworld.backbones.blocks import attend_all

BARS = {"f64": (torch.float64, 1e-9), "f32": (torch.float32, 5e-5)}


def close(ours, theirs, bar):
    return (ours.detach() - as_tensor(theirs)).abs().max() <= bar * abs(theirs).max()


@pytest.mark.parametrize("precision", BARS)
def test_patch_features_reproduce_locoop_and_gallop(precision):
    dtype, bar = BARS[precision]
    model, stored = build_tiny_clip(dtype), reference("local_features")
    pooled, patches = model.encode_patches(as_tensor(reference("inputs")["images"], dtype))
    assert close(pooled, stored[f"{precision}/locoop/global"], bar)
    assert close(patches, stored[f"{precision}/gallop/local_before_proj"], bar)
    for file in ("locoop/local", "gallop/local_after_proj"):
        assert close(model.project_patches(patches), stored[f"{precision}/{file}"], bar)


def test_equals_the_pass_written_out(clip_checkpoint):
    model = backbones.load(clip_checkpoint[0], dtype=torch.float64)
    generator = torch.Generator().manual_seed(0)
    pixels = torch.randn(2, 3, 16, 16, dtype=torch.float64, generator=generator)
    prompts = [torch.randn(3, 48, dtype=torch.float64, generator=generator, requires_grad=True) for _ in range(2)]
    tower = model.image
    rows = torch.cat([tower.embed(pixels), tower.norm_in(prompts[0]).expand(2, -1, -1)], dim=1)
    rows = tower.blocks[0](0, rows, attend_all)
    rows = torch.cat([rows[:, :-3], prompts[1].expand(2, -1, -1)], dim=1)
    expected = tower.finish(tower.blocks[1](1, rows, attend_all)[:, 0])
    ours = model.encode_image(pixels, dict(enumerate(prompts)))
    torch.testing.assert_close(ours, expected, rtol=0, atol=1e-10)
    weights = torch.randn(ours.shape, dtype=torch.float64, generator=generator)
    gradients = [torch.autograd.grad((features * weights).sum(), prompts) for features in (ours, expected)]
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-10)
