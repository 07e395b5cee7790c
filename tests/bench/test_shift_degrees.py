"""The bench of shift degrees compares like with like: both searches name the same neighbours."""

import numpy as np
import pytest
from shift_degrees import Size, agreement, faiss, ours, simulated, timed

SIZE = Size(30, 400, 8, "cpu")


def test_the_searches_agree():
    pytest.importorskip("faiss")
    rows = simulated(SIZE)
    assert agreement(ours(*rows, "cpu"), faiss(*rows, "cpu")).startswith("100.0000 %")


def test_what_is_timed():
    queries, reference = simulated(SIZE)
    seconds, (distances, places) = timed(ours, (queries, reference), "cpu")
    assert seconds > 0 and distances.shape == places.shape == (30, 10)
    assert np.allclose(1 - (queries @ reference.T).max(axis=1), distances[:, 0], atol=1e-5)
