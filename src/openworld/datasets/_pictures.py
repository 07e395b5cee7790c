"""Decoding one picture, from a file or from memory: whole and in RGB, or an error that names it."""

import struct
import zlib
from pathlib import Path
from typing import BinaryIO

from PIL import Image

from openworld._errors import OpenworldError

FORMATS = {
    ".jpg": ("JPEG", "MPO"),
    ".jpeg": ("JPEG", "MPO"),
    ".png": ("PNG",),
    ".webp": ("WEBP",),
    ".bmp": ("BMP",),
    ".gif": ("GIF",),
    ".tif": ("TIFF",),
    ".tiff": ("TIFF",),
}
"""File ending -> what Pillow may find inside. Other files are no pictures and are passed over."""

KNOWN = tuple(sorted({kind for kinds in FORMATS.values() for kind in kinds}))
"""What Pillow may find in pictures whose endings are not ours to mend, because a published list names the files."""

# What Pillow raises for damaged files, found by feeding it damaged files.
_UNREADABLE = (
    OSError,
    SyntaxError,
    ValueError,
    EOFError,
    struct.error,
    zlib.error,
    Image.DecompressionBombError,
)


def decode(source: Path | BinaryIO, name: str, formats: tuple[str, ...] = KNOWN) -> Image.Image:
    """One picture, decoded whole, in RGB.

    Args:
        source: a file, or an open stream that can be sought in.
        name: of the picture, for messages.
        formats: what Pillow may find inside; others are refused.

    Raises:
        OpenworldError: names the picture: damaged, cut short, of another format, or of more than 8 bits a channel.
    """
    try:
        with Image.open(source) as picture:
            found = picture.format
            picture.load()
    except _UNREADABLE as error:
        raise OpenworldError(f"{name} cannot be read as a picture ({error}); replace or remove it.") from error
    if found not in formats:
        wanted = " or ".join(formats) or "no picture"
        raise OpenworldError(f"{name} holds a {found} picture, expected {wanted}; rename or convert it.")
    if picture.mode == "F" or picture.mode.startswith("I"):
        raise OpenworldError(f"{name} has more than 8 bits per channel (mode {picture.mode}); convert it to 8 bits.")
    # By way of RGBA, because Pillow warns when a palette with transparency goes straight to RGB.
    return (picture.convert("RGBA") if picture.mode == "P" else picture).convert("RGB")
