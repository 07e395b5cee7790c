"""Draw images in all styles: what each does, at a glance.

python tools/show_styles.py OUT.png [IMAGE ...] [--cell 112] [--columns 6] [--colours 0]

A block of rows per image: as it is, then every style, its name below. An IMAGE "-", or none, is a drawing of the
embedded world. --colours makes the file small.
"""

import argparse
from pathlib import Path

from PIL import Image, ImageDraw

from openworld import datasets
from openworld.datasets.formats.folder import read_image
from openworld.datasets.styles import STYLES
from openworld.datasets.styles.styled import redrawn

FOOT, GAP = 16, 6


def main() -> None:
    """Read the command line and write the sheet."""
    command = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    command.add_argument("out", type=Path)
    command.add_argument("images", nargs="*", default=["-"])
    command.add_argument("--cell", type=int, default=112, help="pixels of an image on the sheet")
    command.add_argument("--columns", type=int, default=6)
    command.add_argument("--colours", type=int, default=0, help="at most so many; 0: all")
    asked = command.parse_args()
    drawn = sheet([_open(one, asked.cell) for one in asked.images], asked.cell, asked.columns)
    if asked.colours:
        drawn = drawn.quantize(asked.colours, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    drawn.save(asked.out, optimize=True)


def sheet(images: list[Image.Image], cell: int, columns: int) -> Image.Image:
    """A block per image, `columns` images wide."""
    rows = -(-(1 + len(STYLES)) // columns)
    wide, high = cell + GAP, cell + FOOT + GAP
    found = Image.new("RGB", (columns * wide, len(images) * rows * high), "white")
    for block, image in enumerate(images):
        shown = {"as it is": image} | {name: redrawn(image, name, 0) for name in STYLES}
        for place, (name, one) in enumerate(shown.items()):
            corner = (place % columns * wide, (block * rows + place // columns) * high)
            _paste(found, one, name, corner, cell)
    return found


def _paste(onto: Image.Image, image: Image.Image, name: str, corner: tuple[int, int], cell: int) -> None:
    resampling = Image.Resampling.NEAREST if image.width <= cell else Image.Resampling.BOX
    onto.paste(image.resize((cell, cell), resampling), corner)
    ImageDraw.Draw(onto).text((corner[0] + 2, corner[1] + cell + 2), name, fill="black")


def _open(name: str, cell: int) -> Image.Image:
    """A drawing, or the middle square of an image file at twice the size it is shown."""
    if name == "-":
        return datasets.load("emoji-concepts").image(215)
    image = read_image(Path(name))
    side = min(image.size)
    left, top = ((length - side) // 2 for length in image.size)
    return image.crop((left, top, left + side, top + side)).resize((2 * cell, 2 * cell), Image.Resampling.BOX)


if __name__ == "__main__":
    main()
