"""What one shard of an encoded set holds, computed batch by batch: the same bytes on any number of cores.

The last bits of an embedding depend on the size of its batch and on the threads that share a sum. Both are fixed: on a
CPU every core takes small batches of its own, with one thread each, which is also twice as fast on a small model as
all cores on one large batch. On a GPU large batches are encoded one after the other, while the cores read and prepare
the next one; at most two are held at a time.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch

from openworld._errors import OpenworldError
from openworld._memory import BatchSize
from openworld.features.augment import random_resized_crop

_CPU_BATCH_IMAGES = 16  # per core: bounds the memory of many cores with a large model
_BATCH_IMAGES = 128


def compute_shard(clip, images, encoding, rows: range, cores: int | None = None) -> dict[str, np.ndarray]:
    """The arrays of some images of a set, rows of NaN (0 in pixels) for those that cannot be read.

    Args:
        clip, images, encoding: as for `encode`.
        rows: which images, at least one.
        cores: how many to use; None for all.

    Raises:
        OpenworldError: an embedding that is not finite.
    """
    cores = cores or os.cpu_count()
    parts = (_on_cores if clip.device.type == "cpu" else _beside_gpu)(clip, images, encoding, rows, cores)
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _on_cores(clip, images, encoding, rows: range, cores: int) -> list[dict[str, np.ndarray]]:
    """The arrays of every batch, each read and encoded by one core."""

    def batch(some: range) -> dict[str, np.ndarray]:
        pictures = [_pictures(clip, images, encoding, row) for row in some]
        return _arrays(clip, _stack(clip, encoding, pictures), encoding, BatchSize(len(some), _doing(clip)))

    with _cores_of_one_thread(cores) as pool:
        return list(pool.map(batch, _cut(rows, _CPU_BATCH_IMAGES)))


def _beside_gpu(clip, images, encoding, rows: range, cores: int) -> list[dict[str, np.ndarray]]:
    """The arrays of every batch, encoded here while the cores prepare the next one."""
    size = BatchSize(_BATCH_IMAGES, _doing(clip))
    with ThreadPoolExecutor(cores) as pool:

        def prepare(some: range) -> "_Stack":
            pictures = list(pool.map(lambda row: _pictures(clip, images, encoding, row), some))
            return _stack(clip, encoding, pictures)

        return [_arrays(clip, stack, encoding, size) for stack in _one_ahead(prepare, _cut(rows, _BATCH_IMAGES))]


def _one_ahead(prepare: Callable[[range], "_Stack"], batches: Sequence[range]) -> Iterator["_Stack"]:
    """Every batch as prepared, while the one after it is being prepared in a thread."""
    with ThreadPoolExecutor(1) as helper:
        coming = helper.submit(prepare, batches[0])
        for following in batches[1:]:
            ready, coming = coming.result(), helper.submit(prepare, following)
            yield ready
        yield coming.result()


@contextmanager
def _cores_of_one_thread(cores: int | None) -> Iterator[ThreadPoolExecutor]:
    threads = torch.get_num_threads()
    try:
        with ThreadPoolExecutor(cores, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            yield pool
    finally:
        torch.set_num_threads(threads)  # what a thread sets for itself, torch also takes as the default of later ones


def _cut(rows: range, size: int) -> list[range]:
    return [rows[start : start + size] for start in range(0, len(rows), size)]


@dataclass(frozen=True, eq=False)
class _Stack:
    """Pictures of a batch and their views, uint8[B, 1 + V, 3, H, W], and which of them could be read, bool[B]."""

    pixels: torch.Tensor
    readable: np.ndarray


def _stack(clip, encoding, pictures: Sequence[np.ndarray | None]) -> _Stack:
    readable = np.array([stack is not None for stack in pictures])
    size = clip.config.image.image_size
    blank = np.zeros((1 + encoding.views, 3, size, size), np.uint8)
    pixels = torch.from_numpy(np.stack([blank if stack is None else stack for stack in pictures]))
    # From pinned memory a GPU copies by itself, while this process goes on.
    return _Stack(pixels.pin_memory() if clip.device.type == "cuda" else pixels, readable)


def _arrays(clip, stack: _Stack, encoding, size: BatchSize) -> dict[str, np.ndarray]:
    """The arrays of one batch."""
    pixels = stack.pixels
    parts = size.parts(lambda some: _forward(clip, pixels[some], encoding), len(pixels))
    arrays = parts[0] if len(parts) == 1 else {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
    for name, array in arrays.items():
        _require_finite(array[stack.readable], name, clip)
        array[~stack.readable] = np.nan
    if encoding.pixels:
        arrays["pixels"] = pixels[:, 0].numpy()
        if encoding.views:
            arrays["view_pixels"] = pixels[:, 1:].numpy()
    return arrays


def _doing(clip) -> str:
    return f"encoding pictures with {clip.name!r}"


def _require_finite(array: np.ndarray, name: str, clip) -> None:
    # NaN on disk says "could not be read"; a backbone that overflows must not say the same.
    if not np.isfinite(array).all():
        raise OpenworldError(
            f"{clip.name!r} gives {name} that are not finite in {clip.dtype}; load it in float32, or fetch it again."
        )


@torch.no_grad()
def _forward(clip, pixels: torch.Tensor, encoding) -> dict[str, np.ndarray]:
    """Everything the backbone gives for uint8[B, 1 + V, 3, H, W]: the pictures, then their views."""
    scaled = clip.preprocess.scale(pixels.to(clip.device, non_blocking=True)).to(clip.dtype)
    looks = [_look(clip, look, encoding.patches) for look in scaled.unbind(1)]
    arrays = dict(looks[0])
    if encoding.views:
        arrays["views"] = np.stack([look["embeddings"] for look in looks[1:]], axis=1)
    if encoding.views and encoding.patches:
        arrays["view_patches"] = np.stack([look["patches"] for look in looks[1:]], axis=1)
    return arrays


def _look(clip, pixels: torch.Tensor, patches: bool) -> dict[str, np.ndarray]:
    if not patches:
        return {"embeddings": clip.encode_image(pixels).float().cpu().numpy()}
    embeddings, rows = clip.encode_patches(pixels)
    return {"embeddings": embeddings.float().cpu().numpy(), "patches": rows.half().cpu().numpy()}


def _pictures(clip, images, encoding, row: int) -> np.ndarray | None:
    """uint8[1 + V, 3, H, W]: the plain picture, then its views; None where it cannot be read."""
    try:
        image = images.image(row)
    except OpenworldError:
        return None
    generator = np.random.default_rng([encoding.seed, row])
    size = clip.config.image.image_size
    views = [random_resized_crop(image, size, generator, scale=encoding.crop_scale) for _ in range(encoding.views)]
    pictures = [clip.preprocess.resize_and_crop(picture) for picture in (image, *views)]
    return np.stack([np.asarray(picture) for picture in pictures]).transpose(0, 3, 1, 2)
