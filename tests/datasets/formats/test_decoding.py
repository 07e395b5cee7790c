"""Decoding one image: only the promised formats are opened, and nothing of any size is."""

import io
import os

import pytest
from PIL import Image

from openworld import OpenworldError
from openworld.datasets.formats import decoding

POSTSCRIPT = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 8 8\n%%EndComments\n0 0 8 8 rectfill\nshowpage\n%%EOF\n"


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


def test_an_image_of_as_many_pixels_as_are_allowed_is_read(monkeypatch):
    monkeypatch.setattr(decoding, "MOST_PIXELS", 12)
    small, large = io.BytesIO(), io.BytesIO()
    Image.new("RGB", (3, 4)).save(small, "PNG")
    Image.new("RGB", (13, 1)).save(large, "PNG")
    assert decoding.decode(small, "small").size == (3, 4)
    with pytest.raises(OpenworldError, match="13 x 1 pixels"):
        decoding.decode(large, "large")
