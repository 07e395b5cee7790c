"""Encode an image set with a frozen backbone, once: resumable by shard, keyed by what determines the numbers.

`encode` does all that is missing, `encode_together` in several encodings with one pass over the images;
`missing_shards` and `encode_shard` let other processes do shards of it before, in any order: the bytes are the same.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, NoReturn

import numpy as np
import torch

from openworld.backbones.devices import tf32_allowed
from openworld.backbones.dual_encoder import DualEncoder, EncoderConfig
from openworld.core.arrays import MOST
from openworld.core.errors import OpenworldError
from openworld.core.types import Count, Positive, Range, checked
from openworld.datasets import DATASETS, ImageSet
from openworld.features._shards import compute_shards
from openworld.features.cache import default_cache, hold, reserve
from openworld.features.store import Features, FeatureStore
from openworld.runs.lock import SharedLock

_SHARD_IMAGES = 1024
_LAYOUT_VERSION = 5
EMBEDDED_CROP = (0.5, 1.0)
PUBLISHED_CROP = (0.08, 1.0)


@checked
@dataclass(frozen=True)
class Encoding:
    """What is computed of every image.

    Args:
        views: number V of augmented views for training; 0 for test images.
        crop_scale: smallest and largest share of the area that a view keeps, 0 < smallest <= largest <= 1.
        seed: of the views' draws, not negative.
        patches: keep patch rows too (float16), of the image and of its views.
        pixels: keep the resized and cropped images themselves too (uint8), and the views'.

    Raises:
        OpenworldError: a number outside its range.

    >>> Encoding(views=8).crop_scale
    (0.08, 1.0)
    """

    views: Annotated[int, Range(0, MOST["views"])] = 0
    crop_scale: tuple[float, float] = (0.08, 1.0)
    seed: int = 0
    patches: bool = False
    pixels: bool = False

    def __post_init__(self):
        smallest, largest = self.crop_scale
        if not 0 < smallest <= largest <= 1:
            raise OpenworldError(f"crop_scale is {smallest:g} to {largest:g}, expected two shares in order, in (0, 1].")

    @property
    def draw(self) -> tuple[int, tuple[float, float], int]:
        """What determines the views: encodings with the same draw share them."""
        return self.views, self.crop_scale, self.seed


def usual_crop_scale(dataset: str) -> tuple[float, float]:
    """Return the smallest and largest share of an image that a view keeps."""
    # As published, but half for embedded images: they are 64 pixels wide and mostly blank, 8 % would often show
    # nothing.
    card = DATASETS.get(dataset)
    return EMBEDDED_CROP if card is not None and not card.download else PUBLISHED_CROP


@checked
def count_looks(encodings: Iterable[Encoding]) -> int:
    """How often the image tower sees each image when a set is encoded in these ways together.

    >>> count_looks([Encoding(), Encoding(views=8), Encoding(views=8, patches=True)])
    9
    """
    return 1 + sum(views for views, *_ in {encoding.draw for encoding in encodings})


@checked
def encode(
    clip: DualEncoder,
    images: ImageSet,
    encoding: Encoding = Encoding(),
    *,
    cache: Path | None = None,
    allow_corrupt: int = 0,
    limit: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Features:
    """Embeddings of every image of a set, read from disk where they were computed before.

    What is on disk is compared with its checksums, once per process; what is missing or damaged is encoded again.

    Args:
        clip: any backbone of `openworld.backbones.load`; patches and pixels need one whose towers are ours.
        images: image set (`openworld.datasets`): labels, groups, classnames, fingerprint, `image(i)`.
        encoding: what to compute.
        cache: folder that holds encoded sets; None for `default_cache()`.
        allow_corrupt: how many unreadable images may be left out; the first one more stops the run.
        limit: bytes that the cache may have: sets used longest ago, which nobody reads, are removed to make room; None
            for no limit.
        progress: called with (images done, images in all) after every shard; never for a set that is on disk.

    Returns:
        `Features` of the readable images, memory-mapped views and patches.

    Raises:
        OpenworldError: an empty set, more than `allow_corrupt` unreadable images, an embedding that is not finite, a
            limit below what this set needs.
    """
    options = {"cache": cache, "allow_corrupt": allow_corrupt, "limit": limit, "progress": progress}
    return encode_together(clip, images, [encoding], **options)[0]


@checked
def encode_together(
    clip: DualEncoder,
    images: ImageSet,
    encodings: Sequence[Encoding],
    *,
    cache: Path | None = None,
    allow_corrupt: int = 0,
    limit: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Features]:
    """Encode an image set in several ways: every image is read once, cropped once and seen once by the image tower.

    What is kept on disk and what comes back is what `encode` would give for each encoding alone, to the last bit.

    Args:
        encodings: at least one.
        clip, images, cache, allow_corrupt, limit, progress: as for `encode`.

    Returns:
        `Features` for every encoding.

    Raises:
        OpenworldError: what `encode` raises.
    """
    if len(images) == 0:
        raise OpenworldError(f"image set {images.name!r} is empty; there is nothing to encode.")
    if (embeddings := images.embeddings) is not None:
        return [_given(clip, images, embeddings, one) for one in encodings]
    stores = _stores(clip, images, encodings, cache)
    for store in stores.values():
        store.hold()
    missing = _missing_in(stores, images)
    if missing:
        sizes = {store.folder: encoded_size(clip.config, encoding, len(images)) for encoding, store in missing.items()}
        spoken_for = None if limit is None else reserve(sizes, limit)
        shards, corrupt = rows_of_shards(images), []
        for index, rows in enumerate(shards):
            corrupt += _write_shard(missing, clip, images, index)
            if len(corrupt) > allow_corrupt:
                _give_up(missing, images, index, corrupt[-1])
            if progress:
                progress(rows.stop, len(images))
        description = {"images": images.fingerprint, "backbone": clip.fingerprint, "count": len(images)}
        description |= {"name": images.name, "domain": images.domain, "model": clip.name}
        for encoding, store in missing.items():
            store.finish(len(shards), description | {"encoding": asdict(encoding)})
        del spoken_for
    return [_read(stores[encoding], images, allow_corrupt) for encoding in encodings]


@checked
def is_encoded(
    clip: DualEncoder, images: ImageSet, encoding: Encoding = Encoding(), *, cache: Path | None = None
) -> bool:
    """Whether `encode` with the same arguments would only read from disk."""
    return images.embeddings is not None or not _missing_in(_stores(clip, images, [encoding], cache), images)


@checked
def hold_set(
    clip: DualEncoder, images: ImageSet, encoding: Encoding = Encoding(), *, cache: Path | None = None
) -> SharedLock | None:
    """Keep an encoded set from being removed while what is returned lives; see `cache.hold`."""
    return hold(_stores(clip, images, [encoding], cache)[encoding].folder)


@checked
def missing_shards(
    clip: DualEncoder,
    images: ImageSet,
    encodings: Sequence[Encoding],
    *,
    cache: Path | None = None,
    among: Iterable[int] | None = None,
) -> dict[int, int]:
    """Return {number of a shard: images in it} of what `encode_together` with the same arguments would compute.

    Args:
        clip, images, encodings, cache: as for `encode_together`.
        among: numbers of the shards to look for; None for all.
    """
    if images.embeddings is not None:
        return {}
    stores, rows = _stores(clip, images, encodings, cache).values(), rows_of_shards(images)
    shards = range(len(rows)) if among is None else list(among)
    for index in shards:
        _require_shard(index, rows)
    return {index: len(rows[index]) for index in shards if not all(store.has_shard(index) for store in stores)}


@checked
def encode_shard(
    clip: DualEncoder,
    images: ImageSet,
    encodings: Sequence[Encoding],
    index: int,
    *,
    cache: Path | None = None,
    allow_corrupt: Count = 0,
    cores: Positive | None = None,
) -> None:
    """Do one shard of what `encode_together` with the same arguments does; what is on disk stays.

    Args:
        index: a number from `missing_shards`.
        clip, images, encodings, cache: as for `encode_together`.
        allow_corrupt: how many unreadable images this shard may hold; `encode` counts them over the whole set.
        cores: how many to use; None for all.

    Raises:
        OpenworldError: more unreadable images than that, an embedding that is not finite.
    """
    _require_shard(index, rows_of_shards(images))
    stores = _stores(clip, images, encodings, cache)
    corrupt = _write_shard(stores, clip, images, index, cores)
    if len(corrupt) > allow_corrupt:
        _give_up(stores, images, index, corrupt[-1])


def _require_shard(index: int, rows: Sequence) -> None:
    if not 0 <= index < len(rows):
        raise OpenworldError(f"there is no shard {index}; these images have {len(rows)}, counted from 0.")


@checked
def encoded_size(config: EncoderConfig, encoding: Encoding, count: Count) -> int:
    """Bytes on disk of so many images in an encoding, at most: heads and checksums are taken for a little more.

    Args:
        config: of the backbone: `clip.config`.

    Per image and view embeddings float32[D], patch rows float16[P, W] and pixels uint8[3, H, H].
    """
    image = config.image
    patches = 2 * image.grid**2 * image.width if encoding.patches else 0
    pixels = 3 * image.image_size**2 * encoding.pixels
    heads = 1500 + 1000 * -(-count // _SHARD_IMAGES)
    return heads + count * (1 + encoding.views) * (4 * config.joint_dimension + patches + pixels)


def _stores(
    clip: DualEncoder, images: ImageSet, encodings: Sequence[Encoding], cache: Path | None
) -> dict[Encoding, FeatureStore]:
    folder = Path(cache or default_cache())
    return {encoding: FeatureStore(folder / fingerprint_of(clip, images, encoding)) for encoding in encodings}


def _missing_in(stores: Mapping[Encoding, FeatureStore], images: ImageSet) -> dict[Encoding, FeatureStore]:
    shards = len(rows_of_shards(images))
    return {encoding: store for encoding, store in stores.items() if not store.is_whole(shards)}


@checked
def fingerprint_of(clip: DualEncoder, images: ImageSet, encoding: Encoding) -> str:
    """The name of an encoded set: a hash of weights, preprocessing, images and encoding."""
    parts = {
        "backbone": clip.fingerprint,
        "preprocess": clip.preprocess_fingerprint,
        "dtype": str(clip.dtype),
        "images": images.fingerprint,
        "encoding": asdict(encoding),
        "layout": _LAYOUT_VERSION,
    }
    if clip.dtype == torch.float32 and tf32_allowed():
        parts["dtype"] = "tf32"
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


def rows_of_shards(images: ImageSet) -> list[range]:
    starts = range(0, len(images), _SHARD_IMAGES)
    return [range(start, min(start + _SHARD_IMAGES, len(images))) for start in starts]


def _write_shard(stores, clip: DualEncoder, images: ImageSet, index: int, cores: int | None = None) -> list[int]:
    """Encode a shard in every way that it is not on disk; returns which of its images could not be read."""
    missing = {encoding: store for encoding, store in stores.items() if not store.has_shard(index)}
    if missing:
        computed = compute_shards(clip, images, list(missing), rows_of_shards(images)[index], cores)
        for store, arrays in zip(missing.values(), computed, strict=True):
            store.write_shard(index, arrays)
    # Embeddings of images that could not be read are NaN.
    unreadable = [np.flatnonzero(np.isnan(store.shard(index, "embeddings")[:, 0])) for store in stores.values()]
    return sorted({index * _SHARD_IMAGES + row for rows in unreadable for row in rows.tolist()})


def _give_up(stores: Mapping[Encoding, FeatureStore], images: ImageSet, index: int, row: int) -> NoReturn:
    # The shard goes, so that its images are read again once they are repaired.
    for store in stores.values():
        store.remove_shard(index)
    images.image(row)
    raise OpenworldError(f"image {row} of {images.name!r} could not be read a moment ago, and can now; start again.")


def _given(clip: DualEncoder, images: ImageSet, embeddings: np.ndarray, encoding: Encoding) -> Features:
    """What images that came embedded are to a learner: their embeddings; of views, whoever needs them finds none."""
    if encoding.patches or encoding.pixels:
        raise OpenworldError(
            f"{images.name} holds embeddings, and {'patches' if encoding.patches else 'pixels'} of its images are "
            "needed; learners and detectors that read embeddings alone run on it, others need the images."
        )
    width, expected = embeddings.shape[1], clip.config.joint_dimension
    if width != expected:
        raise OpenworldError(
            f"{images.name} holds embeddings of {width} numbers, and those of {clip.name!r} have {expected}; name as "
            "backbone the model that made them, or the file that holds its embeddings of class names."
        )
    return Features(
        embeddings=embeddings,
        labels=np.asarray(images.labels),
        groups=np.asarray(images.groups),
        rows=np.arange(len(images)),
        classnames=tuple(images.classnames),
        fingerprint=fingerprint_of(clip, images, encoding),
    )


def _read(store: FeatureStore, images: ImageSet, allow_corrupt: int) -> Features:
    embeddings = np.asarray(store.array("embeddings"))
    readable = ~np.isnan(embeddings[:, 0])
    unreadable = int((~readable).sum())
    if unreadable > allow_corrupt:
        raise OpenworldError(
            f"{unreadable} of {len(images)} images of {images.name!r} could not be read, {allow_corrupt} allowed; "
            f"repair them and delete {store.folder}, or allow as many."
        )
    rows = np.flatnonzero(readable)
    names = ("views", "patches", "view_patches", "pixels", "view_pixels")
    arrays: dict[str, Any] = {name: store.array(name) for name in names}
    return Features(
        embeddings=embeddings[rows],
        labels=np.asarray(images.labels)[rows],
        groups=np.asarray(images.groups)[rows],
        rows=rows,
        classnames=tuple(images.classnames),
        fingerprint=store.folder.name,
        base_count=images.base_count,
        **{name: array if array is None or not unreadable else array.take(rows) for name, array in arrays.items()},
    )
