"""A small backbone, and image sets of several shards and batches."""

import sys
from pathlib import Path

import pytest
import torch

sys.path.insert(0, str(Path(__file__).parents[1] / "reference"))

from tiny_clip import tiny_clip  # noqa: E402


@pytest.fixture(scope="module")
def clip():
    return tiny_clip(torch.float32)


@pytest.fixture(autouse=True)
def small_shards(monkeypatch):
    monkeypatch.setattr("openworld.features.encoding._SHARD_IMAGES", 3)
    monkeypatch.setattr("openworld.features._shards._CPU_BATCH_IMAGES", 2)
