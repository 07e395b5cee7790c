import sys
from pathlib import Path

import numpy as np
import pytest
import torch

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "reference")]

from comparison import PRECISIONS  # noqa: E402
from tiny_clip import tiny_clip  # noqa: E402

from openworld.features import Features  # noqa: E402

NAMES = ("golden retriever", "ice_cream", "traffic light", "fried rice", "mountain bike", "owl", "lamp")


@pytest.fixture(scope="session")
def clip():
    return tiny_clip(torch.float32)


@pytest.fixture(scope="module", params=["f64"])
def precision(request):
    """(key of the recorded arrays, the tiny CLIP in that type, the type, the tolerance)."""
    dtype, tolerance = PRECISIONS[request.param]
    return request.param, tiny_clip(dtype), dtype, tolerance


@pytest.fixture(scope="module")
def shots(clip):
    """Four shots of each class, three views of each: sixteen coloured squares per class and noise, fully encoded."""
    generator = np.random.default_rng(0)
    labels = np.repeat(np.arange(len(NAMES)), 4)
    patterns = generator.integers(0, 256, (len(NAMES), 1, 3, 4, 4)).repeat(8, axis=3).repeat(8, axis=4)
    noise = generator.integers(-20, 21, (len(labels), 3, 3, 32, 32))
    pixels = (patterns[labels] + noise).clip(0, 255).astype(np.uint8)
    with torch.no_grad():
        embeddings, patches = clip.encode_patches(
            clip.preprocess.scale(torch.from_numpy(pixels.reshape(-1, 3, 32, 32)))
        )
    views = embeddings.numpy().reshape(len(labels), 3, -1)
    view_patches = patches.half().numpy().reshape(len(labels), 3, 16, -1)
    rows = np.arange(len(labels))
    return Features(
        views[:, 0],
        labels,
        rows,
        rows,
        NAMES,
        "made up",
        views=views,
        patches=view_patches[:, 0],
        view_patches=view_patches,
        pixels=pixels[:, 0],
        view_pixels=pixels,
    )
