"""Functions of units for the tests; workers import them by name, as they do a protocol's."""

import atexit
import os
import signal
import sys
import time
from pathlib import Path

import numpy as np

from openworld.runs import Unit, UnitResult


def draw(seed, size=20, pause=0.0):
    """Numbers from a seed: tables of every kind of column, metrics, two attachments."""
    time.sleep(pause)
    generator = np.random.default_rng(seed)
    logits = generator.normal(size=(size, 3)).astype(np.float32)
    scores = {
        "id": [f"image {index}" for index in range(size)],
        "label": generator.integers(0, 3, size),
        "score": logits.max(1),
        "logits": logits,
    }
    metrics = {"mean": float(logits.mean()), "accuracy": None, "reason": "no label"}
    attachments = {"a.png": b"\x89PNG" + bytes([seed % 256]), "more/b.png": b"second"}
    return UnitResult({"scores": scores}, metrics, attachments, timing={"device": "cpu", "slept": pause})


def fail(message, pause=0.0):
    time.sleep(pause)
    raise KeyError(message)


def located(n, machine, die_on=None, folder=None):
    """Say where it was to be computed, as a unit that needs a device does; killed the first time on one of them.

    Elsewhere it goes on until that device has computed a unit, so that no other worker takes them all.
    """
    if die_on == machine["device"]:
        die(folder, 1)
        (Path(folder) / "survived").touch()
    elif die_on:
        limit = time.monotonic() + 600
        while not (Path(folder) / "survived").exists() and time.monotonic() < limit:
            time.sleep(0.01)
    return UnitResult(metrics={"n": n}, timing=machine)


def slow_to_end():
    """The process that runs this takes its time to end, as one that has heavy libraries to take down."""
    atexit.register(time.sleep, 0.3)
    return UnitResult(metrics={})


def not_a_result():
    return {"accuracy": 1.0}


def die(folder, times):
    """Kill the process that runs this, the first `times` times."""
    marks = Path(folder)
    count = len(list(marks.glob("death-*")))
    if count < times:
        (marks / f"death-{count}").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return UnitResult(metrics={"died": True})


def wait(folder, seed):
    """Leave a mark that says on which node of a Ray this is, and go on once there is a file "go" beside it."""
    node = _ray_node()
    (Path(folder) / f"wait-{seed}_{node}_{os.getpid()}").touch()
    limit = time.monotonic() + 600
    while not (Path(folder) / "go").exists() and time.monotonic() < limit:
        time.sleep(0.05)
    return draw(seed)


def _ray_node():
    ray = sys.modules.get("ray")
    return ray.get_runtime_context().get_node_id() if ray and ray.is_initialized() else "none"


def note(folder, seed):
    """Leave one mark per call, to count who computed what."""
    (Path(folder) / f"{seed}-{os.getpid()}-{time.monotonic_ns()}").touch()
    return draw(seed, pause=0.05)


def draws(count, **resources):
    """`count` units named draw-0, draw-1, ..."""
    return [
        Unit("example_units:draw", {"seed": seed}, name=f"draw-{seed}", resources=resources) for seed in range(count)
    ]
