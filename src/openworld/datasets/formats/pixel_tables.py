"""Data sets that come as one array of small pictures: from the array to an image set."""

import gzip
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from PIL import Image

from openworld._arrays import as_labels
from openworld._errors import OpenworldError
from openworld._plain import require_plain
from openworld.datasets.image_set import ImageSet

MOST_BYTES = 1 << 30
"""The most that a packed file may hold; the largest that is read holds 47 MB."""


@dataclass(frozen=True, eq=False)
class PixelTable:
    """All images of a part, in memory; refuses pixels of another type or shape, and labels of another number."""

    source: Path  # for messages
    pixels: np.ndarray  # uint8[N, H, W] grey, or uint8[N, H, W, 3]
    labels: np.ndarray  # int[N] from 0
    groups: np.ndarray | None = None  # int[N], see `ImageSet`; None where all images are independent

    def __post_init__(self):
        shape = self.pixels.shape
        if self.pixels.dtype != np.uint8 or len(shape) not in (3, 4) or shape[3:] not in ((), (3,)):
            raise OpenworldError(
                f"{self.source} holds {self.pixels.dtype}{list(shape)}, expected grey or RGB in uint8."
            )
        object.__setattr__(self, "labels", as_labels(self.labels, f"labels of {self.source}", len(self.pixels)))


def image_set(name: str, classnames: Sequence[str], table: PixelTable, chosen: np.ndarray | None = None) -> ImageSet:
    """The pictures of a table, or those of them at `chosen` (int[M]); the content is a hash of their pixels."""
    chosen = np.arange(len(table.labels)) if chosen is None else chosen
    pixels = np.ascontiguousarray(table.pixels[chosen])
    return ImageSet(
        name=name,
        domain="",
        classnames=tuple(classnames),
        labels=table.labels[chosen],
        groups=np.arange(len(chosen)) if table.groups is None else table.groups[chosen],
        content=hashlib.sha256(str(pixels.shape).encode() + pixels.data).hexdigest(),
        read=_PixelReader(pixels),
    )


@dataclass(frozen=True, eq=False)
class _PixelReader:
    """Picture i of an array."""

    pixels: np.ndarray

    def __call__(self, index: int) -> Image.Image:
        return Image.fromarray(self.pixels[index])


def unpacked(path: Path, file: BinaryIO) -> bytes:
    """Return all that a packed file holds, if that is no more than MOST_BYTES."""
    held = file.read(MOST_BYTES + 1)
    if len(held) > MOST_BYTES:
        raise OpenworldError(f"{path} unpacks to more than {MOST_BYTES:,} bytes, many times a data set; get it again.")
    return held


def read_bytes(path: Path) -> bytes:
    """Return the bytes of a file, or of the same with .gz behind its name, unpacked."""
    packed = path.with_name(path.name + ".gz")
    require_plain(path)
    require_plain(packed)
    try:
        if path.is_file():
            return path.read_bytes()
        with gzip.open(packed) as file:
            return unpacked(packed, file)
    except FileNotFoundError:
        raise OpenworldError(f"there is no file {path}, nor {packed.name}.") from None
    except (OSError, EOFError) as error:
        raise OpenworldError(f"{path} cannot be read ({error}); get it again.") from error
