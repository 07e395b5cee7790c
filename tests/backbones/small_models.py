"""Sizes of the small models of the tests, the vocabulary they share, and weights that hide nothing."""

from pathlib import Path

import torch

VOCABULARY = Path(__file__).parents[1] / "reference" / "tiny_clip_tokenizer.json"
TEXT = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4}
IMAGE = {"intermediate_size": 80, "num_hidden_layers": 2, "num_attention_heads": 3, "image_size": 16, "patch_size": 4}


def randomise(model):
    """Every weight far from its initial value, so that no bias, norm or scale can be forgotten unnoticed."""
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            noise = torch.randn(parameter.shape, generator=generator)
            parameter.copy_(0.3 * noise if parameter.dim() > 1 else parameter + 0.2 * noise)
    return model.double().eval()
