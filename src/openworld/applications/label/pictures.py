"""Images for the labelling page: read, made no larger than a person needs, and kept within the page or beside it."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from openworld._errors import OpenworldError
from openworld._observer import Progress
from openworld._short_repr import short_repr
from openworld.datasets.formats.decoding import decode
from openworld.report.data_files import data_address

SIDE, QUALITY = 640, 85  # the longest side in pixels, and what JPEG calls quality
PAGE_BYTES = 40_000_000  # of images within the page; beyond, browsers are slow to open it


@dataclass(frozen=True)
class Pictures:
    """Images as the page shows them.

    Args:
        addresses: of each image, its data or its path beside the page; empty where the stream names no images.
        widths: in pixels.
        files: {relative path: content} of those that lie beside the page.
    """

    addresses: tuple[str, ...] = ()
    widths: tuple[int, ...] = ()
    files: dict[str, bytes] | None = None

    __repr__ = short_repr

    @property
    def beside(self) -> bool:
        """Whether they lie in a folder beside the page."""
        return bool(self.files)


def read_pictures(
    paths: Sequence[str], near: Path | None, progress: Progress, folder: str = "images", most: int | None = None
) -> Pictures:
    """Read images and make them fit for the page.

    Args:
        paths: as the stream names them; relative ones to the current folder, or to `near`.
        near: the folder of the stream's file.
        progress: hears how many are read.
        folder: beside the page, for more images than it holds.
        most: bytes of all images together up to which they lie within the page; None for PAGE_BYTES.

    Raises:
        OpenworldError: an image that is not there or cannot be read.
    """
    contents, widths = [], []
    for place, path in enumerate(paths):
        progress("reading images", place, len(paths))
        content, width = _jpeg(_found(path, near))
        contents.append(content)
        widths.append(width)
    if sum(map(len, contents)) * 4 / 3 <= (PAGE_BYTES if most is None else most):
        return Pictures(tuple(data_address("image/jpeg", content) for content in contents), tuple(widths))
    digits = len(str(len(contents)))
    names = [f"{folder}/{place:0{digits}}.jpg" for place in range(1, len(contents) + 1)]
    return Pictures(tuple(names), tuple(widths), dict(zip(names, contents, strict=True)))


def _found(path: str, near: Path | None) -> Path:
    places = [Path(path)] if near is None or Path(path).is_absolute() else [Path(path), near / path]
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        looked = " and ".join(str(place.parent.resolve()) for place in places)
        raise OpenworldError(
            f"there is no image {path!r} of the stream (looked in {looked}); start in the folder that its paths are "
            "relative to, or say --no-pictures for a worksheet without images."
        )
    return found


def _jpeg(path: Path) -> tuple[bytes, int]:
    """Return a JPEG of an image, at most SIDE pixels wide and high, and its width."""
    from PIL import Image, ImageOps

    image, file = ImageOps.exif_transpose(decode(path, str(path))), io.BytesIO()
    image.thumbnail((SIDE, SIDE), Image.Resampling.LANCZOS)
    image.save(file, "JPEG", quality=QUALITY, optimize=True)
    return file.getvalue(), image.width
