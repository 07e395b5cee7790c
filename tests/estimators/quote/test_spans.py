"""A target cut where its key changes, whatever the blocks; a span is a sample of itself."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulated import outputs

from openworld.core.errors import OpenworldError
from openworld.estimators.streaming import spans

TARGET = outputs(0, 30, 3)


def pieces(keys, size):
    for start in range(0, len(keys), size):
        rows = slice(start, start + size)
        yield TARGET.take(np.arange(len(keys))[rows]), np.asarray(keys)[rows]


@given(st.lists(st.integers(0, 5), min_size=1, max_size=30), st.integers(1, 30))
def test_spans_are_the_runs_of_equal_keys(keys, size):
    keys = sorted(keys)
    found = list(spans(pieces(keys, size)))
    assert [one.key for one in found] == sorted(set(keys))
    assert [one.sample.n for one in found] == [keys.count(key) for key in sorted(set(keys))]
    for one in found:
        assert one.first == keys.index(one.key) and one.sample.whole
        np.testing.assert_array_equal(one.sample.outputs.logits, TARGET.logits[one.first : one.first + one.sample.n])


def test_a_long_span_is_sampled():
    short, long = spans(pieces([0] * 3 + [1] * 27, 7), rows=5)
    assert short.sample.whole and not long.sample.whole
    assert (long.sample.n, long.sample.outputs.n) == (27, 5)


def test_keys_that_fall_are_refused():
    with pytest.raises(OpenworldError, match="image 4 comes before the ones above it; sort them"):
        list(spans(pieces([0, 0, 2, 2, 1], 2)))
