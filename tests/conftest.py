"""Settings of the whole suite: properties are judged by their outcome, never by the clock."""

import os

# Before torch is loaded: processes that share the cores, as with `pytest -n`, slow each other down with more threads.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")

from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("openworld", deadline=None)
settings.load_profile("openworld")


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """Tests never read or write the features of the person who runs them."""
    monkeypatch.setenv("OPENWORLD_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the source tree."""
    return Path(__file__).resolve().parents[1]


os.environ.setdefault("HF_HUB_OFFLINE", "1")
