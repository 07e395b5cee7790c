"""Patch rows and pixels that are computed when they are read and not kept: test images, read in order a few times.

What is read has the bytes that `encode` would have put on disk: batches of the same images go through the image tower.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from openworld.backbones import DualEncoder
from openworld.core.errors import OpenworldError
from openworld.core.types import checked
from openworld.datasets import ImageSet
from openworld.features import _shards
from openworld.features.encoding import Encoding, encode, fingerprint_of, rows_of_shards
from openworld.features.store import Features, ShardedArray


@checked
def stream(
    clip: DualEncoder,
    images: ImageSet,
    encoding: Encoding,
    *,
    cache: Path | None = None,
    allow_corrupt: int = 0,
    limit: int | None = None,
) -> Features:
    """What `encode` returns, with patch rows and pixels that are computed whenever they are read.

    Embeddings come from the cache, where they are made if they are not there.

    Args:
        encoding: without views, which are read in random order.
        clip, images, cache, allow_corrupt, limit: as for `encode`.

    Raises:
        OpenworldError: an encoding with views, and what `encode` raises; on reading, an image that was readable before
            and is not any more.
    """
    if encoding.views:
        raise OpenworldError(f"{encoding.views} views of each image cannot be streamed; encode them.")
    without = replace(encoding, patches=False, pixels=False)
    plain = encode(clip, images, without, cache=cache, allow_corrupt=allow_corrupt, limit=limit)
    kinds: dict[str, Any] = {"patches": _Patches} if encoding.patches else {}
    kinds |= {"pixels": _Pixels} if encoding.pixels else {}
    arrays = {
        name: ShardedArray([kind(clip, images, rows) for rows in rows_of_shards(images)]).take(plain.rows)
        for name, kind in kinds.items()
    }
    return replace(plain, fingerprint=fingerprint_of(clip, images, encoding), **arrays)


class _Streamed:
    """The rows of one shard, as if they were an array [N, ...] on disk."""

    dtype: np.dtype

    def __init__(self, clip: DualEncoder, images: ImageSet, rows: range):
        self.clip, self.images, self.rows = clip, images, rows
        self.shape = (len(rows), *self._shape(clip.config.image))
        self._known: dict[int, np.ndarray] = {}

    @staticmethod
    def _shape(config: Any) -> tuple[int, ...]:
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self.rows)


class _Pixels(_Streamed):
    dtype = np.dtype(np.uint8)

    @staticmethod
    def _shape(config) -> tuple[int, ...]:
        return 3, config.image_size, config.image_size

    def __getitem__(self, index) -> np.ndarray:
        (indices,) = index
        # A unit has the cores that its threads would have.
        return _shards.read_pixels(self.clip, self.images, [self.rows[row] for row in indices], torch.get_num_threads())


class _Patches(_Streamed):
    """Computed by whole batches, on which the last bits depend; those of the last reading are remembered."""

    dtype = np.dtype(np.float16)

    @staticmethod
    def _shape(config) -> tuple[int, ...]:
        return config.grid**2, config.width

    def __getitem__(self, index) -> np.ndarray:
        (indices,) = index
        batches = _shards.batches_of(self.clip, self.rows)
        size = len(batches[0])
        wanted = np.unique(indices // size)
        missing = [place for place in wanted.tolist() if place not in self._known]
        self._known = {place: self._known[place] for place in wanted.tolist() if place in self._known}
        wanted = [batches[place] for place in missing]
        computed = _shards.compute_batches(
            self.clip, self.images, [Encoding(patches=True)], wanted, torch.get_num_threads()
        )
        self._known |= {place: arrays["patches"] for place, (arrays,) in zip(missing, computed, strict=True)}
        patches = np.stack([self._known[row // size][row % size] for row in indices.tolist()])
        for row in indices[np.isnan(patches[:, 0, 0])]:
            self.images.image(self.rows[row])  # says why it cannot be read
            raise OpenworldError(f"image {self.rows[row]} of {self.images.name!r} could not be read a moment ago.")
        return patches
