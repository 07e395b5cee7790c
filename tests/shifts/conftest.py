"""What the tests of shift share: stored numbers, and texts whose two kinds of content stand in known directions."""

import json

import numpy as np
import pytest


@pytest.fixture(scope="session")
def stored(repository):
    """LAID's formulas and shift degrees, evaluated in float64 by others."""
    return json.loads((repository / "tests" / "reference" / "laid.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def texts() -> np.ndarray:
    """float32[12, 8, 16]: text = its label's vector + its template's, in perpendicular halves of a rotated space."""
    rng = np.random.default_rng(5)
    labels = np.concatenate([rng.normal(size=(12, 8)), np.zeros((12, 8))], axis=1)
    templates = np.concatenate([np.zeros((8, 8)), rng.normal(size=(8, 8))], axis=1)
    rotation = np.linalg.qr(rng.normal(size=(16, 16)))[0]
    noise = 0.02 * rng.normal(size=(12, 8, 16))
    return ((labels[:, None] + templates[None] + noise) @ rotation).astype(np.float32)
