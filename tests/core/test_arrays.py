"""What counts as a number, at the door that every array passes."""

import re
from decimal import Decimal

import numpy as np
import pytest
import torch

from openworld.core.arrays import (
    LARGEST_LABEL,
    as_correct,
    as_groups,
    as_labels,
    as_mask,
    as_scores,
    as_table,
    require_at_least,
    require_seeds,
    require_size,
)
from openworld.core.errors import OpenworldError

NOT_NUMBERS = {
    "complex128": np.array([1j, 0]),
    "datetime64": np.array(["2020-01-01", "NaT"], "M8[D]"),
    "timedelta64": np.array([1, 2], "m8[s]"),
    "'a'": np.zeros(2, [("a", "f8")]),
    "<U1": np.array(["1", "0"]),
    "StringDType": np.array(["1", "0"], dtype=np.dtypes.StringDType()),
    "object": np.array([object(), 1]),
    "dict": {"a": 1},
    "inhomogeneous": [[1], [1, 0]],
    "too large": [10**400, 1],
}
READERS = (as_scores, as_correct, as_labels)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("named", NOT_NUMBERS)
def test_what_is_no_plain_number_is_refused_by_what_it_is(reader, named):
    with pytest.raises(OpenworldError, match="thing") as refusal:
        reader(NOT_NUMBERS[named], "thing")
    assert named in str(refusal.value)


@pytest.mark.parametrize("reader", READERS)
def test_a_mask_that_hides_something_is_refused_and_one_that_hides_nothing_is_read(reader):
    for hidden in (np.ma.array([1, 0, 1], mask=[0, 1, 0]), [1, np.ma.masked, 1]):
        with pytest.raises(OpenworldError, match="hides 1"):
            reader(hidden, "thing")
    assert reader(np.ma.array([1, 0]), "thing").tolist() == [1, 0]


@pytest.mark.parametrize("reader", READERS)
def test_numbers_in_another_byte_order_direction_or_width_are_read_as_they_are(reader):
    plain = np.array([1, 0, 1])
    wide = np.repeat(plain, 2)[::2]
    typed = [plain.astype(kind) for kind in (">i4", np.int8, object)]
    for odd in (*typed, plain[::-1][::-1], wide, plain.tolist()):
        found = reader(odd, "thing")
        assert found.tolist() == plain.tolist() and found.dtype.isnative
    backwards = np.array([1, 1, 0])
    assert reader(backwards[::-1], "thing").tolist() == [0, 1, 1]
    assert backwards.tolist() == [1, 1, 0]


def test_floats_of_any_width_and_tensors_with_gradients_are_scores():
    for odd in (np.array([1, 0.5], np.float16), np.array([1, 0.5], np.longdouble), [Decimal(1), 0.5]):
        assert as_scores(odd, "scores").tolist() == [1, 0.5]
    assert as_scores(torch.tensor([1, 0.5], requires_grad=True), "scores").tolist() == [1, 0.5]

    with pytest.raises(OpenworldError, match="infinite"):
        as_scores(np.array([np.longdouble("1e4000")]), "scores")


def test_nothing_among_numbers_is_nan_and_refused_by_its_place():
    with pytest.raises(OpenworldError, match="index 1"):
        as_scores([1.0, None], "scores")
    assert as_table([[1, None]], "table", (2,), [[True, False]]).tolist() == [[1, 0]]


def test_pandas_columns_with_a_missing_entry_are_refused_and_others_read():
    pandas = pytest.importorskip("pandas")
    assert as_correct(pandas.array([True, False], dtype="boolean"), "correct").tolist() == [True, False]
    assert as_labels(pandas.array([3, 0], dtype="Int64"), "labels").tolist() == [3, 0]
    with pytest.raises(OpenworldError, match="correct holds <NA>.*position 1"):
        as_correct(pandas.array([True, None], dtype="boolean"), "correct")


@pytest.mark.parametrize("label", [LARGEST_LABEL + 1, 2**63 - 1, 2**63, 2**64 - 1, 2**70])
def test_a_label_too_large_to_be_counted_by_is_refused_as_itself(label):
    with pytest.raises(OpenworldError, match="labels"):
        as_labels([0, label] if label >= 2**64 else np.array([0, label], np.uint64), "labels")
    assert as_labels([LARGEST_LABEL], "labels").tolist() == [LARGEST_LABEL]


def test_groups_are_integers_or_text_also_as_objects():
    assert as_groups(np.array(["a", "b"], object), "groups", 2).tolist() == ["a", "b"]
    assert as_groups(np.array(["a", "b"], np.dtypes.StringDType()), "groups", 2).tolist() == ["a", "b"]
    assert as_groups(np.array([5, 2**62], object), "groups", 2).tolist() == [5, 2**62]
    for wrong in ([0.5, 1.0], np.array(["a", 1], object), [1, 2, 3], [[1], [2]], [True, False]):
        with pytest.raises(OpenworldError, match="groups"):
            as_groups(wrong, "groups", 2)


def test_a_mask_holds_true_and_false_or_0_and_1():
    for right in ([[True]], [[1.0]], np.ones((1, 1), np.uint64)):
        assert as_mask(right, "present", (1, 1)).tolist() == [[True]]
    for wrong in ([[2.0]], [["x"]], [[None]], [[-1]]):
        with pytest.raises(OpenworldError, match="present"):
            as_mask(wrong, "present", (1, 1))


def test_numbers_whose_squares_are_infinite_are_refused():
    assert require_size(np.array([-1e140]), "values").tolist() == [-1e140]
    with pytest.raises(OpenworldError, match="1e\\+300"):
        require_size(np.array([0.0, -1e300]), "values")


@pytest.mark.parametrize(
    ("name", "most"),
    [("threads", 1024), ("shots[1]", 10**6), ("k", 2**63 - 1)],
)
def test_settings_have_an_upper_end(name, most):
    require_at_least(1, **{name: most})
    with pytest.raises(OpenworldError, match=f"{re.escape(name)} is {most + 1}, expected at most {most}"):
        require_at_least(1, **{name: most + 1})
    require_at_least(0, weight=1e140)
    with pytest.raises(OpenworldError, match="weight is 1e\\+300, expected at most 1e\\+140"):
        require_at_least(0, weight=1e300)


def test_seeds_are_not_negative_fit_into_63_bits_and_are_not_endless():
    require_seeds(range(1000))
    for seeds, said in (([1, -1], r"seeds\[1\] is -1"), ([2**63], r"seeds\[0\] is"), (range(1001), "1001 seeds came")):
        with pytest.raises(OpenworldError, match=said):
            require_seeds(seeds)
