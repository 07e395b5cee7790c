"""The de-duplication rule of the cross-data-set task, by hand."""

import pytest
from mini_wordnet import write_wordnet

from openworld.core.errors import OpenworldError
from openworld.datasets.names.class_names import class_names
from openworld.datasets.names.overlaps import Overlap, as_csv, normalised, overlaps
from openworld.datasets.names.wordnet import WordNet


def test_names_meet_in_lower_case_singular_without_signs():
    found = overlaps(["Sunflowers", "wild_cats", "car-side", "sun"], ["sunflower", "Wild cat", "side car"])
    assert found == (Overlap("Sunflowers", "sunflower"), Overlap("wild_cats", "Wild cat"))  # word order counts


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


def test_a_number_at_the_end_does_not_count():
    assert normalised("Audi S6 Sedan 2011") == normalised("audi_s6_sedan") == "audi s6 sedan"
    assert normalised("101") == "101"


def test_ids_need_wordnet_and_one_per_name():
    with pytest.raises(OpenworldError, match="no WordNet 3.0 was given"):
        overlaps(["cat"], ["cat"], ["n00001740"])
    with pytest.raises(OpenworldError, match="2 WordNet ids for 1 names"):
        overlaps(["cat"], ["cat"], ["n00001740", "n00001740"])


def test_csv():
    assert as_csv([Overlap("a, b", "c", "d")]) == 'class,base_class,wordnet_name\n"a, b",c,d\n'


def test_class_names_from_a_file_and_of_a_data_set(tmp_path):
    file = tmp_path / "mine.txt"
    file.write_text("n01440764 tench\n\nn01443537 wild_goldfish\n")
    told = class_names(str(file))
    assert (told.dataset, told.names) == ("mine", ("tench", "wild goldfish"))
    assert told.base.wordnet_ids == ("n01440764",)
    assert len(class_names("emoji-concepts").base.names) == 50
    file.write_text("\n")
    with pytest.raises(OpenworldError, match="is empty"):
        class_names(str(file))
    with pytest.raises(OpenworldError, match="there is no file nowhere.txt"):
        class_names("nowhere.txt")
