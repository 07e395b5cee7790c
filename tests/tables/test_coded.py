"""Coded columns read as arrays of their values do."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openworld.tables.coded import Coded, narrow

pytestmark = pytest.mark.base

VALUES = st.lists(st.sampled_from(["base", "new", "", "7", "é"]), max_size=30)


@given(VALUES, VALUES, st.data())
def test_it_is_the_array_of_its_values(values, others, data):
    column, plain = Coded.of(values), np.array(values, object)
    assert column.tolist() == [*column] == np.asarray(column).tolist() == values and len(column) == len(values)
    assert sorted(column.present) == sorted(set(values)) and column.shape == plain.shape
    for value in ("base", "absent"):
        assert (column == value).tolist() == [one == value for one in values] == (~(column != value)).tolist()
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values))), bool)
    assert column[mask].tolist() == plain[mask].tolist() and column[1:].tolist() == values[1:]
    shorter = min(len(values), len(others))
    same = [one == other for one, other in zip(values, others, strict=False)]
    assert (column[:shorter] == Coded.of(others)[:shorter]).tolist() == same
    assert Coded.joined([values, others]).tolist() == values + others


@given(VALUES)
def test_renamed_values_may_fall_together(values):
    column = Coded.of(values)
    renamed = column.renamed([len(name) for name in column.names])
    assert renamed.tolist() == [len(value) for value in values] and len(set(renamed.names)) == len(renamed.names)
    assert np.asarray(renamed).dtype == np.int64 or not values


@pytest.mark.parametrize(("count", "kind"), [(127, np.int8), (128, np.int16), (2**15, np.int32), (2**31, np.int64)])
def test_codes_take_the_fewest_bytes_that_hold_them(count, kind):
    codes = np.array([0, count - 1, 1 - count])
    assert narrow(codes, count).dtype == kind and narrow(codes, count).tolist() == codes.tolist()


def test_a_constant_and_a_single_entry():
    column = Coded.constant(("model", 1), 3)
    assert column[0] == ("model", 1) and (column == ("model", 1)).all() and not (column == ("model", 2)).any()
