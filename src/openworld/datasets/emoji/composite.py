"""A drawing on a background: from one RGBA image as many different images as asked for, each repeatable.

A variation has a name; the same drawing and name give the same image every time. Drawings are scaled, turned and
moved; backgrounds are light, because some styles are black.
"""

import math
from random import Random

import numpy as np
from PIL import Image

VERSION = 1
"""Part of every fingerprint: raise it when the same name gives another image."""

SMALLEST, LARGEST = 0.6, 1.25
WIDEST_TURN = math.radians(20)
SLACK = 0.05
DARKEST = 140


def on_white(drawing: Image.Image) -> Image.Image:
    """Return a drawing (PIL, RGBA, straight alpha) over plain white, in RGB."""
    return _over(drawing, Image.new("RGB", drawing.size, "white"))


def vary(drawing: Image.Image, name: str) -> Image.Image:
    """Return the variation `name`, any text, of a square RGBA drawing with straight alpha, as RGB of the same size."""
    # Python's own generator: its seeding by text and its random() are promised never to change, NumPy's are not.
    random = Random(name)
    placed = _place(drawing, random)
    background = BACKGROUNDS[_below(len(BACKGROUNDS), random)]
    return _over(placed, background(drawing.width, random))


def _over(drawing: Image.Image, canvas: Image.Image) -> Image.Image:
    canvas.paste(drawing, mask=drawing)
    return canvas


def _place(drawing: Image.Image, random: Random) -> Image.Image:
    """Scaled by 0.6 to 1.25 (evenly in its logarithm), turned by up to 20 degrees, moved as far as there is room."""
    size = drawing.width
    scale = math.exp(random.uniform(math.log(SMALLEST), math.log(LARGEST)))
    angle = random.uniform(-WIDEST_TURN, WIDEST_TURN)
    room = size * (SLACK + max(0.0, 1 - scale) / 2)
    to_x, to_y = (size / 2 + random.uniform(-room, room) for _ in range(2))
    # Pillow asks where a pixel of the result comes from: the inverse of scaling and turning about the middle.
    cos, sin = math.cos(angle) / scale, math.sin(angle) / scale
    inverse = (cos, sin, size / 2 - cos * to_x - sin * to_y, -sin, cos, size / 2 + sin * to_x - cos * to_y)
    # Bilinear: three times as fast as bicubic, and at these scales no eye tells them apart.
    return drawing.transform(drawing.size, Image.Transform.AFFINE, inverse, Image.Resampling.BILINEAR)


def _white(size: int, random: Random) -> Image.Image:
    return Image.new("RGB", (size, size), "white")


def _plain(size: int, random: Random) -> Image.Image:
    return Image.new("RGB", (size, size), tuple(_colours(1, random)[0].tolist()))


def _blend(size: int, random: Random) -> Image.Image:
    """Four colours, one in each corner."""
    return _stretched(_colours(4, random).reshape(2, 2, 3), size, Image.Resampling.BILINEAR)


def _clouds(size: int, random: Random) -> Image.Image:
    """Soft spots of two colours."""
    first, second = _colours(2, random).astype(np.float64)
    share = np.frombuffer(random.randbytes(49), np.uint8).reshape(7, 7, 1) / 255
    return _stretched((first + share * (second - first)).astype(np.uint8), size, Image.Resampling.BICUBIC)


def _tiles(size: int, random: Random) -> Image.Image:
    """Stripes or a chequerboard of two colours."""
    colours = _colours(2, random)
    odd = np.arange(3 + _below(6, random)) % 2
    pattern = (odd[:, None] ^ odd, odd[:, None] | (0 * odd), (0 * odd)[:, None] | odd)[_below(3, random)]
    return _stretched(colours[pattern], size, Image.Resampling.NEAREST)


BACKGROUNDS = (_white, _white, _plain, _plain, _blend, _blend, _clouds, _tiles)


def _colours(count: int, random: Random) -> np.ndarray:
    darkness = np.frombuffer(random.randbytes(3 * count), np.uint8).reshape(count, 3) / 255
    return (255 - darkness * (255 - DARKEST)).astype(np.uint8)


def _below(limit: int, random: Random) -> int:
    return int(random.random() * limit)


def _stretched(cells: np.ndarray, size: int, resampling: Image.Resampling) -> Image.Image:
    return Image.fromarray(np.ascontiguousarray(cells)).resize((size, size), resampling)
