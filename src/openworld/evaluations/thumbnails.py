"""Small pictures for a record: those that its report will show."""

import io
from collections.abc import Callable, Mapping

import numpy as np

from openworld.report import album


def thumbnails(table: Mapping[str, np.ndarray], picture: Callable, folder: str = "pictures") -> dict[str, bytes]:
    """64-pixel PNGs of the pictures that a report shows, as attachments by their id.

    Args:
        table: of images, as `image_table` gives it.
        picture: id -> PIL picture.
        folder: of the attachments.
    """
    ids = {int(table["id"][one.place]) for picked in album.choose(table).values() for one in picked}
    return {f"{folder}/{number}.png": thumbnail(picture(number)) for number in sorted(ids)}


def thumbnail(image) -> bytes:
    """A PIL picture as PNG, at most 64 pixels wide and high."""
    image.thumbnail((64, 64))
    file = io.BytesIO()
    image.save(file, "PNG", optimize=True)
    return file.getvalue()
