"""What one shard of an image set holds in every encoding, computed batch by batch in one pass over the images.

The bytes are the same on any number of cores, and whatever else is computed in the same pass. The last bits of an
embedding depend on the size of its batch and on the threads that share a sum; both are fixed: on a CPU every core takes
small batches of its own, with one thread each, twice as fast on a small model as all cores on one large batch. On a GPU
large batches follow one another while the cores prepare the next one; at most two are held at a time.
"""

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any, TypeVar

import numpy as np
import torch
from PIL import Image

from openworld.backbones import DualEncoder
from openworld.core.errors import OpenworldError
from openworld.core.gpu_memory import BatchSize, cores_of_one_thread
from openworld.datasets import ImageSet
from openworld.features.augment import random_resized_crop

_CPU_BATCH_IMAGES = 16  # per core: bounds the memory of many cores with a large model
_BATCH_IMAGES = 128

Key = TypeVar("Key")
Arrays = dict[str, np.ndarray]
Computed = Mapping[tuple[int, str], np.ndarray]
"""(place of a look, "embeddings" or "patches") -> what the backbone gives for the batch."""


@dataclass(frozen=True, eq=False)
class SharedReading:
    """The looks that encodings take at each image of a set, in the backbone's size."""

    clip: DualEncoder
    images: ImageSet
    encodings: tuple

    @cached_property
    def views(self) -> dict[tuple, slice]:
        """Every draw that is wanted -> the places of its views among an image's looks; the image has place 0."""
        draws = dict.fromkeys(encoding.draw for encoding in self.encodings if encoding.views)
        starts = accumulate((views for views, *_ in draws), initial=1)
        return {draw: slice(start, start + draw[0]) for draw, start in zip(draws, starts, strict=False)}

    @cached_property
    def with_patches(self) -> set[int]:
        wanted = [encoding for encoding in self.encodings if encoding.patches]
        views = [self.views[encoding.draw] for encoding in wanted if encoding.views]
        return {0 for _ in wanted} | {place for part in views for place in range(part.start, part.stop)}

    def batch_size(self, images: int) -> BatchSize:
        """How many images go through the tower at once: as many as given, fewer where memory runs out."""
        return BatchSize(images, f"encoding images with {self.clip.name!r}")

    def read(self, row: int) -> np.ndarray | None:
        """[1 + V, ...] of an image, every look as `Preparation.prepare` gives it; None where it cannot be read."""
        try:
            image = self.images.image(row)
        except OpenworldError:
            return None
        size, views = self.clip.config.image.image_size, []
        for count, scale, seed in self.views:
            generator = np.random.default_rng([seed, row])
            views += [random_resized_crop(image, size, generator, scale=scale) for _ in range(count)]
        return np.stack([self.clip.preprocess.prepare(view) for view in (image, *views)])

    def stack(self, images: Sequence[np.ndarray | None]) -> tuple[torch.Tensor, np.ndarray]:
        """Return what was read as [B, 1 + V, ...], black where nothing could be, and where something was, bool[B]."""
        readable = np.array([image is not None for image in images])
        if not readable.all():
            black = self.clip.preprocess.prepare(Image.new("RGB", (64, 64)))
            blank = np.stack([black] * (1 + sum(views for views, *_ in self.views)))
            images = [blank if image is None else image for image in images]
        prepared = [image for image in images if image is not None]
        if prepared[0].dtype != np.uint8 and any(encoding.pixels for encoding in self.encodings):
            raise OpenworldError(
                f"{self.clip.name!r} prepares images in a way of its own, whose pixels are not kept; learners that "
                "look at pixels need a backbone of `openworld list backbones`."
            )
        pixels = torch.from_numpy(np.stack(prepared))
        # From pinned memory a GPU copies by itself, while this process goes on.
        return pixels.pin_memory() if self.clip.device.type == "cuda" else pixels, readable

    @torch.no_grad()
    def forward(self, pixels: torch.Tensor) -> Computed:
        """Return what the backbone gives for every look of prepared images [B, 1 + V, ...]."""
        # A look goes through the tower with the same look of the other images of its batch and nothing else, and
        # `encode_patches` gives the embeddings of `encode_image` to the last bit: what is computed for one encoding
        # does not depend on the others.
        arrays = {}
        for place, look in enumerate(pixels.to(self.clip.device, non_blocking=True).unbind(1)):
            scaled = self.clip.preprocess.scale(look).to(self.clip.dtype)
            if place in self.with_patches:
                tower: Any = self.clip  # one that gives patches
                embeddings, patches = tower.encode_patches(scaled)
                arrays[place, "patches"] = patches.half().cpu().numpy()
            else:
                embeddings = self.clip.encode_image(scaled)
            arrays[place, "embeddings"] = embeddings.float().cpu().numpy()
        return arrays

    def encode(self, pixels: torch.Tensor, readable: np.ndarray, size: BatchSize) -> list[Arrays]:
        """Return the arrays of one batch for every encoding, NaN where an image could not be read."""
        computed = _join(size.parts(lambda some: self.forward(pixels[some]), len(pixels)))
        for (_, name), array in computed.items():
            # NaN on disk says "could not be read"; a backbone that overflows must not say the same.
            if not np.isfinite(array[readable]).all():
                raise OpenworldError(
                    f"{self.clip.name!r} gives {name} that are not finite in {self.clip.dtype}; load it in float32."
                )
            array[~readable] = np.nan
        return [self._arrays_of(encoding, computed, pixels.numpy()) for encoding in self.encodings]

    def _arrays_of(self, encoding: Any, computed: Computed, pixels: np.ndarray) -> dict[str, np.ndarray]:
        """What one encoding keeps of a batch."""
        kinds = ("embeddings", "patches") if encoding.patches else ("embeddings",)
        arrays = {kind: computed[0, kind] for kind in kinds}
        views = self.views[encoding.draw] if encoding.views else slice(0)
        if encoding.views:
            names = {"embeddings": "views", "patches": "view_patches"}
            places = range(views.start, views.stop)
            arrays |= {names[kind]: np.stack([computed[place, kind] for place in places], axis=1) for kind in kinds}
        if encoding.pixels:
            arrays["pixels"] = pixels[:, 0]
        if encoding.pixels and encoding.views:
            arrays["view_pixels"] = pixels[:, views]
        return arrays


