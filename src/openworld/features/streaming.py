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
    streamed: dict[str, Any] = {}
    for name in ("patches", "pixels"):
        if getattr(encoding, name):
            parts: list[Any] = [_Streamed(clip, images, rows, name) for rows in rows_of_shards(images)]
            streamed[name] = ShardedArray(parts).take(plain.rows)
    return replace(plain, fingerprint=fingerprint_of(clip, images, encoding), **streamed)


class _Streamed:
    """The rows of one shard, as if they were an array [N, ...] on disk."""

    def __init__(self, clip: DualEncoder, images: ImageSet, rows: range, name: str):
        config = clip.config.image
        self.clip, self.images, self.rows, self.is_patches = clip, images, rows, name == "patches"
        shape = (config.grid**2, config.width) if self.is_patches else (3, config.image_size, config.image_size)
        self.shape, self.dtype = (len(rows), *shape), np.dtype(np.float16 if self.is_patches else np.uint8)
        self._known: dict[int, np.ndarray] = {}

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index) -> np.ndarray:
        (indices,) = index
        if self.is_patches:
            return self._patches(indices)
        # A unit has the cores that its threads would have.
        return _shards.read_pixels(self.clip, self.images, [self.rows[row] for row in indices], torch.get_num_threads())

    def _patches(self, indices: np.ndarray) -> np.ndarray:
        """Compute whole batches, on which the last bits depend; those of the last reading are remembered."""
        batches = _shards.batches_of(self.clip, self.rows)
        size = len(batches[0])
        wanted = np.unique(indices // size).tolist()
        missing = [place for place in wanted if place not in self._known]
        computed = _shards.compute_batches(
            self.clip,
            self.images,
            [Encoding(patches=True)],
            [batches[place] for place in missing],
            torch.get_num_threads(),
        )
        ready = self._known | {place: arrays["patches"] for place, (arrays,) in zip(missing, computed, strict=True)}
        self._known = {place: ready[place] for place in wanted}
        patches = np.stack([ready[row // size][row % size] for row in indices.tolist()])
        for row in indices[np.isnan(patches[:, 0, 0])]:
            self.images.image(self.rows[row])  # says why it cannot be read
            raise OpenworldError(f"image {self.rows[row]} of {self.images.name!r} could not be read a moment ago.")
        return patches
