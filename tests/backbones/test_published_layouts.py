"""Every layout in which weights are published: the exact files, loaded, and features equal to the reference."""

import sys
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

sys.path.insert(0, str(Path(__file__).parent))

from published_layouts import EXAMPLE, LAYOUTS, SENTENCES, Reference, checkpoint  # noqa: E402

from openworld import backbones  # noqa: E402


def largest_differences(model, reference: Reference) -> tuple[float, float]:
    """Of a coordinate of the normalised embeddings: of images, of sentences."""
    with torch.no_grad():
        images = model.encode_image(model.preprocess(EXAMPLE)[None])
        texts = model.encode_text(SENTENCES)
    pairs = ((images, reference.image), (texts, reference.text))
    return tuple(float((F.normalize(a, dim=-1) - F.normalize(b, dim=-1)).abs().max()) for a, b in pairs)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_features_equal_those_of_the_model_that_was_published(layout, tmp_path):
    reference = LAYOUTS[layout](tmp_path)
    model = backbones.load(checkpoint(tmp_path))
    assert any(one.complete for one in backbones.needed_files(checkpoint(tmp_path)))
    assert max(largest_differences(model, reference)) < 1e-5
    assert model.dtype == torch.float32 and not model.training
