"""The bench of shift cells compares like with like: both forms give the same numbers."""

import numpy as np
from shift_cells import COUNTS, Size, one_by_one, ours, report, simulated, timed

SIZE = Size(3_000, 200, 1)


def test_both_forms_agree():
    (inside,), (outside,), cells = simulated(SIZE)
    found, expected = ours(inside, outside, cells), one_by_one(inside, outside, cells)
    assert np.allclose(found, expected, atol=1e-9, equal_nan=True) and np.isfinite(found).any()
    assert np.isnan(found).any(), "cells with few images are N/A in both"


def test_counts_are_the_published_ones():
    assert COUNTS.sum() == 522_500 and (COUNTS[6:, 0] == 0).all()


def test_what_is_timed(capsys):
    seconds, found = timed(ours, *simulated(SIZE))
    assert seconds > 0 and found[0].shape == (64, 4)
    report(SIZE)
    assert "times as long" in capsys.readouterr().out
