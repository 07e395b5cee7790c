import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openworld.core.errors import OpenworldError
from openworld.datasets import ClassSplit, base_new_split, few_shot, reseeded_few_shot

LABELS = st.lists(st.integers(0, 5), min_size=1, max_size=60)


@given(st.permutations(range(7)))
def test_an_order_is_cut_as_it_stands(order):
    base, new = base_new_split(7, order)
    assert base.tolist() == order[:4]
    assert new.tolist() == order[4:]


@given(LABELS, st.integers(1, 20), st.integers(0, 9))
def test_the_draw_is_the_published_one(labels, shots, seed):
    """Dassl's loop over items, written out."""
    random.seed(seed)
    tracker: dict[int, list[int]] = {}
    for item, label in enumerate(labels):
        tracker.setdefault(label, []).append(item)
    expected = []
    for items in tracker.values():
        expected += random.sample(items, shots) if len(items) >= shots else items
    assert few_shot(labels, shots, random.Random(seed)).tolist() == expected


@given(LABELS, st.integers(1, 20), st.integers(0, 9))
def test_the_draw_of_openworldaucs_code_begins_anew_for_every_class(labels, shots, seed):
    expected = []
    for label in dict.fromkeys(labels):
        items = [item for item, other in enumerate(labels) if other == label]
        random.seed(seed)
        expected += random.sample(items, shots) if len(items) >= shots else random.choices(items, k=shots)
    assert reseeded_few_shot(labels, shots, seed).tolist() == expected


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: base_new_split(3, [0, 1, 1]), "every class index from 0 to 2 once"),
        (lambda: base_new_split(1), "at least 2"),
        (lambda: reseeded_few_shot([0, 1], 0, 0), "shots is 0, expected a number from 1"),
        (lambda: few_shot([0, 1], 0, random.Random(0)), "shots is 0, expected a number from 1"),
    ],
)
def test_wrong_input_is_refused(call, message):
    with pytest.raises(OpenworldError, match=message):
        call()


def test_names_are_cut_in_the_order_given_and_joined_base_first():
    cut = ClassSplit.of(("cat", "dog", "owl"), [2, 0, 1])
    assert (cut.base_names, cut.new_names) == (("owl", "cat"), ("dog",))
    joined = ClassSplit.joined(("cat",), ["owl", "dog"])
    assert joined.names == ("cat", "owl", "dog")
    assert (joined.base.tolist(), joined.new.tolist()) == ([0], [1, 2])
