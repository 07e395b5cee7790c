"""Forms of class names: one slip of the pen against all slips there are, plurals, and pairs."""

import string

from hypothesis import given
from hypothesis import strategies as st

from openworld.datasets.names.forms import bare, joined, one_slip_apart, sharing, singular, slips

words = st.text(alphabet="abc", min_size=0, max_size=6)


def every_slip(word):
    """All texts one letter added, left out, changed or swapped away."""
    cuts = [(word[:place], word[place:]) for place in range(len(word) + 1)]
    left_out = [a + b[1:] for a, b in cuts if b]
    swapped = [a + b[1] + b[0] + b[2:] for a, b in cuts if len(b) > 1]
    changed = [a + letter + b[1:] for a, b in cuts if b for letter in "abc"]
    added = [a + letter + b for a, b in cuts for letter in "abc"]
    return {*left_out, *swapped, *changed, *added} - {word}


@given(words, words)
def test_one_slip_is_one_of_all_slips(one, other):
    assert one_slip_apart(one, other) == (other in every_slip(one)) == one_slip_apart(other, one)


@given(st.text(alphabet="abc", min_size=5, max_size=8), st.data())
def test_names_one_slip_apart_share_a_key(word, data):
    other = data.draw(st.sampled_from(sorted(every_slip(word))))
    if min(len(word), len(other)) >= 5:
        assert slips(word) & slips(other)


PLURALS = {
    "cats": "cat", "cherries": "cherry", "pies": "pie", "churches": "church", "foxes": "fox", "wolves": "wolf",
    "knives": "knife", "policemen": "policeman", "geese": "goose", "potatoes": "potato", "shoes": "shoe",
    "houses": "house", "octopuses": "octopus", "glasses": "glass",
}  # fmt: skip


def test_plurals_and_what_ends_like_one_and_is_none():
    assert [singular(word) for word in PLURALS] == list(PLURALS.values())
    for word in ("glass", "bus", "iris", "lens", "species", "gas", "chess", "as", *PLURALS.values()):
        assert singular(word) == word


def test_names_without_letters_keep_themselves():
    assert bare("???") == joined("???") == "???"
    assert not slips("cat")


@given(st.lists(st.text(alphabet=string.ascii_lowercase[:3], max_size=3), max_size=8))
def test_sharing_is_the_double_loop(names):
    keys = lambda name: set(name)  # noqa: E731
    pairs = [(i, j) for i, one in enumerate(names) for j, other in enumerate(names) if set(one) & set(other)]
    assert list(sharing(names, list(names), keys)) == pairs
    assert list(sharing(names, names, keys)) == [(i, j) for i, j in pairs if i < j]
