"""Numbers at the ends of what a float holds, and arrays of other packages, in functions and settings."""

import numpy as np
import pandas
import pytest
import torch

from openworld import OpenworldError
from openworld.detectors.engine.texts import mine_negatives
from openworld.estimators import FRAP
from openworld.metrics import shift_trend
from openworld.metrics._robustness import seed_spread
from openworld.shifts.degrees import farthest
from openworld.shifts.grid import Levels, equal_width_levels
from openworld.shifts.matrices import deviation

BIG = 1e308
PAIRS = {
    "tensor": torch.tensor([0.0, 1.0]),
    "series": pandas.Series([0.0, 1.0]),
    "without a mask": np.ma.array([0.0, 1.0]),
    "array": np.array([0.0, 1.0]),
}
HIDDEN = np.ma.array([0.0, 1.0], mask=[True, False])
REFUSED = {
    "limits masked": (lambda: seed_spread([0.5, 0.6], limits=HIDDEN), "limits"),
    "cuts masked": (lambda: Levels(HIDDEN), "cuts"),
    "mask of 2": (lambda: shift_trend(np.eye(2), [[2, 0], [1, 1]]), "present must hold True/False or 0/1"),
    "table": (lambda: shift_trend([[BIG, BIG], [BIG, -BIG]]), "table holds a number of size"),
    "degrees": (lambda: equal_width_levels([-BIG, 0, BIG], (0.1, 0.9)), "degrees holds a number of size"),
    "farthest": (lambda: farthest([-BIG, BIG], ["a", "a"]), "degrees holds a number of size"),
    "matrix": (lambda: deviation(torch.full((2, 2), 1e100, dtype=torch.float64)), "the matrix holds a number above"),
    "tau": (lambda: FRAP(tau=5e-324), "tau: 5e-324"),
}


@pytest.mark.parametrize("call", REFUSED)
def test_it_is_refused_in_a_sentence(call):
    ask, words = REFUSED[call]
    with pytest.raises(OpenworldError, match=words):
        ask()


@pytest.mark.parametrize("kind", PAIRS)
def test_any_array_will_do_where_numbers_are_listed(kind):
    assert seed_spread([0.5, 0.6], limits=PAIRS[kind]).limits == (0.0, 1.0) == Levels(PAIRS[kind]).cuts


def test_what_is_large_or_of_two_precisions_is_computed():
    assert Levels((-BIG, BIG)).of([0.0]).tolist() == [1]
    assert torch.isfinite(deviation(torch.full((2, 2), 65504.0, dtype=torch.float16)))
    assert mine_negatives(torch.tensor([[1.0, 0.0]]), torch.eye(2).double(), share=0.5).tolist() == [1]
    table, present = [[1.0, 3.0], [0.0, 99.0]], [[True, True], [True, False]]
    assert shift_trend(table, np.array(present, np.uint64)) == shift_trend(table, present)