def compute_shards(
    clip: DualEncoder, images: ImageSet, encodings: Sequence, rows: range, cores: int | None = None
) -> list[Arrays]:
    """Return for every encoding its arrays of some images; rows are NaN (0 in pixels) where one is unreadable."""
    batches = compute_batches(clip, images, encodings, batches_of(clip, rows), cores)
    return [_join([batch[place] for batch in batches]) for place in range(len(encodings))]


def compute_batches(
    clip: DualEncoder, images: ImageSet, encodings: Sequence, batches: Sequence[range], cores: int | None = None
) -> list[list[Arrays]]:
    """Compute arrays of batches, all of `batches_of` or some of them: for every batch the arrays of every encoding."""
    if not batches:
        return []
    reading = SharedReading(clip, images, tuple(encodings))
    return (_on_cores if clip.device.type == "cpu" else _beside_gpu)(reading, batches, cores or os.cpu_count() or 1)


def _on_cores(reading: SharedReading, batches: Sequence[range], cores: int) -> list[list[Arrays]]:
    """The arrays of every batch, each read and encoded by one core."""

    def batch(some: range) -> list[Arrays]:
        return reading.encode(*reading.stack(list(map(reading.read, some))), reading.batch_size(len(some)))

    with cores_of_one_thread(cores) as pool:
        return list(pool.map(batch, batches))


def _beside_gpu(reading: SharedReading, batches: Sequence[range], cores: int) -> list[list[Arrays]]:
    """The arrays of every batch, encoded here while the cores prepare the next one."""
    encoded, size = [], reading.batch_size(max(map(len, batches)))
    with ThreadPoolExecutor(cores) as pool, ThreadPoolExecutor(1) as helper:

        def prepare(some: range) -> tuple[torch.Tensor, np.ndarray]:
            return reading.stack(list(pool.map(reading.read, some)))

        coming = [helper.submit(prepare, batches[0])]
        for following in (*batches[1:], None):
            ready = coming.pop().result()
            coming += [] if following is None else [helper.submit(prepare, following)]
            encoded.append(reading.encode(*ready, size))
    return encoded


def batches_of(clip: DualEncoder, rows: range) -> list[range]:
    """The images that go through the tower of a backbone together."""
    size = _CPU_BATCH_IMAGES if clip.device.type == "cpu" else _BATCH_IMAGES
    return [rows[start : start + size] for start in range(0, len(rows), size)]


def read_pixels(clip: DualEncoder, images: ImageSet, rows: Sequence[int], cores: int | None = None) -> np.ndarray:
    """Return images uint8[n, 3, H, W] in the backbone's size, without its tower."""

    def read(row: int) -> np.ndarray:
        return clip.preprocess.prepare(images.image(row))

    with ThreadPoolExecutor(cores or os.cpu_count()) as pool:
        return np.stack(list(pool.map(read, rows)))


def _join(parts: Sequence[Mapping[Key, np.ndarray]]) -> dict[Key, np.ndarray]:
    if len(parts) == 1:
        return dict(parts[0])
    return {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
