"""WordNet's files: names to meanings and back, plurals, other versions and damaged folders."""

import pytest
from mini_wordnet import write_wordnet

from openworld.core.errors import OpenworldError
from openworld.datasets.names import wordnet
from openworld.datasets.names.wordnet import WordNet, find_wordnet, meaning_of, split_synset_ids

SYNSETS = [("sofa", "couch", "lounge"), ("couch",), ("ox",), ("jack-o'-lantern",), ("cricket_bat", "bat")]


@pytest.fixture
def places(tmp_path):
    return write_wordnet(tmp_path, SYNSETS, {"oxen": "ox"})


def test_names_have_meanings_and_meanings_names(tmp_path, places):
    nouns = WordNet(tmp_path)
    assert nouns.meanings("couch") == (places[0], places[1])
    assert nouns.names(places[0]) == ("sofa", "couch", "lounge")
    assert nouns.names(places[4]) == ("cricket bat", "bat")
    assert nouns.meanings("unheard of") == ()


@pytest.mark.parametrize("name", ["cricket bat", "Cricket_Bat", "cricket bats", "Cricket-bat"])
def test_a_name_is_found_however_it_is_written(tmp_path, places, name):
    assert WordNet(tmp_path).meanings(name) == (places[4],)


def test_irregular_plurals_come_from_the_exceptions(tmp_path, places):
    assert WordNet(tmp_path).meanings("oxen") == (places[2],)
    (tmp_path / "noun.exc").unlink()
    assert WordNet(tmp_path).meanings("oxen") == ()


def test_punctuation_that_belongs_to_a_name_is_kept(tmp_path, places):
    assert WordNet(tmp_path).meanings("Jack-o'-lantern") == (places[3],)


def test_no_synset_at_a_place(tmp_path, places):
    with pytest.raises(OpenworldError, match="has no noun n00001741"):
        WordNet(tmp_path).names(1741)
    with pytest.raises(OpenworldError, match="has no noun n99999999"):
        WordNet(tmp_path).names(99_999_999)


def test_missing_files_and_other_versions_are_refused(tmp_path, places):
    (tmp_path / "data.noun").write_text("00001740 03 n 01 entity 0 000 | WordNet 3.1 has no licence of that length\n")
    with pytest.raises(OpenworldError, match="another version of WordNet"):
        WordNet(tmp_path)
    (tmp_path / "data.noun").unlink()
    with pytest.raises(OpenworldError, match=r"has no data.noun; give the folder"):
        WordNet(tmp_path)


def test_it_is_found_where_it_is_said_to_be_or_usually_is(tmp_path, places, monkeypatch):
    monkeypatch.delenv("WNSEARCHDIR", raising=False)
    monkeypatch.setattr(wordnet, "PLACES", (str(tmp_path / "nowhere"),))
    assert find_wordnet() is None
    monkeypatch.setattr(wordnet, "PLACES", (str(tmp_path / "nowhere"), str(tmp_path)))
    assert find_wordnet().folder == tmp_path
    monkeypatch.setenv("WNSEARCHDIR", str(tmp_path / "nowhere"))
    with pytest.raises(OpenworldError, match="has no index.noun"):
        find_wordnet()
    assert find_wordnet(tmp_path).folder == tmp_path


def test_synset_ids():
    assert meaning_of("n00001740") == 1740
    with pytest.raises(OpenworldError, match="'n123' is no WordNet id"):
        meaning_of("n123")
    assert split_synset_ids(["n01440764 great white shark"]) == (["great white shark"], ["n01440764"])
    assert split_synset_ids(["n01440764 tench", "goldfish"]) == (["n01440764 tench", "goldfish"], [])
