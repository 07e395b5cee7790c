"""Path and Wu-Palmer similarity: by hand, over a small WordNet, several ways up, and an edge-by-edge twin."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mini_wordnet import write_wordnet

from openworld.core.errors import OpenworldError
from openworld.datasets.names import wordnet
from openworld.datasets.names.taxonomy import path_and_wup, read_edges, taxonomy_similarity, wordnet_similarity
from openworld.datasets.names.wordnet import WordNet

EDGES = "entity animal\nentity device\nanimal dog\nanimal cat\ndog puppy\n\ndevice car\n"


def similar(classes, above, kind):
    def parents(node):
        return above.get(node, ())

    path, wup = path_and_wup(classes, parents)
    return {"path": path, "wup": wup, "mean": taxonomy_similarity(classes, parents)}[kind]


@pytest.fixture
def above(tmp_path):
    (tmp_path / "edges.txt").write_text(EDGES)
    return read_edges(tmp_path / "edges.txt")


def test_by_hand(above):
    path = similar(["puppy", "cat", "car"], above, "path")
    assert path == pytest.approx(np.array([[1, 1 / 4, 1 / 6], [1 / 4, 1, 1 / 5], [1 / 6, 1 / 5, 1]]))
    wup = similar(["puppy", "cat", "car"], above, "wup")
    assert wup == pytest.approx(np.array([[1, 4 / 7, 2 / 7], [4 / 7, 1, 1 / 3], [2 / 7, 1 / 3, 1]]))
    assert similar(["puppy", "cat", "car"], above, "mean") == pytest.approx((path + wup) / 2)


def test_a_class_may_lie_above_another_and_have_several_ways_up(above):
    """The shortest path counts, and the deepest common ancestor."""
    assert similar(["dog", "puppy"], above, "path")[0, 1] == 1 / 2
    assert similar(["dog", "puppy"], above, "wup")[0, 1] == pytest.approx(6 / 7)
    above = {"a": ["top"], "b": ["a"], "c": ["b"], "one": ["c", "top"], "two": ["c", "top"]}
    assert similar(["one", "two"], above, "path")[0, 1] == 1 / 3
    assert similar(["one", "two"], above, "wup")[0, 1] == pytest.approx(8 / 10)


def test_wordnet_ids(tmp_path, monkeypatch):
    above = {2: (0,), 3: (0, 1), 4: (2,)}
    places = write_wordnet(tmp_path, [("animal",), ("pet",), ("dog",), ("cat",), ("puppy",)], above=above)
    nouns = WordNet(tmp_path)
    assert nouns.hypernyms(places[3]) == (places[0], places[1]) and nouns.hypernyms(1740) == ()
    ids = [f"n{places[number]:08d}" for number in (4, 3, 1)]
    assert wordnet_similarity(ids, nouns)[0, 1] == pytest.approx((1 / 4 + 4 / 7) / 2)
    monkeypatch.delenv("WNSEARCHDIR", raising=False)
    monkeypatch.setattr(wordnet, "usual_places", tuple)
    with pytest.raises(OpenworldError, match="install Debian's wordnet-base"):
        wordnet_similarity(ids)


@st.composite
def taxonomies(draw):
    """Node i has parents among the nodes before it; node 0 is the root."""
    size = draw(st.integers(2, 9))
    return {i: draw(st.sets(st.integers(0, i - 1), min_size=1, max_size=2)) for i in range(1, size)}


def ways(node, above):
    """Every way from a node up to the root."""
    return [[node, *way] for up in above.get(node, ()) for way in ways(up, above)] or [[node]]


@given(taxonomies())
def test_equals_all_ways_written_out(above):
    nodes = [0, *above]
    path, wup = similar(nodes, above, "path"), similar(nodes, above, "wup")
    assert np.array_equal(path, path.T) and np.array_equal(wup, wup.T)
    assert (np.diag(path) == 1).all() and (np.diag(wup) == 1).all()
    for one, other in combinations(nodes, 2):
        pairs = list(product(ways(one, above), ways(other, above)))
        shared = {up for a, b in pairs for up in set(a) & set(b)}
        joined = {up: min(a.index(up) + b.index(up) for a, b in pairs if up in a and up in b) for up in shared}
        depth = {up: max(map(len, ways(up, above))) for up in joined}
        deepest = max(depth.values())
        nearest = min(steps for up, steps in joined.items() if depth[up] == deepest)
        assert path[one, other] == pytest.approx(1 / (1 + min(joined.values())))
        assert wup[one, other] == pytest.approx(2 * deepest / (nearest + 2 * deepest))


def test_refusals(above, tmp_path):
    with pytest.raises(OpenworldError, match="'dog' and 'rock' have no common ancestor"):
        similar(["dog", "rock"], above, "mean")
    with pytest.raises(OpenworldError, match="its own ancestor"):
        similar(["a"], {"a": ["b"], "b": ["a"]}, "mean")
    (tmp_path / "odd.txt").write_text("a b\nc\n")
    with pytest.raises(OpenworldError, match="line 2: 'c' is no edge"):
        read_edges(tmp_path / "odd.txt")
