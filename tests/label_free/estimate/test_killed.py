"""`openworld estimate` of images ended at any point and started again with the same words: the bytes of one go."""

import random
import time

import numpy as np
import pytest
from estimate_in_shards import estimate_in_shards
from forked import killed_after, start
from PIL import Image

KILLS = 20
NAMES = ("blue", "green", "red")


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    """Noise in folders of three colours, and without labels; eight shards in all."""
    place, dice = tmp_path_factory.mktemp("images"), np.random.default_rng(0)
    folders = {f"source/{name}": 10 for name in NAMES} | {"target": 30}
    for folder, count in folders.items():
        (place / folder).mkdir(parents=True)
        for number in range(count):
            Image.fromarray(dice.integers(0, 256, (48, 48, 3)).astype(np.uint8)).save(place / folder / f"{number}.png")
    return place


def begin(images, folder):
    folder.mkdir(exist_ok=True)
    for name in ("source", "target"):
        if not (folder / name).exists():
            (folder / name).symlink_to(images / name)
    return start(estimate_in_shards, folder, 8)


def kept(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in (folder / "out").rglob("*") if path.is_file()}


@pytest.mark.slow
def test_an_estimate_of_images_that_is_killed_again_and_again_ends_with_the_same_bytes(images, tmp_path):
    seconds = []
    for name in ("first", "whole"):  # the first one waits for imports
        process, began = begin(images, tmp_path / name), time.monotonic()
        process.join()
        seconds.append(time.monotonic() - began)
    code, whole = process.exitcode, kept(tmp_path / "whole")
    assert code in (0, 4) and {"out/estimate.json", "out/scores/source-0.parquet"} <= set(whole)
    dice, folders, kills = random.Random(0), iter(range(100)), 0
    folder = tmp_path / f"killed-{next(folders)}"
    while kills < KILLS:
        process = begin(images, folder)
        if killed_after(process, dice.uniform(0.05, 0.9) * min(seconds)):
            kills += 1
            continue
        assert process.exitcode == code and kept(folder) == whole
        folder = tmp_path / f"killed-{next(folders)}"
    process = begin(images, folder)
    process.join()
    assert process.exitcode == code and kept(folder) == whole
