"""Encode an image set with a frozen backbone, once: resumable by shard, keyed by what determines the numbers."""

import hashlib
import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NoReturn

import numpy as np
import torch

from openworld._arrays import require_at_least
from openworld._errors import OpenworldError
from openworld.features.augment import random_resized_crop
from openworld.features.store import Features, FeatureStore

_SHARD_IMAGES = 1024
_BATCH_IMAGES = 128  # fixed: the last bits of an embedding may depend on its batch, and shards must be repeatable
_LAYOUT_VERSION = 4


@dataclass(frozen=True)
class Encoding:
    """What is computed of every image.

    Args:
        views: number V of augmented views for training; 0 for test images.
        crop_scale: smallest and largest share of the area that a view keeps, 0 < smallest <= largest <= 1.
        seed: of the views' draws, not negative.
        patches: keep patch rows too (float16), of the picture and of its views.
        pixels: keep the resized and cropped pictures themselves too (uint8), and the views'.

    Raises:
        OpenworldError: a number outside its range.

    >>> Encoding(views=8).crop_scale
    (0.08, 1.0)
    """

    views: int = 0
    crop_scale: tuple[float, float] = (0.08, 1.0)
    seed: int = 0
    patches: bool = False
    pixels: bool = False

    def __post_init__(self):
        require_at_least(0, views=self.views, seed=self.seed)
        smallest, largest = self.crop_scale
        if not 0 < smallest <= largest <= 1:
            raise OpenworldError(
                f"crop_scale is {smallest:g} to {largest:g}, expected two shares of the area in order, in (0, 1]."
            )


def default_cache() -> Path:
    """Where features are kept: `$OPENWORLD_CACHE`, or `~/.cache/openworld`, with `/features` appended."""
    return Path(os.environ.get("OPENWORLD_CACHE", Path.home() / ".cache" / "openworld")) / "features"


def encode(
    clip,
    images,
    encoding: Encoding = Encoding(),
    *,
    cache: Path | None = None,
    allow_corrupt: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Features:
    """Embeddings of every image of a set, read from disk where they were computed before.

    Args:
        clip: backbone of `openworld.backbones.load`.
        images: image set (`openworld.datasets`): labels, groups, classnames, fingerprint, `image(i)`.
        encoding: what to compute.
        cache: folder that holds encoded sets; None for `default_cache()`.
        allow_corrupt: how many unreadable images may be left out; the first one more stops the run.
        progress: called with (images done, images in all) after every shard; never for a set that is on disk.

    Returns:
        `Features` of the readable images, memory-mapped views and patches.

    Raises:
        OpenworldError: an empty set, more than `allow_corrupt` unreadable images, an embedding that is not finite, or
            a damaged set on disk.
    """
    if len(images) == 0:
        raise OpenworldError(f"image set {images.name!r} is empty; there is nothing to encode.")
    store = _store(clip, images, encoding, cache)
    if store.manifest is None:
        _encode_missing_shards(store, clip, images, encoding, allow_corrupt, progress)
    return _read(store, images, allow_corrupt)


def is_encoded(clip, images, encoding: Encoding = Encoding(), *, cache: Path | None = None) -> bool:
    """Whether `encode` with the same arguments would only read from disk."""
    return _store(clip, images, encoding, cache).manifest is not None


def _store(clip, images, encoding: Encoding, cache: Path | None) -> FeatureStore:
    return FeatureStore(Path(cache or default_cache()) / _key(clip, images, encoding))


def _key(clip, images, encoding: Encoding) -> str:
    parts = {
        "backbone": clip.fingerprint,
        "preprocess": clip.preprocess_fingerprint,
        "dtype": str(clip.dtype),
        "images": images.fingerprint,
        "encoding": asdict(encoding),
        "layout": _LAYOUT_VERSION,
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


def _encode_missing_shards(store, clip, images, encoding, allow_corrupt, progress) -> None:
    total = len(images)
    starts, corrupt = range(0, total, _SHARD_IMAGES), []
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        for index, start in enumerate(starts):
            stop = min(start + _SHARD_IMAGES, total)
            if not store.shard_path(index).exists():
                store.write_shard(index, _shard(clip, images, encoding, range(start, stop), pool))
            corrupt += _corrupt_rows(store, index, start)
            if len(corrupt) > allow_corrupt:
                _give_up(store, images, index, corrupt[-1])
            if progress:
                progress(stop, total)
    description = {
        "images": images.fingerprint,
        "backbone": clip.fingerprint,
        "count": total,
        "name": images.name,
        "domain": images.domain,
        "model": clip.name,
    }
    store.finish(len(starts), description | {"encoding": asdict(encoding)})


def _corrupt_rows(store: FeatureStore, index: int, start: int) -> list[int]:
    """Images of a shard that could not be read: their embeddings are NaN."""
    return [start + int(row) for row in np.flatnonzero(np.isnan(store.shard(index, "embeddings")[:, 0]))]


def _give_up(store: FeatureStore, images, index: int, row: int) -> NoReturn:
    # The shard goes, so that its images are read again once they are repaired.
    store.shard_path(index).unlink()
    images.image(row)
    raise OpenworldError(f"image {row} of {images.name!r} could not be read a moment ago, and can now; start again.")


def _shard(clip, images, encoding, rows, pool) -> dict[str, np.ndarray]:
    batches = [rows[start : start + _BATCH_IMAGES] for start in range(0, len(rows), _BATCH_IMAGES)]
    parts = [_batch(clip, images, encoding, batch, pool) for batch in batches]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _batch(clip, images, encoding, rows, pool) -> dict[str, np.ndarray]:
    pictures = list(pool.map(lambda row: _pictures(clip, images, encoding, row), rows))
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
def _forward(clip, pixels: torch.Tensor, encoding: Encoding) -> dict[str, np.ndarray]:
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


def _pictures(clip, images, encoding: Encoding, row: int) -> np.ndarray | None:
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


def _read(store: FeatureStore, images, allow_corrupt: int) -> Features:
    embeddings = np.asarray(store.array("embeddings"))
    readable = ~np.isnan(embeddings[:, 0])
    unreadable = int((~readable).sum())
    if unreadable > allow_corrupt:
        raise OpenworldError(
            f"{unreadable} of {len(images)} images of {images.name!r} could not be read, {allow_corrupt} allowed; "
            f"repair them and delete {store.folder}, or allow as many."
        )
    kept = np.flatnonzero(readable)
    arrays = {name: store.array(name) for name in ("views", "patches", "view_patches", "pixels", "view_pixels")}
    return Features(
        embeddings=embeddings[kept],
        labels=np.asarray(images.labels)[kept],
        groups=np.asarray(images.groups)[kept],
        rows=kept,
        classnames=tuple(images.classnames),
        fingerprint=store.folder.name,
        **{name: array if array is None or not unreadable else array.take(kept) for name, array in arrays.items()},
    )
