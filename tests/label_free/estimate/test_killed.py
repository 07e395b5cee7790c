"""`openworld estimate` of images ended at any point and started again with the same words: the bytes of one go."""

import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from PIL import Image

KILLS = 20
NAMES = ("blue", "green", "red")
WORDS = "estimate --source source --target target --model embedded --estimator AC --device cpu --quiet --out out"
SMALL_SHARDS = """
from openworld.cli import main
from openworld.label_free.estimate import scoring
scoring.TOGETHER = 16
main()
"""


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    """Noise in folders of three colours, and without labels; eight shards in all."""
    place, dice = tmp_path_factory.mktemp("images"), np.random.default_rng(0)
    folders = {f"source/{name}": 20 for name in NAMES} | {"target": 60}
    for folder, count in folders.items():
        (place / folder).mkdir(parents=True)
        for number in range(count):
            Image.fromarray(dice.integers(0, 256, (48, 48, 3)).astype(np.uint8)).save(place / folder / f"{number}.png")
    return place


def start(images, folder):
    folder.mkdir(exist_ok=True)
    for name in ("source", "target"):
        if not (folder / name).exists():
            (folder / name).symlink_to(images / name)
    return subprocess.Popen([sys.executable, "-c", SMALL_SHARDS, *WORDS.split()], cwd=folder)


def kept(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in (folder / "out").rglob("*") if path.is_file()}


@pytest.mark.slow
def test_an_estimate_of_images_that_is_killed_again_and_again_ends_with_the_same_bytes(images, tmp_path):
    dice, started = random.Random(0), time.monotonic()
    code = start(images, tmp_path / "whole").wait()
    seconds, whole = time.monotonic() - started, kept(tmp_path / "whole")
    assert code in (0, 4) and {"out/estimate.json", "out/scores/source-0.parquet"} <= set(whole)
    folder, ended = tmp_path / "killed-0", 0
    while ended < KILLS:
        process, started = start(images, folder), time.monotonic()
        try:
            process.wait(dice.uniform(0.3, 1) * seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            ended += 1
            continue
        assert process.returncode == code and kept(folder) == whole
        seconds = min(seconds, time.monotonic() - started)  # the first one may have run on a busy machine
        folder = tmp_path / f"killed-{len(list(tmp_path.iterdir()))}"
    assert start(images, folder).wait() == code
    assert kept(folder) == whole
