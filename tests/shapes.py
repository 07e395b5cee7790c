"""A folder of coloured shapes to run evaluations on, and the columns that the page on records names."""

import re
import shutil

import numpy as np
import pytest
from PIL import Image, ImageDraw

COLOURS = ("red", "green", "blue", "orange")
SHAPES = ("circle", "square")


@pytest.fixture(scope="session")
def told_columns(repository):
    """The columns that the page on records names."""
    return set(re.findall(r"`(\w+)`", (repository / "docs" / "records.md").read_text(encoding="utf-8")))


@pytest.fixture(scope="session")
def shapes(tmp_path_factory):
    root = tmp_path_factory.mktemp("shapes")
    generator = np.random.default_rng(0)
    for part, count in {"train": 6, "validation": 2, "test": 5}.items():
        for name in (f"{colour} {shape}" for shape in SHAPES for colour in COLOURS):
            folder = root / part / name
            folder.mkdir(parents=True)
            for index in range(count):
                draw(name, generator).save(folder / f"{index}.png")
    return root


@pytest.fixture(scope="session")
def few_shapes(shapes, tmp_path_factory):
    """The first two images of each part and class of `shapes`."""
    root = tmp_path_factory.mktemp("few")
    for file in shapes.glob("*/*/[01].png"):
        folder = root / file.relative_to(shapes).parent
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, folder)
    return root


def draw(name, generator):
    colour, shape = name.split()
    image = Image.new("RGB", (64, 64), "white")
    left, top = generator.integers(2, 20, 2)
    size = int(generator.integers(24, 40))
    box = (int(left), int(top), int(left) + size, int(top) + size)
    brush = ImageDraw.Draw(image)
    (brush.ellipse if shape == "circle" else brush.rectangle)(box, fill=colour)
    return image
