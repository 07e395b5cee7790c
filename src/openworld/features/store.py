"""Features on disk: safetensors shards beside a JSON manifest, written once, read through memory maps.

A shard is written with its checksum; the manifest, with every shard's SHA-256, is written last. A set is whole when it
has a manifest and every shard has its SHA-256; any other is finished by encoding what is missing or damaged.
"""

import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from openworld.core.errors import OpenworldError
from openworld.core.plain_files import parse_json
from openworld.core.representation import short_repr
from openworld.core.types import checked
from openworld.datasets.splits import ClassSplit
from openworld.features.cache import hold
from openworld.features.checksums import is_intact, noted, remove_with_checksum, write_with_checksum
from openworld.runs.atomic import write_file
from openworld.runs.lock import SharedLock

_DTYPES = {"F32": np.float32, "F16": np.float16, "U8": np.uint8}
_PER_IMAGE = ("views", "patches", "view_patches", "pixels", "view_pixels")


@checked
@dataclass(frozen=True)
class Features:
    """An encoded image set.

    Args:
        embeddings: float32[N, D], global embeddings, not normalised.
        labels: int64[N], indices into `classnames`.
        groups: int64[N], equal for images that are not independent (variations of one drawing).
        rows: int64[N], which images of the image set these are; an unreadable image is left out.
        classnames: C names.
        fingerprint: hash of what was encoded with what.
        views: float32[N, V, D], embeddings of V augmented views of each image, or None.
        patches: float16[N, P, W], patch rows of the image tower before the joint projection, or None.
        view_patches: float16[N, V, P, W], the same of the views, or None.
        pixels: uint8[N, 3, H, W], the resized and cropped images, or None.
        view_pixels: uint8[N, V, 3, H, W], the same of the views, or None.
        base_count: so many classes, the first, are base classes; None for the first half.
        fresh_views: whether training takes view e of every image in epoch e, so that no crop is seen twice; else one of
            them is drawn in every step.
    """

    embeddings: np.ndarray
    labels: np.ndarray
    groups: np.ndarray
    rows: np.ndarray
    classnames: tuple[str, ...]
    fingerprint: str
    views: np.ndarray | None = None
    patches: np.ndarray | None = None
    view_patches: np.ndarray | None = None
    pixels: np.ndarray | None = None
    view_pixels: np.ndarray | None = None
    base_count: int | None = None
    fresh_views: bool = False

    __repr__ = short_repr

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def split(self) -> ClassSplit:
        """Its class names cut into base and new ones."""
        return ClassSplit.of(self.classnames, count=self.base_count)

    def select(self, images: np.ndarray) -> "Features":
        """The images at these places, int64[n] or bool[N], in that order."""
        arrays = {name: getattr(self, name) for name in ("embeddings", "labels", "groups", "rows", *_PER_IMAGE)}
        return replace(self, **{name: take(array, images) for name, array in arrays.items() if array is not None})

    def of_classes(self, classes: np.ndarray) -> "Features":
        """All images of some classes, labels counted within them from 0.

        Args:
            classes: int64[c], distinct places in `classnames`, in the order that the new names shall have.

        >>> labels = np.array([0, 1, 2, 1])
        >>> three = Features(np.eye(4), labels, labels, labels, ("cat", "dog", "owl"), "made up")
        >>> three.of_classes([2, 1]).labels.tolist(), three.of_classes([2, 1]).classnames
        ([1, 0, 1], ('owl', 'dog'))
        """
        position = np.full(len(self.classnames), -1)
        position[classes] = np.arange(len(classes))
        chosen = self.select(np.flatnonzero(position[self.labels] >= 0))
        names = tuple(self.classnames[index] for index in classes)
        return replace(chosen, labels=position[chosen.labels], classnames=names, base_count=None)


def take(array: "np.ndarray | ShardedArray", rows: np.ndarray) -> "np.ndarray | ShardedArray":
    """Rows of an array; of one on disk without reading them."""
    return array.take(rows) if isinstance(array, ShardedArray) else array[rows]


