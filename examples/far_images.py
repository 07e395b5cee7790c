"""Draw two sets of images that are far from the embedded world's drawings: smooth noise, and letters and digits.

    python examples/far_images.py far      # far/noise and far/characters, 500 images of 64 x 64 each

The same images each time. A set of your own is a folder of images, too.
"""

import string
import sys
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

SIDE, COUNT = 64, 500


def noise(draw: np.random.Generator) -> Image.Image:
    """Return noise in colour, smooth over some pixels: a coarse grid of random colours, enlarged."""
    cells = int(draw.integers(3, 13))
    grid = draw.integers(0, 256, size=(cells, cells, 3), dtype=np.uint8)
    return Image.fromarray(grid).resize((SIDE, SIDE), Image.Resampling.BICUBIC)


def character(draw: np.random.Generator) -> Image.Image:
    """Return a letter or a digit in a dark colour, somewhere near the middle of a white image."""
    colour = tuple(draw.integers(0, 160, size=3).tolist())
    shown = str(draw.choice(list(string.ascii_letters + string.digits)))
    middle = tuple((SIDE / 2 + draw.integers(-8, 9, size=2)).tolist())
    image = Image.new("RGB", (SIDE, SIDE), "white")
    font = ImageFont.load_default(size=int(draw.integers(28, 57)))
    ImageDraw.Draw(image).text(middle, shown, fill=colour, font=font, anchor="mm")
    return image


def main() -> None:
    """Write both folders."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "far")
    for name, drawn in {"noise": noise, "characters": character}.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        draw = np.random.default_rng(0)
        for number in range(COUNT):
            drawn(draw).save(folder / name / f"{number:03}.png")


if __name__ == "__main__":
    main()
