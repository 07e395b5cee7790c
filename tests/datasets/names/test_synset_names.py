"""Classes that are called by WordNet ids get names, or are refused."""

import sys
from pathlib import Path

import pytest

from openworld import OpenworldError
from openworld.datasets.names.overlaps import name_synsets
from openworld.datasets.names.wordnet import WordNet

sys.path.append(str(Path(__file__).parents[1]))
from mini_wordnet import write_wordnet  # noqa: E402


@pytest.fixture
def wordnet(tmp_path):
    places = write_wordnet(tmp_path, [("benthos",), ("Plant", "flora", "plant_life")])
    return WordNet(tmp_path), [f"n{place:08d}" for place in places]


def test_ids_are_named_by_wordnet_and_names_stay(wordnet):
    nouns, (benthos, plant) = wordnet
    assert name_synsets([plant, "my class", benthos, "n01440764"], nouns) == ("Plant", "my class", "benthos", "tench")


def test_wordnet_is_found_where_the_environment_says(wordnet, monkeypatch):
    nouns, (benthos, _) = wordnet
    monkeypatch.setenv("WNSEARCHDIR", str(nouns.folder))
    assert name_synsets([benthos]) == ("benthos",)


def test_without_wordnet_an_id_is_refused_and_never_read_out(monkeypatch):
    monkeypatch.setattr("openworld.datasets.names.overlaps.find_wordnet", lambda: None)
    with pytest.raises(OpenworldError, match="first 'n00005787'.*wordnet-base.*text file"):
        name_synsets(["n01440764", "n00005787"])
    assert name_synsets(["n01440764"]) == ("tench",)