class ShardedArray:
    """Rows of memory-mapped files, read by index as if they were one array [N, ...]."""

    # `held`: whatever must live as long as the array is read, such as the mark that its files are in use.
    # `array[rows, views]` reads one view of each row and nothing of the others.
    def __init__(self, parts: Sequence[np.ndarray], rows: np.ndarray | None = None, held: object = None):
        self._parts, self._held = parts, held
        self._starts = np.cumsum([0] + [len(part) for part in parts])
        self._rows = np.arange(self._starts[-1]) if rows is None else rows
        self.shape = (len(self._rows), *parts[0].shape[1:])
        self.dtype = parts[0].dtype

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        return self[:].astype(dtype or self.dtype, copy=False)

    def __getitem__(self, index) -> np.ndarray:
        rows, *inner = index if isinstance(index, tuple) else (index,)
        rows = self._rows[rows]
        flat = np.atleast_1d(rows)
        inner = [np.broadcast_to(places, flat.shape) for places in inner]
        result = np.empty((len(flat), *self.shape[1 + len(inner) :]), self.dtype)
        shards = np.searchsorted(self._starts, flat, side="right") - 1
        for shard in np.unique(shards):
            chosen = shards == shard
            local = flat[chosen] - self._starts[shard]
            result[chosen] = self._parts[shard][local, *(places[chosen] for places in inner)]
        return result[0] if rows.ndim == 0 else result

    def take(self, rows: np.ndarray) -> "ShardedArray":
        """The rows at int64[n] or bool[N], in that order; nothing is read yet."""
        return ShardedArray(self._parts, self._rows[rows], self._held)


@checked
class FeatureStore:
    """The folder of one encoded set: `shard-00000.safetensors`, ... and `manifest.json`."""

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)
        self._held: SharedLock | None = None

    def hold(self) -> None:
        """Mark the set as used now, and keep it from being removed while this store or an array of it is there."""
        self._held = hold(self.folder)

    @cached_property
    def manifest(self) -> dict | None:
        """What was written; None where there is none yet, or it is damaged, which is the same: it is written again."""
        try:
            manifest = parse_json((self.folder / "manifest.json").read_bytes())
        except (FileNotFoundError, ValueError):
            return None
        shards = manifest.get("shards") if isinstance(manifest, dict) else None
        whole = shards and isinstance(shards, list) and all(isinstance(each, str | None) for each in shards)
        return manifest if whole else None

    def shard_path(self, index: int) -> Path:
        """Where shard `index` stands once it is complete."""
        return self.folder / f"shard-{index:05d}.safetensors"

    def write_shard(self, index: int, arrays: dict[str, np.ndarray]) -> None:
        """Write one shard whole or not at all."""
        from safetensors.numpy import save

        # safetensors writes what is not contiguous in memory in the order of memory, without a word.
        content = save({key: np.ascontiguousarray(a) for key, a in arrays.items()})
        write_with_checksum(self.shard_path(index), content)

    def finish(self, shards: int, description: dict) -> None:
        """Write the manifest: the set is whole from here on."""
        checksums = [noted(self.shard_path(index)) for index in range(shards)]
        text = json.dumps(description | {"shards": checksums}, indent=1, sort_keys=True)
        write_file(self.folder / "manifest.json", text.encode())
        self.__dict__.pop("manifest", None)

    def array(self, name: str) -> ShardedArray | None:
        """The rows of one array over all shards, or None where it was not asked for."""
        maps = [self.shard(index, name) for index in range(len((self.manifest or {})["shards"]))]
        present = [each for each in maps if each is not None]
        return ShardedArray(present, held=self._held) if present else None

    def shard(self, index: int, name: str) -> np.ndarray | None:
        """One array of one shard, memory-mapped."""
        return memory_map(self.shard_path(index), name)

    def has_shard(self, index: int) -> bool:
        """Whether a shard is there, with the SHA-256 that it had when it was written; read once per process."""
        return is_intact(self.shard_path(index))

    def is_whole(self, shards: int) -> bool:
        """Whether the set has its manifest and all of so many shards, each as it was written."""
        return self.manifest is not None and all(map(self.has_shard, range(shards)))

    def remove_shard(self, index: int) -> None:
        """Take a shard away, so that it is encoded again."""
        remove_with_checksum(self.shard_path(index))


def _damaged(path: Path, what: str) -> OpenworldError:
    return OpenworldError(f"{path} {what}; delete the folder {path.parent} and encode again.")


def memory_map(path: Path, name: str) -> np.ndarray | None:
    """Return one array of a safetensors file, not read yet; None where it holds none of that name."""
    if not path.exists():
        raise _damaged(path, "is missing")
    try:
        with path.open("rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            header = parse_json(file.read(length))
    except (struct.error, ValueError, OverflowError, MemoryError) as error:
        raise _damaged(path, "is cut short or no safetensors file") from error
    end = max(entry["data_offsets"][1] for key, entry in header.items() if key != "__metadata__")
    if path.stat().st_size < 8 + length + end:
        raise _damaged(path, "is cut short")
    if name not in header:
        return None
    entry, start = header[name], header[name]["data_offsets"][0]
    return np.memmap(path, _DTYPES[entry["dtype"]], "r", offset=8 + length + start, shape=tuple(entry["shape"]))
