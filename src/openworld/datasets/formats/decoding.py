"""Decoding one image, from a file or from memory: whole and in RGB, or an error that names it.

Only the formats of KNOWN are ever opened. `PIL.Image.open` would try every format that Pillow knows, and start
Ghostscript for PostScript, whatever the file is called; it would also warn on standard error of a large image before
its size could be asked for.
"""

import struct
import zlib
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import BinaryIO

from PIL import BmpImagePlugin, GifImagePlugin, Image, JpegImagePlugin, PngImagePlugin, TiffImagePlugin, WebPImagePlugin

from openworld.core.errors import OpenworldError
from openworld.core.plain_files import require_plain

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
"""File ending -> the formats that a file of that name may have. Other files are no images and are passed over."""

KNOWN = tuple(sorted({kind for kinds in FORMATS.values() for kind in kinds}))
"""The formats of images whose endings are not ours to mend, because a published list names the files."""

MOST_PIXELS = 89_478_485
"""The most pixels that an image may have: as many as Pillow itself decodes without a warning, 256 MiB in RGB."""

_READERS: tuple[tuple[bytes, Callable[[BinaryIO], Image.Image]], ...] = (
    (b"\xff\xd8\xff", JpegImagePlugin.jpeg_factory),  # of MPO too
    (b"\x89PNG\r\n\x1a\n", PngImagePlugin.PngImageFile),
    (b"RIFF", WebPImagePlugin.WebPImageFile),
    (b"BM", BmpImagePlugin.BmpImageFile),
    (b"GIF8", GifImagePlugin.GifImageFile),
    (b"II", TiffImagePlugin.TiffImageFile),
    (b"MM", TiffImagePlugin.TiffImageFile),
)
"""The first bytes of a file -> what reads it; every reader looks at the rest of the header itself."""

# What Pillow raises for damaged files, found by feeding it damaged files.
_UNREADABLE = (
    OSError,
    SyntaxError,
    ValueError,
    EOFError,
    IndexError,
    TypeError,
    struct.error,
    zlib.error,
    Image.DecompressionBombError,
)


def decode(source: Path | BinaryIO, name: str, formats: tuple[str, ...] = KNOWN) -> Image.Image:
    """Return an image, whole and in RGB; refuse other formats, more than MOST_PIXELS, more than 8 bits a channel."""
    if isinstance(source, Path):
        require_plain(source)
    try:
        with source.open("rb") if isinstance(source, Path) else nullcontext(source) as stream:
            stream.seek(0)
            beginning = stream.read(8)
            stream.seek(0)
            reader = next((reader for first, reader in _READERS if beginning.startswith(first)), None)
            if reader is None:
                raise OSError(f"it is of none of the formats {', '.join(KNOWN)}" if beginning else "it is empty")
            image = reader(stream)
            if image.format not in formats:
                wanted = " or ".join(formats) or "no image"
                raise OpenworldError(f"{name} holds a {image.format} image, expected {wanted}; rename or convert it.")
            width, height = image.size
            if width * height > MOST_PIXELS:
                raise OpenworldError(
                    f"{name} has {width:,} x {height:,} pixels, over the limit of {MOST_PIXELS:,}; shrink it."
                )
            image.load()
    except OpenworldError:
        raise
    except _UNREADABLE as error:
        raise OpenworldError(f"{name} cannot be read as an image ({error}); replace or remove it.") from error
    if image.mode == "F" or image.mode.startswith("I"):
        raise OpenworldError(f"{name} has more than 8 bits per channel (mode {image.mode}); convert it to 8 bits.")
    # By way of RGBA, because Pillow warns when a palette with transparency goes straight to RGB.
    return (image.convert("RGBA") if image.mode == "P" else image).convert("RGB")
