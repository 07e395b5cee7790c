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
    for name in ("cricket bat", "Cricket_Bat", "cricket bats", "Cricket-bat"):
        assert nouns.meanings(name) == (places[4],)
    assert nouns.meanings("Jack-o'-lantern") == (places[3],)
    assert nouns.meanings("oxen") == (places[2],)
    (tmp_path / "noun.exc").unlink()
    assert WordNet(tmp_path).meanings("oxen") == ()


def test_missing_files_other_versions_and_empty_places_are_refused(tmp_path, places):
    for place in (1741, 99_999_999):
        with pytest.raises(OpenworldError, match=f"has no noun n{place:08d}"):
            WordNet(tmp_path).names(place)
    (tmp_path / "data.noun").write_text("00001740 03 n 01 entity 0 000 | WordNet 3.1 has no licence of that length\n")
    with pytest.raises(OpenworldError, match="another version of WordNet"):
        WordNet(tmp_path)
    (tmp_path / "data.noun").unlink()
    with pytest.raises(OpenworldError, match=r"has no data.noun; give the folder"):
        WordNet(tmp_path)


def test_it_is_found_where_it_is_said_to_be_or_usually_is(tmp_path, places, monkeypatch):
    for variable in ("WNSEARCHDIR", "WNHOME", "NLTK_DATA"):
        monkeypatch.delenv(variable, raising=False)
    other = tmp_path / "other"
    other.mkdir()
    for name in ("index.noun", "data.noun"):
        (other / name).write_text("of WordNet 3.1")
    looked_at = [tmp_path / "nowhere", other]
    monkeypatch.setattr(wordnet, "usual_places", lambda: looked_at)
    assert find_wordnet() is None
    looked_at.append(tmp_path)
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
