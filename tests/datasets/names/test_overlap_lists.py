"""The lists of overlaps that come with the package are what the rule gives, here and on every machine."""

import importlib.util

import pytest

from openworld._errors import OpenworldError
from openworld.datasets import PUBLISHED
from openworld.datasets.names.class_names import ClassNames, class_names
from openworld.datasets.names.overlaps import (
    LISTS,
    Overlap,
    as_csv,
    imagenet_words,
    list_name,
    overlaps,
    overlaps_with,
    published_overlaps,
)
from openworld.datasets.names.wordnet import find_wordnet, meaning_of

PAIRS = [(name, base) for base, outer in LISTS.items() for name in outer]


@pytest.fixture
def tool(repository):
    spec = importlib.util.spec_from_file_location("list_overlaps", repository / "tools" / "list_overlaps.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("name", "base"), PAIRS)
def test_the_tool_makes_every_list_again_byte_for_byte(tool, name, base):
    assert (tool.GOAL / list_name(name, base)).read_text(encoding="utf-8") == tool.list_csv(name, base)
    assert as_csv(published_overlaps(name, base)) == tool.list_csv(name, base)


@pytest.mark.parametrize("name", ["imagenet", *LISTS["imagenet"]])
def test_there_are_as_many_names_as_published_classes(tool, name):
    names = tool.names_of(name).names
    twice = 2 if name == "imagenet" else 0  # missile and sunglasses, in the new half
    assert len(set(names)) + twice == len(names) == PUBLISHED[name].classes


def test_no_further_file_lies_there(tool):
    lists = {list_name(name, base) for name, base in PAIRS}
    assert {path.name for path in tool.GOAL.glob("*.csv")} == lists | {"imagenet_words.csv"}


def test_well_known_overlaps_by_hand():
    found = {one.name: one for one in published_overlaps("caltech101")}
    assert found["llama"] == Overlap("llama", "llama")
    assert found["cellphone"] == Overlap("cellphone", "mobile phone", "cellphone")  # n02992529 has both names
    assert "revolver" not in found  # ImageNet's revolver is class 763, a new one
    assert published_overlaps("dtd") == ()
    assert published_overlaps("emoji-subgroups", "emoji-concepts") == (Overlap("warning", "warning"),)


def test_the_words_are_those_of_wordnet():
    nouns = find_wordnet()
    if nouns is None:
        pytest.skip("WordNet 3.0 is not on this machine")
    assert all(nouns.names(meaning) == names for meaning, names in imagenet_words().by_meaning.items())


def test_the_words_are_of_imagenets_classes_and_fit_their_names(tool):
    listed = tool.names_of("imagenet")
    assert [meaning_of(one) for one in listed.wordnet_ids] == list(imagenet_words().by_meaning)
    shared = overlaps(listed.names, listed.names, listed.wordnet_ids, imagenet_words())
    assert len(shared) == 1000
    alone = [
        set(name.lower().split()) & _words(one) for name, one in zip(listed.names, listed.wordnet_ids, strict=True)
    ]
    assert sum(map(bool, alone)) > 850  # a list shifted by one class would share next to none


def _words(wordnet_id):
    return {word for name in imagenet_words().names(meaning_of(wordnet_id)) for word in name.lower().split()}


def test_any_other_data_set_meets_the_same_rule_without_wordnet(tool, monkeypatch):
    monkeypatch.setattr("openworld.datasets.names.wordnet.PLACES", ())
    found = overlaps_with(["Cellphones", "Revolver", "tinca tinca", "lamp"], tool.names_of("imagenet"))
    assert [(one.name, one.base_name) for one in found] == [("Cellphones", "mobile phone"), ("tinca tinca", "tench")]


def test_only_the_base_half_counts():
    source = ClassNames("farm", ("hen", "pig", "cow"))
    assert overlaps_with(["pigs", "cows"], source) == (Overlap("pigs", "pig"),)


def test_ids_beyond_imagenet_are_refused(tmp_path):
    (tmp_path / "ids.txt").write_text("n00001740 entity\nn00001930 physical entity\n")
    with pytest.raises(OpenworldError, match="n00001740 is no class of ImageNet's"):
        overlaps_with(["thing"], class_names(str(tmp_path / "ids.txt")))


@pytest.mark.parametrize("pair", [("food101", "imagenet"), ("dtd", "imagenets")])
def test_a_pair_without_a_list_is_named(pair):
    with pytest.raises(OpenworldError, match="unknown"):
        published_overlaps(*pair)
