"""A model with other tensors in the place of some weights: values, gradients, and what stays as it is."""

import pytest
import torch
from tiny_clip import as_tensor, reference
from tiny_clip import tiny_clip as build_tiny_clip

from openworld.backbones import blocks

SENTENCES = ("a photo of a cat.", "an owl.", "a golden retriever, a type of dog.")
CHANGED = ("image.blocks.1.norm_2.weight", "text.blocks.0.qkv.bias", "text.projection.weight", "image.norm_in.bias")


@pytest.fixture
def model():
    return build_tiny_clip(torch.float64)


def noise_for(model):
    generator = torch.Generator().manual_seed(0)
    weights = {name: model.get_parameter(name) for name in CHANGED}
    return {name: w + 0.1 * torch.randn(w.shape, generator=generator, dtype=w.dtype) for name, w in weights.items()}


def features(model):
    return model.encode_text(SENTENCES), model.encode_image(as_tensor(reference("inputs")["images"], torch.float64))


def test_it_computes_what_a_model_with_these_weights_computes(model):
    weights, before = noise_for(model), features(model)
    changed = features(model.with_weights(weights))
    other = build_tiny_clip(torch.float64)
    other.load_state_dict(other.state_dict() | weights)
    for ours, theirs, frozen in zip(changed, features(other), before, strict=True):
        assert torch.equal(ours, theirs) and not torch.allclose(ours, frozen)
    for ours, frozen in zip(features(model), before, strict=True):
        assert torch.equal(ours, frozen)
    assert model.with_weights({}).fingerprint == model.fingerprint != model.with_weights(weights).fingerprint


@pytest.mark.parametrize("rows", [blocks.ROWS, 8], ids=["whole", "in parts"])
def test_a_gradient_reaches_the_weights_and_nothing_else(model, monkeypatch, rows):
    weights = {name: tensor.requires_grad_() for name, tensor in noise_for(model).items()}
    other = build_tiny_clip(torch.float64)
    other.load_state_dict(other.state_dict() | {name: tensor.detach() for name, tensor in weights.items()})
    sum(part.square().sum() for part in features(other.requires_grad_(True))).backward()
    monkeypatch.setattr(blocks, "ROWS", rows)
    sum(part.square().sum() for part in features(model.with_weights(weights))).backward()
    for name, tensor in weights.items():
        expected = other.get_parameter(name).grad
        assert (tensor.grad - expected).abs().max() <= 1e-9 * expected.abs().max(), name
    assert all(parameter.grad is None for parameter in model.parameters())


def test_wide_weights_are_cast_to_the_models_type(model):
    half = build_tiny_clip(torch.bfloat16)
    wide = {name: tensor.float() for name, tensor in noise_for(model).items()}
    assert half.with_weights(wide).encode_text(SENTENCES).dtype == torch.bfloat16
