"""Forms of class names: plurals, names without letters, and pairs that share a form."""

import string

from hypothesis import given
from hypothesis import strategies as st

from openworld.datasets.names.forms import sharing, singular

PLURALS = {
    "cats": "cat", "cherries": "cherry", "pies": "pie", "churches": "church", "foxes": "fox", "wolves": "wolf",
    "knives": "knife", "policemen": "policeman", "geese": "goose", "potatoes": "potato", "shoes": "shoe",
    "houses": "house", "octopuses": "octopus", "glasses": "glass",
}  # fmt: skip


def test_plurals_and_what_ends_like_one_and_is_none():
    assert [singular(word) for word in PLURALS] == list(PLURALS.values())
    for word in ("glass", "bus", "iris", "lens", "species", "gas", "chess", "as", *PLURALS.values()):
        assert singular(word) == word


@given(st.lists(st.text(alphabet=string.ascii_lowercase[:3], max_size=3), max_size=8))
def test_sharing_is_the_double_loop(names):
    keys = lambda name: set(name)  # noqa: E731
    pairs = [(i, j) for i, one in enumerate(names) for j, other in enumerate(names) if set(one) & set(other)]
    assert list(sharing(names, list(names), keys)) == pairs
    assert list(sharing(names, names, keys)) == [(i, j) for i, j in pairs if i < j]
