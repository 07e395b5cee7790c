"""Tests of the command line share the helpers and the fixtures beside them."""

import sys
from pathlib import Path

import numpy as np
import pytest

from openworld import datasets

sys.path.insert(0, str(Path(__file__).parent))

from every_output import prepare  # noqa: E402


@pytest.fixture(scope="session")
def image_folder(tmp_path_factory):
    """Six labelled images of each of 8 classes in one style, and loose ones in another."""
    root = tmp_path_factory.mktemp("images")
    for place, style in (("source", "twemoji"), ("target", "noto")):
        images = datasets.load("emoji-groups", domain=style, part="test")
        for label, name in enumerate(images.classnames):
            folder = root / place / name if place == "source" else root / place
            folder.mkdir(parents=True, exist_ok=True)
            for number in np.flatnonzero(images.labels == label)[:6]:
                images.image(int(number)).save(folder / f"{label}-{number:04}.png")
    return root


@pytest.fixture(scope="session")
def inputs_of_all(tmp_path_factory):
    """A folder with inputs for every command that writes; to be copied."""
    folder = tmp_path_factory.mktemp("inputs") / "world"
    folder.mkdir()
    prepare(folder)
    return folder
