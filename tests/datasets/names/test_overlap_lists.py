"""The rule of overlaps on the class names that come with the package, here and on every machine."""

import pytest

from openworld.core.errors import OpenworldError
from openworld.datasets import PUBLISHED
from openworld.datasets.names.class_names import ClassNames, class_names, listed_names
from openworld.datasets.names.overlaps import Overlap, imagenet_words, overlaps, overlaps_with
from openworld.datasets.names.wordnet import find_wordnet, meaning_of

COUNTS = {"caltech101": 22, "stanford_cars": 0, "fgvc_aircraft": 0, "sun397": 7, "dtd": 0, "eurosat": 0, "ucf101": 2}
"""Of the data sets of OpenworldAUC, classes that are among ImageNet's first 500."""


def against_imagenet(name):
    return overlaps_with(listed_names(name).names, listed_names("imagenet"))


@pytest.mark.parametrize("name", COUNTS)
def test_as_many_classes_overlap_as_the_docs_say(name):
    assert len(against_imagenet(name)) == COUNTS[name]


@pytest.mark.parametrize("name", ["imagenet", *COUNTS])
def test_there_are_as_many_names_as_published_classes(name):
    names = listed_names(name).names
    twice = 2 if name == "imagenet" else 0  # missile and sunglasses, in the new half
    assert len(set(names)) + twice == len(names) == PUBLISHED[name].classes


def test_well_known_overlaps_by_hand():
    found = {one.name: one for one in against_imagenet("caltech101")}
    assert found["llama"] == Overlap("llama", "llama")
    assert found["cellphone"] == Overlap("cellphone", "mobile phone", "cellphone")  # n02992529 has both names
    assert "revolver" not in found  # ImageNet's revolver is class 763, a new one
    assert [one.base_name for one in against_imagenet("ucf101")] == ["balance beam", "basketball"]
    source = class_names("emoji-concepts")
    assert overlaps_with(class_names("emoji-subgroups").names, source) == (Overlap("warning", "warning"),)


def test_the_words_are_those_of_wordnet():
    nouns = find_wordnet()
    if nouns is None:
        pytest.skip("WordNet 3.0 is not on this machine")
    assert all(nouns.names(meaning) == names for meaning, names in imagenet_words().items())


def test_the_words_are_of_imagenets_classes_and_fit_their_names():
    listed = listed_names("imagenet")
    assert [meaning_of(one) for one in listed.wordnet_ids] == list(imagenet_words())
    shared = overlaps(listed.names, listed.names, listed.wordnet_ids, imagenet_words())
    assert len(shared) == 1000
    alone = [
        set(name.lower().split()) & _words(one) for name, one in zip(listed.names, listed.wordnet_ids, strict=True)
    ]
    assert sum(map(bool, alone)) > 850  # a list shifted by one class would share next to none


def _words(wordnet_id):
    return {word for name in imagenet_words().names(meaning_of(wordnet_id)) for word in name.lower().split()}


def test_any_other_data_set_meets_the_same_rule_without_wordnet(monkeypatch):
    monkeypatch.setattr("openworld.datasets.names.wordnet.PLACES", ())
    found = overlaps_with(["Cellphones", "Revolver", "tinca tinca", "lamp"], listed_names("imagenet"))
    assert [(one.name, one.base_name) for one in found] == [("Cellphones", "mobile phone"), ("tinca tinca", "tench")]


def test_only_the_base_half_counts():
    source = ClassNames("farm", ("hen", "pig", "cow"))
    assert overlaps_with(["pigs", "cows"], source) == (Overlap("pigs", "pig"),)


def test_ids_beyond_imagenet_are_refused(tmp_path):
    (tmp_path / "ids.txt").write_text("n00001740 entity\nn00001930 physical entity\n")
    with pytest.raises(OpenworldError, match="n00001740 is no class of ImageNet's"):
        overlaps_with(["thing"], class_names(str(tmp_path / "ids.txt")))
