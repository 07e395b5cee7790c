"""Draw images with all corruptions in all severities: what each does, at a glance.

python tools/show_corruptions.py OUT.png [IMAGE ...] [--cut 224] [--cell 112] [--colours 0]

A block of columns per image: as it is, then severities 1 to 5. An IMAGE "-", or none, is a drawing of the embedded
world. --cut scales and cuts image files first, as ImageNet-C does (`corrupted`'s `cut`); --colours makes the file
small.
"""

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from openworld import datasets
from openworld.datasets.corruptions import CORRUPTIONS, SEVERITIES, corrupted
from openworld.datasets.corruptions.corrupted import middle_square
from openworld.datasets.formats.folder import read_image

LABEL, HEAD, GAP, BLOCK_GAP = 96, 16, 4, 16
Cut = int | None


def main() -> None:
    """Read the command line and write the sheet."""
    command = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    command.add_argument("out", type=Path)
    command.add_argument("images", nargs="*", default=["-"])
    command.add_argument("--cut", type=int)
    command.add_argument("--cell", type=int, default=112, help="pixels of an image on the sheet")
    command.add_argument("--colours", type=int, default=0, help="at most so many; 0: all")
    asked = command.parse_args()
    shown = [(_drawing(), None) if one == "-" else (_alone(Path(one)), asked.cut) for one in asked.images]
    drawn = sheet(shown, asked.cell)
    if asked.colours:
        drawn = drawn.quantize(asked.colours, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    drawn.save(asked.out, optimize=True)


def sheet(shown: list[tuple[datasets.ImageSet, Cut]], cell: int) -> Image.Image:
    """A row per corruption; per image set, whose first image is shown, a block of six columns."""
    block = (1 + len(SEVERITIES)) * (cell + GAP) + BLOCK_GAP
    found = Image.new("RGB", (LABEL + len(shown) * block - BLOCK_GAP, HEAD + len(CORRUPTIONS) * (cell + GAP)), "white")
    pen = ImageDraw.Draw(found)
    for row, name in enumerate(CORRUPTIONS):
        pen.text((4, HEAD + row * (cell + GAP) + cell // 2 - 12), name.replace("_", "\n"), fill="black")
    for number, (images, cut) in enumerate(shown):
        _block(images, cut, cell, lambda column, number=number: LABEL + number * block + column * (cell + GAP), found)
    return found


def _block(images: datasets.ImageSet, cut: Cut, cell: int, left: Callable[[int], int], onto: Image.Image) -> None:
    for column, head in enumerate(("as it is", *map(str, SEVERITIES))):
        ImageDraw.Draw(onto).text((left(column), 2), head, fill="black")
    plain = images.image(0) if cut is None else middle_square(images.image(0), cut)
    for row, name in enumerate(CORRUPTIONS):
        variants = [plain, *(corrupted(images, name, level, cut=cut).image(0) for level in SEVERITIES)]
        for column, one in enumerate(variants):
            resampling = Image.Resampling.NEAREST if one.width <= cell else Image.Resampling.BOX
            onto.paste(one.resize((cell, cell), resampling), (left(column), HEAD + row * (cell + GAP)))


def _drawing() -> datasets.ImageSet:
    return datasets.load("emoji-concepts").subset([215])


def _alone(path: Path) -> datasets.ImageSet:
    """One image file as an image set."""
    image = read_image(path)
    return datasets.ImageSet(path.stem, "", ("image",), [0], np.arange(1), path.name, lambda number: image)


if __name__ == "__main__":
    main()
