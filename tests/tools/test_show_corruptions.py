"""The sheet of all corruptions, and the page that explains it."""

import sys
from pathlib import Path

import numpy as np
from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import show_corruptions

from openworld.datasets.corruptions import CORRUPTIONS, SEVERITIES

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_a_sheet_has_a_row_per_corruption_and_a_block_per_image(tmp_path, monkeypatch):
    Image.fromarray(np.full((40, 60, 3), 200, np.uint8)).save(tmp_path / "grey.png")
    out = tmp_path / "sheet.png"
    told = [out, "-", tmp_path / "grey.png", "--cut", 24, "--cell", 16, "--colours", 16]
    monkeypatch.setattr(show_corruptions, "CORRUPTIONS", ("fog", "contrast", "saturate"))
    monkeypatch.setattr(sys, "argv", ["show_corruptions.py", *map(str, told)])
    show_corruptions.main()
    with Image.open(out) as sheet:
        assert sheet.size == (96 + 2 * 6 * 20 + 16, 16 + 3 * 20)
        assert len(sheet.getcolors()) <= 16


def test_the_page_names_every_corruption_and_its_group():
    page = (DOCS / "corruptions.md").read_text(encoding="utf-8")
    for name, corruption in CORRUPTIONS.items():
        group = corruption.group + (", held out" if corruption.held_out else "")
        assert f"| `{name}` | {group} |" in page
    assert f"{len(CORRUPTIONS) * len(SEVERITIES)} conditions" in page
    assert (DOCS / "corruptions.png").stat().st_size < 300_000
