"""How learners are compared with numbers recorded from the authors' code on the tiny CLIP (`tiny_clip.py`).

The recorded bars: float64 within 1e-9, float32 within 5e-5 of the largest entry; whole numbers exactly. The fixture
`precision` of conftest runs a test in float64, which is the harder one, or in both.
"""

import numpy as np
import torch
from tiny_clip import as_tensor, reference

from openworld.learners import Images

PRECISIONS = {"f32": (torch.float32, 5e-5), "f64": (torch.float64, 1e-9)}


def images_of(clip, dtype):
    """The six reference images with everything that a learner may consume, their labels and the class names."""
    stored = reference("inputs")
    pixels = as_tensor(stored["images"], dtype)
    embeddings, patches = clip.encode_patches(pixels)
    return Images(embeddings, patches, pixels), as_tensor(stored["labels"]).long(), stored["class_names"].tolist()


def assert_close(ours, theirs, tolerance):
    """Within `tolerance` of the largest entry of the recorded array."""
    theirs = np.asarray(theirs, np.float64)
    assert np.abs(np.asarray(ours.detach(), np.float64) - theirs).max() <= tolerance * np.abs(theirs).max()


def assert_tokens(ours, theirs):
    """Rows of token ids, ours as long as the longest sentence or a list each, theirs padded with zeros."""
    for row, expected in zip(ours, theirs, strict=True):
        row = list(map(int, row))
        assert row == expected[: len(row)].tolist() and not expected[len(row) :].any()


def recorded(stored, prefix, names):
    """A recorded array, or several of equal shape stacked."""
    if isinstance(names, str):
        return stored[f"{prefix}/{names}"]
    return np.stack([stored[f"{prefix}/{name}"] for name in names])
