"""Runs as processes of their own that are started, killed and started again: what all tests of crashes share."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
from PIL import Image


def start(folder, *arguments):
    """`openworld` with these arguments in a folder, with a cache of its own there."""
    environment = os.environ | {"COLUMNS": "160", "NO_COLOR": "1", "OPENWORLD_CACHE": str(folder / "cache")}
    command = [sys.executable, "-m", "openworld", *arguments]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, cwd=folder, env=environment, start_new_session=True, **pipes)


def finish(process):
    """What a process that ends well has printed."""
    out, err = process.communicate(timeout=1200)
    assert process.returncode == 0, err
    return out


def kill_once(process, begun, seconds):
    """End a process and its children with SIGKILL some time after `begun()` holds, unless it has ended by then."""
    while not begun() and process.poll() is None:
        time.sleep(0.05)
    kill_after(process, seconds)


def kill_after(process, seconds):
    """End a process and its children with SIGKILL, unless it has ended by then."""
    time.sleep(seconds)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def results(folder, run="runs/spec"):
    """Every file of a run that must not depend on how it went."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted((folder / run / "units").rglob("*"))
        if path.is_file() and path.name != "timing.json" and ".locks" not in path.parts
    }


def draw_squares(folder, colours):
    """Noisy images of one colour each in `squares` and, half as bright, in `darker`: four of each part and class."""
    generator = np.random.default_rng(0)
    for root, shade in (("squares", 1.0), ("darker", 0.5)):
        for part in ("train", "validation", "test"):
            for name, colour in colours.items():
                place = folder / root / part / name
                place.mkdir(parents=True)
                for number in range(4):
                    noise = generator.normal(0, 30, (32, 32, 3))
                    pixels = np.clip(np.array(colour) * shade + noise, 0, 255).astype(np.uint8)
                    Image.fromarray(pixels).save(place / f"{number}.png")
