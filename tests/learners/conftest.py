import sys
from pathlib import Path

import numpy as np
import pytest
import torch

sys.path.insert(0, str(Path(__file__).parents[1] / "reference"))

from tiny_clip import tiny_clip  # noqa: E402

from openworld.features import Features  # noqa: E402

NAMES = ("golden retriever", "ice_cream", "traffic light", "fried rice", "mountain bike", "owl", "lamp")


@pytest.fixture(scope="session")
def clip():
    return tiny_clip(torch.float32)


@pytest.fixture
def shots():
    """Four shots of each class, clustered around a random direction per class, with three views of each."""
    generator = np.random.default_rng(0)
    labels = np.repeat(np.arange(len(NAMES)), 4)
    centres = generator.standard_normal((len(NAMES), 64)).astype(np.float32)
    views = centres[labels][:, None] + 0.3 * generator.standard_normal((len(labels), 3, 64)).astype(np.float32)
    rows = np.arange(len(labels))
    return Features(views[:, 0], labels, rows, rows, NAMES, "made up", views=views)
