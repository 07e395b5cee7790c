"""What one shard of an encoded set holds, computed batch by batch: the same bytes on any number of cores.

The last bits of an embedding depend on the size of its batch and on the threads that share a sum. Both are fixed: on a
CPU every core takes small batches of its own, with one thread each, which is also twice as fast on a small model as
all cores on one large batch; on a GPU the cores read pictures and one large batch after the other is encoded.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import torch

from openworld._errors import OpenworldError
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
    if clip.device.type == "cpu":
        with _cores_of_one_thread(cores) as pool:
            parts = list(pool.map(lambda batch: _batch(clip, images, encoding, batch), _cut(rows, _CPU_BATCH_IMAGES)))
    else:
        with ThreadPoolExecutor(cores) as pool:
            parts = [_batch(clip, images, encoding, batch, pool.map) for batch in _cut(rows, _BATCH_IMAGES)]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


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


def _batch(clip, images, encoding, rows: range, spread: Callable[..., Iterable] = map) -> dict[str, np.ndarray]:
    """The arrays of one batch; `spread` maps the reading over the pictures."""
    pictures = list(spread(lambda row: _pictures(clip, images, encoding, row), rows))
    readable = np.array([stack is not None for stack in pictures])
    size = clip.config.image.image_size
    blank = np.zeros((1 + encoding.views, 3, size, size), np.uint8)
    pixels = torch.from_numpy(np.stack([blank if stack is None else stack for stack in pictures]))
    arrays = _forward(clip, pixels, encoding)
    for name, array in arrays.items():
        _require_finite(array[readable], name, clip)
        array[~readable] = np.nan
    if encoding.pixels:
        arrays["pixels"] = pixels[:, 0].numpy()
        if encoding.views:
            arrays["view_pixels"] = pixels[:, 1:].numpy()
    return arrays


def _require_finite(array: np.ndarray, name: str, clip) -> None:
    # NaN on disk says "could not be read"; a backbone that overflows must not say the same.
    if not np.isfinite(array).all():
        raise OpenworldError(
            f"{clip.name!r} gives {name} that are not finite in {clip.dtype}; load it in float32, or fetch it again."
        )


@torch.no_grad()
def _forward(clip, pixels: torch.Tensor, encoding) -> dict[str, np.ndarray]:
    """Everything the backbone gives for uint8[B, 1 + V, 3, H, W]: the pictures, then their views."""
    scaled = clip.preprocess.scale(pixels.to(clip.device)).to(clip.dtype)
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
