"""Backbones that a process loads once and shares."""

from functools import lru_cache

from openworld.backbones.loading import load
from openworld.backbones.precision import DTYPES, Precision


@lru_cache(maxsize=2)
def load_once(name: str, device: str = "cpu", precision: Precision = "float32"):
    """Return the frozen backbone `name` on `device`, the same object for the same arguments."""
    return load(name, device=device, dtype=DTYPES[precision])
