"""The de-duplication rule of the cross-data-set task: by hand, and on the class names that come with the package."""

import pytest
from mini_wordnet import write_wordnet

from openworld.core.errors import OpenworldError
from openworld.datasets import PUBLISHED
from openworld.datasets.names.class_names import (
    ClassNames,
    Overlap,
    as_csv,
    class_names,
    listed_names,
    name_synsets,
    normalised,
    overlaps,
    overlaps_with,
)
from openworld.datasets.names.wordnet import WordNet

COUNTS = {"caltech101": 22, "stanford_cars": 0, "fgvc_aircraft": 0, "sun397": 7, "dtd": 0, "eurosat": 0, "ucf101": 2}
"""Of the data sets of OpenworldAUC, classes that are among ImageNet's first 500."""


def test_names_meet_in_lower_case_singular_without_signs_or_a_number_at_the_end():
    found = overlaps(["Sunflowers", "wild_cats", "car-side", "sun"], ["sunflower", "Wild cat", "side car"])
    assert found == (Overlap("Sunflowers", "sunflower"), Overlap("wild_cats", "Wild cat"))  # word order counts
    assert normalised("Audi S6 Sedan 2011") == normalised("audi_s6_sedan") == "audi s6 sedan"
    assert normalised("101") == "101"
    assert as_csv([Overlap("a, b", "c", "d")]) == 'class,base_class,wordnet_name\n"a, b",c,d\n'


def test_names_meet_through_the_base_class_s_own_synset_alone(tmp_path):
    bird, machine = write_wordnet(tmp_path, [("crane", "wader"), ("crane", "derrick")])
    nouns, outer = WordNet(tmp_path), ["Derrick", "wader", "crane"]
    assert overlaps(outer, ["crane bird"], [f"n{bird:08d}"], nouns) == (
        Overlap("wader", "crane bird", "wader"),
        Overlap("crane", "crane bird", "crane"),
    )
    assert overlaps(outer, ["crane"], [f"n{machine:08d}"], nouns) == (
        Overlap("Derrick", "crane", "derrick"),
        Overlap("crane", "crane"),
    )


@pytest.mark.parametrize("name", ["imagenet", *COUNTS])
def test_lists_hold_all_classes_and_as_many_overlap_as_the_docs_say(name):
    names = listed_names(name).names
    twice = 2 if name == "imagenet" else 0  # missile and sunglasses, in the new half
    assert len(set(names)) + twice == len(names) == PUBLISHED[name].classes
    if name in COUNTS:
        assert len(overlaps_with(names, listed_names("imagenet"))) == COUNTS[name]


def test_well_known_overlaps_by_hand():
    imagenet = listed_names("imagenet")
    found = {one.name: one for one in overlaps_with(listed_names("caltech101").names, imagenet)}
    assert found["llama"] == Overlap("llama", "llama")
    assert found["cellphone"] == Overlap("cellphone", "mobile phone", "cellphone")  # n02992529 has both names
    assert "revolver" not in found  # ImageNet's revolver is class 763, a new one
    found = overlaps_with(listed_names("ucf101").names, imagenet)
    assert [one.base_name for one in found] == ["balance beam", "basketball"]
    source = class_names("emoji-concepts")
    assert overlaps_with(class_names("emoji-subgroups").names, source) == (Overlap("warning", "warning"),)
    assert overlaps_with(["pigs", "cows"], ClassNames("farm", ("hen", "pig", "cow"))) == (Overlap("pigs", "pig"),)


def test_ids_are_named_by_wordnet_and_names_stay(tmp_path, monkeypatch):
    benthos, plant = (f"n{place:08d}" for place in write_wordnet(tmp_path, [("benthos",), ("Plant", "flora")]))
    names = [plant, "my class", benthos, "n01440764"]
    assert name_synsets(names, WordNet(tmp_path)) == ("Plant", "my class", "benthos", "tench")
    monkeypatch.setenv("WNSEARCHDIR", str(tmp_path))
    assert name_synsets([benthos]) == ("benthos",)
    monkeypatch.setattr("openworld.datasets.names.class_names.find_wordnet", lambda: None)
    with pytest.raises(OpenworldError, match="first 'n00005787'.*wordnet-base.*text file"):
        name_synsets(["n01440764", "n00005787"])
    assert name_synsets(["n01440764"]) == ("tench",)


def test_class_names_from_a_file_and_of_a_data_set(tmp_path):
    file = tmp_path / "mine.txt"
    file.write_text("n01440764 tench\n\nn01443537 wild_goldfish\n")
    listed = class_names(str(file))
    assert (listed.dataset, listed.names) == ("mine", ("tench", "wild goldfish"))
    assert listed.base.wordnet_ids == ("n01440764",)
    assert len(class_names("emoji-concepts").base.names) == 50
    file.write_text("\n")
    with pytest.raises(OpenworldError, match="is empty"):
        class_names(str(file))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: overlaps(["cat"], ["cat"], ["n00001740"]), "no WordNet 3.0 was given"),
        (lambda: overlaps(["cat"], ["cat"], ["n00001740"] * 2), "2 WordNet ids for 1 names"),
        (
            lambda: overlaps_with(["thing"], ClassNames("top", ("entity", "thing"), ("n00001740",) * 2)),
            "no class of ImageNet's",
        ),
        (lambda: class_names("nowhere.txt"), "there is no file nowhere.txt"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(OpenworldError, match=message):
        call()
