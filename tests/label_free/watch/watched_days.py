"""A source, and days of images with time stamps, as columns of score files."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "estimators"))

from simulated import outputs  # noqa: E402

START = np.datetime64("2024-01-01T00:00:00")
CLASSES = 4


def source_columns(n=450):
    data = outputs(0, n, CLASSES, 2.0)
    return {"logits": data.logits.astype(np.float32), "labels": data.labels}


def day_columns(day, n=150, strength=2.0):
    """Images of one day in the order of their times; the same for the same numbers."""
    data, rng = outputs(100 + day, n, CLASSES, strength), np.random.default_rng(day)
    seconds = 86_400 * day + np.sort(rng.integers(0, 86_400, n))
    times = START + seconds.astype("timedelta64[s]")
    return {"logits": data.logits.astype(np.float32), "time": times, "path": np.array([f"{day}/{i}" for i in range(n)])}


def joined(*parts):
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def part(columns, first, last):
    return {name: column[first:last] for name, column in columns.items()}


def save(path, columns):
    np.savez(path, **columns)
    return path
