"""The sheet of all styles, and the page that explains it."""

import re
import sys
from pathlib import Path

import numpy as np
from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import show_styles

from openworld.datasets.styles import STYLES

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_a_sheet_has_a_block_per_image(tmp_path, monkeypatch):
    Image.fromarray(np.full((40, 60, 3), 200, np.uint8)).save(tmp_path / "grey.png")
    out = tmp_path / "sheet.png"
    told = [out, "-", tmp_path / "grey.png", "--cell", 16, "--columns", 9, "--colours", 16]
    monkeypatch.setattr(sys, "argv", ["show_styles.py", *map(str, told)])
    show_styles.main()
    with Image.open(out) as sheet:
        assert sheet.size == (9 * 22, 2 * 2 * 38)
        assert len(sheet.getcolors()) <= 16


def test_the_page_names_every_style():
    page = (DOCS / "syn-is.md").read_text(encoding="utf-8")
    for name, style in STYLES.items():
        assert re.search(rf"^\| {style.group} \|.*`{name}`", page, re.MULTILINE)
    assert (DOCS / "styles.png").stat().st_size < 300_000
