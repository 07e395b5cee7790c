"""Painters and screens as a user would write them, for `openworld synthesize --painter own_painters:plain`."""

import os

from PIL import Image


class Plain:
    """Paints the seed as a colour; the number in FATAL is how many images it paints before it is stopped."""

    about = {"name": "plain"}
    painted = 0

    def fitting(self):
        return 4

    def paint(self, commissions):
        Plain.painted += len(commissions)
        if Plain.painted > int(os.environ.get("FATAL", 10**9)):
            raise KeyboardInterrupt
        return [Image.new("RGB", (8, 8), tuple(order.seed.to_bytes(8, "big")[:3])) for order in commissions]


def plain():
    Plain.painted = 0
    return Plain()


def broken():
    raise RuntimeError("no paint left")


def no_painter():
    return 3


def bright(images):
    return [image.getpixel((0, 0))[0] >= 128 for image in images]
