"""Word lists: WordNet's data files where they lie, lists of one's own, and what is refused."""

import pytest

from openworld import OpenworldError
from openworld.datasets.names import wordnet as places
from openworld.datasets.names.word_lists import WordList, word_list

NOUNS = """\
  1 This licence says what may be done; 00001740 is a number in it.
00001740 03 n 01 entity 0 001 ~ 00001930 n 0000 | that which is perceived
00015388 05 n 02 animal 0 beast 0 001 @ 00001740 n 0000 | a living organism
00007846 18 n 02 person 0 beast 1 001 @ 00001740 n 0000 | a human being
07929519 13 n 01 hot_dog 0 000 | a frankfurter
13582013 23 n 01 dozen 0 000 | twelve
00031264 14 n 01 group 0 000 | any number
09044862 15 n 01 Costa_Rica 0 000 | a republic
00123456 06 n 0b a1 0 a2 0 a3 0 a4 0 a5 0 a6 0 a7 0 a8 0 a9 0 a10 0 a11 0 000 | eleven, in hexadecimal
"""
ADJECTIVES = """\
  1 This licence says what may be done.
00001740 00 a 01 able 0 005 = 05200169 n 0000 | having the means
00002312 00 s 02 abaxial(p) 0 red_hot(a) 0 000 | facing away
00003131 00 s 02 galore(ip) 0 animal 0 000 | in abundance
02678438 01 a 01 Abyssinian 0 000 | of Abyssinia
"""
ELEVEN = tuple(f"a{place}" for place in range(1, 12))
READ = WordList(
    ("entity", "animal", "beast", "hot dog", "Costa Rica", *ELEVEN), ("able", "abaxial", "red hot", "galore")
)


@pytest.fixture
def wordnet(tmp_path):
    folder = tmp_path / "data" / "corpora" / "wordnet"
    folder.mkdir(parents=True)
    (folder / "data.noun").write_text(NOUNS)
    (folder / "data.adj").write_text(ADJECTIVES)
    return folder


@pytest.fixture(autouse=True)
def nowhere(monkeypatch, tmp_path):
    """Machines on which the tests run may have WordNet."""
    for variable in ("WNSEARCHDIR", "WNHOME", "NLTK_DATA"):
        monkeypatch.delenv(variable, raising=False)
    found = places.usual_places

    def within():
        return tuple(place for place in found() if tmp_path in place.parents)

    monkeypatch.setattr(places, "usual_places", within)


def test_wordnet_is_found_in_a_folder_where_a_variable_says_and_in_its_home(wordnet, monkeypatch):
    assert word_list(str(wordnet)) == READ
    for variable, place in (("WNSEARCHDIR", wordnet), ("NLTK_DATA", wordnet.parents[1])):
        monkeypatch.setenv(variable, str(place))
        assert word_list("wordnet") == READ
        monkeypatch.delenv(variable)
    wordnet.rename(wordnet.parent / "dict")
    monkeypatch.setenv("WNHOME", str(wordnet.parent))
    assert word_list("wordnet") == READ


def test_packed_wordnet_is_to_be_unpacked(wordnet, monkeypatch):
    monkeypatch.setenv("NLTK_DATA", str(wordnet.parents[1]))
    (wordnet / "data.noun").unlink()
    (wordnet.parent / "wordnet.zip").write_bytes(b"PK")
    with pytest.raises(OpenworldError, match=r"packed in .*wordnet.zip; unpack it"):
        word_list("wordnet")


def test_damaged_and_missing_files(wordnet):
    (wordnet / "data.adj").write_text("00001740 00 a 02 able 0\n")
    with pytest.raises(OpenworldError, match=r"data.adj is damaged: the line of 00001740"):
        word_list(str(wordnet))
    (wordnet / "data.adj").unlink()
    with pytest.raises(OpenworldError, match=r"has no data.adj; give a folder with both"):
        word_list(str(wordnet))


def test_lists_of_ones_own(tmp_path):
    (tmp_path / "nouns.txt").write_text("oak_tree\nbrick\n\nbrick\n")
    assert word_list(str(tmp_path)) == WordList(("oak tree", "brick"))
    (tmp_path / "adjectives.txt").write_text("ivory\nbrick\n")
    assert word_list(str(tmp_path)) == WordList(("oak tree", "brick"), ("ivory",))
    assert word_list(str(tmp_path / "nouns.txt")) == WordList(("oak tree", "brick"))
    (tmp_path / "nouns.txt").write_text("\n")
    with pytest.raises(OpenworldError, match="is empty"):
        word_list(str(tmp_path))
