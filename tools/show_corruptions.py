"""Draw one picture with all corruptions in all severities: what each does, at a glance.

python tools/show_corruptions.py OUT.png [PICTURE [SIDE]]

Without PICTURE, a drawing of the embedded world. SIDE cuts it first (`corrupted`'s `cut`).
"""

import sys
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from openworld import datasets
from openworld.datasets.corruptions import CORRUPTIONS, SEVERITIES, corrupted

CELL, LABEL, GAP = 112, 96, 4
BLOCKS = 2


def main(out: str, picture: str | None = None, side: str | None = None) -> None:
    """Write the sheet: two blocks of rows, a row per corruption, the picture itself first."""
    images = _alone(Path(picture)) if picture else datasets.load("emoji-concepts").subset([215])
    cut = int(side) if side else None
    rows = -(-len(CORRUPTIONS) // BLOCKS)
    sheet = Image.new("RGB", (BLOCKS * _width(), rows * (CELL + GAP)), "white")
    for number, name in enumerate(CORRUPTIONS):
        left, top = number // rows * _width(), number % rows * (CELL + GAP)
        ImageDraw.Draw(sheet).text((left + 4, top + CELL // 2), name.replace("_", "\n"), fill="black")
        shown = [images.image(0)] + [corrupted(images, name, level, cut=cut).image(0) for level in SEVERITIES]
        for place, one in enumerate(shown):
            fitted = one.resize((CELL, CELL), Image.Resampling.NEAREST if one.width < CELL else Image.Resampling.BOX)
            sheet.paste(fitted, (left + LABEL + place * (CELL + GAP), top))
    sheet.save(out)


def _width() -> int:
    return LABEL + (1 + len(SEVERITIES)) * (CELL + GAP)


def _alone(path: Path) -> datasets.ImageSet:
    """One picture file as an image set."""
    with Image.open(path) as found:
        picture = found.convert("RGB")
    return datasets.ImageSet(path.stem, "", ("picture",), [0], np.arange(1), path.name, lambda number: picture)


if __name__ == "__main__":
    main(*sys.argv[1:])
