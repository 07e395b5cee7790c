"""BREEDS' superclasses: against results of its own package, and by hand."""

import json
from pathlib import Path

import pytest
import shifted_trees as trees

from openworld.core.errors import OpenworldError
from openworld.datasets.published.breeds import ROOT, BreedsTask, Hierarchy, superclasses

REFERENCE = json.loads((Path(__file__).parents[2] / "reference" / "breeds.json").read_text())


def long(short: str) -> str:
    """n00 is the root; the others keep their order."""
    return ROOT if short == "n00" else f"n9{short[1:]:0>7}"


def plant(folder, case) -> Hierarchy:
    edges = [tuple(map(long, edge.split(">"))) for edge in case["edges"].split()]
    trees.plant_hierarchy(folder, edges, list(map(long, case["classes"].split())), {ROOT: "thing"})
    return Hierarchy(folder)


@pytest.mark.parametrize("number", range(len(REFERENCE["hierarchies"])))
def test_superclasses_are_those_of_the_package_robustness(tmp_path, number):
    case = REFERENCE["hierarchies"][number]
    task = BreedsTask(case["level"], case["subclasses"], long(case["below"]))
    found = [(one.node, one.source, one.target) for one in superclasses(task, plant(tmp_path, case))]
    assert found == [
        (long(node), *(tuple(map(long, side.split())) for side in sides)) for node, *sides in case["superclasses"]
    ]


def hierarchy(folder, edges: str, classes: str, names=None) -> Hierarchy:
    pairs = [
        (ROOT if parent == "root" else parent, child) for parent, child in (one.split(">") for one in edges.split())
    ]
    trees.plant_hierarchy(folder, pairs, classes.split(), names or {ROOT: "thing"})
    return Hierarchy(folder)


def test_by_hand(tmp_path):
    """d has three classes, c two, e one; halves of two are filled from d, then from c."""
    edges = "root>a a>c a>d a>e d>5 d>3 d>4 c>1 c>2 e>6 root>b b>7"
    below = hierarchy(tmp_path, edges, "1 2 3 4 5 6 7", {"a": "animal, beast"})
    assert below.leaves("a") == ["1", "2", "3", "4", "5", "6"]
    assert below.at_level(1, ROOT) == ["a", "b"]
    (found,) = superclasses(BreedsTask(level=1, subclasses=4), below)
    assert (found.name, found.source, found.target) == ("animal", ("3", "1"), ("4", "5"))


@pytest.mark.parametrize(
    ("edges", "classes", "message"),
    [
        ("root>a a>b b>a b>1", "1", "is its own ancestor"),
        ("root>a a>b a>c a>d b>1 b>2 c>2 c>3 d>4", "1 2 3 4", "cannot be shared out"),
        ("root>a a>1", "1", "no node at level 1 has 4 classes"),
    ],
)
def test_hierarchies_that_breeds_cannot_share_out(tmp_path, edges, classes, message):
    with pytest.raises(OpenworldError, match=message):
        superclasses(BreedsTask(level=1, subclasses=4), hierarchy(tmp_path, edges, classes))
