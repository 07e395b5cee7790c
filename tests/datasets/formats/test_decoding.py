"""Decoding one image: only the promised formats are opened, and nothing of any size is."""

import io
import os
import struct
import warnings
import zlib

import pytest
from PIL import Image

from openworld import OpenworldError
from openworld.datasets.formats import decoding, folder

POSTSCRIPT = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 8 8\n%%EndComments\n0 0 8 8 rectfill\nshowpage\n%%EOF\n"


def large_png(width: int, height: int) -> bytes:
    """A PNG of few bytes that says it has many pixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", b"") + chunk(b"IEND", b"")


@pytest.mark.parametrize("formats", [("PNG",), decoding.KNOWN, ()])
def test_postscript_under_another_name_starts_no_program(tmp_path, monkeypatch, formats):
    program, started, path = tmp_path / "bin" / "gs", tmp_path / "started", tmp_path / "cat.png"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho 10.0\ntouch '{started}'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    path.write_bytes(POSTSCRIPT)
    for source in (path, io.BytesIO(POSTSCRIPT)):
        with pytest.raises(OpenworldError, match="cat.png cannot be read as an image"):
            decoding.decode(source, str(path), formats)
    assert not started.exists()


@pytest.mark.parametrize("kind", ["ICO", "PPM", "TGA", "JPEG2000", "PCX"])
def test_only_the_formats_of_the_table_are_opened(kind):
    file = io.BytesIO()
    Image.new("RGB", (16, 16)).save(file, kind)
    with pytest.raises(OpenworldError, match="other cannot be read.*none of the formats"):
        decoding.decode(file, "other")


@pytest.mark.parametrize("side", [9_500, 60_000])
def test_an_image_of_too_many_pixels_is_refused_without_a_warning(tmp_path, side):
    (tmp_path / "bomb.png").write_bytes(large_png(side, side))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with pytest.raises(OpenworldError, match=rf"bomb.png has {side:,} x {side:,} pixels"):
            folder.read_image(tmp_path / "bomb.png")
    assert not told


def test_an_image_of_as_many_pixels_as_are_allowed_is_read(monkeypatch):
    monkeypatch.setattr(decoding, "MOST_PIXELS", 12)
    small, large = io.BytesIO(), io.BytesIO()
    Image.new("RGB", (3, 4)).save(small, "PNG")
    Image.new("RGB", (13, 1)).save(large, "PNG")
    assert decoding.decode(small, "small").size == (3, 4)
    with pytest.raises(OpenworldError, match="13 x 1 pixels"):
        decoding.decode(large, "large")


@pytest.mark.parametrize(
    "make",
    [
        os.mkfifo,
        lambda where: os.symlink("/dev/zero", where),
        os.mkdir,
        lambda where: os.symlink(where, where),
    ],
    ids=["pipe", "device", "folder", "loop"],
)
def test_what_is_no_plain_file_is_refused_and_not_waited_for(tmp_path, make):
    make(tmp_path / "9.png")
    with pytest.raises(OpenworldError, match="9.png is no plain file"):
        folder.read_image(tmp_path / "9.png")
