"""An image set seen in a style, or in several: a set of its own, whose fingerprint lets its features be kept."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from PIL import Image

from openworld.core.errors import OpenworldError, unknown_name
from openworld.core.types import checked
from openworld.datasets.corruptions.corrupted import draws_of
from openworld.datasets.image_set import ImageSet
from openworld.datasets.styles._catalogue import STYLES

VERSION = 1
"""Part of every fingerprint: raise it when the same image, style and seed give other pixels."""


def styled(images: ImageSet, name: str, *, seed: int = 0) -> ImageSet:
    """Return the same images, redrawn in a style when they are read; `restyled` says on what they depend."""
    every = restyled(images, (name,), seed=seed)
    return replace(every, domain=f"{images.domain} {name}".strip())


@checked
def restyled(images: ImageSet, names: Sequence[str], *, seed: int = 0) -> ImageSet:
    """Return every image in every style: image i in style s is number i * len(names) + s.

    What an image becomes depends on its pixels, the style and the seed (from 0), not on its place. Styles of one image
    share its group. Raises OpenworldError for an unknown style, one that comes twice, none, a negative seed.

    >>> white = lambda number: Image.new("L", (16, 16), 255)
    >>> pair = ImageSet("toy", "", ("cat", "dog"), [1, 0], [0, 1], "white squares", white)
    >>> restyled(pair, ("blueprint", "sketch")).labels.tolist()
    [1, 1, 0, 0]
    """
    names = tuple(names)
    for name in names:
        if name not in STYLES:
            raise unknown_name("style", name, STYLES)
    if not names or len(set(names)) < len(names):
        raise OpenworldError(f"the styles are {list(names)}, expected one or more names, each once.")
    recipe = "\0".join((images.content, f"{VERSION} {seed}", *names))
    return replace(
        images,
        domain=f"{images.domain} in {len(names)} styles".strip(),
        labels=np.repeat(images.labels, len(names)),
        groups=np.repeat(images.groups, len(names)),
        content=hashlib.sha256(recipe.encode()).hexdigest(),
        read=partial(read_styled, images.read, names, seed),
        columns={key: np.repeat(column, len(names)) for key, column in images.columns.items() if key == "path"},
    )


def read_styled(read: Callable[[int], Image.Image], names: tuple[str, ...], seed: int, index: int) -> Image.Image:
    return redrawn(read(index // len(names)), names[index % len(names)], seed)


def redrawn(image: Image.Image, name: str, seed: int) -> Image.Image:
    image = image.convert("RGB")
    return Image.fromarray(STYLES[name](image, draws_of(image, f"{name} {seed}")))
