"""The transport bench's solvers agree, and its certificate holds, on a small problem."""

import pytest
from transport import ours, pot, pot_square, simulated, warmed


def test_the_solvers_agree():
    pytest.importorskip("ot")
    problem = simulated(200, 10)
    value, prices = ours(*problem)
    assert pot(*problem)[0] == pytest.approx(value, abs=1e-12)
    assert pot_square(*problem)[0] == pytest.approx(value, abs=1e-12)
    assert prices.min() == 0


def test_the_certificate():
    value, seconds, size, gap = warmed(ours, 300, 10)
    assert abs(gap) < 1e-12 and 0 < value < 1 and seconds >= 0 and size > 0
