"""Many words, of which names far from all classes are chosen (NegLabel, CSP): WordNet's, or lists of one's own.

Of WordNet, `data.noun` and `data.adj` of any version are read, where they lie; nothing is downloaded. As in NegLabel's
released code, words for persons, groups and quantities and adjectives that pertain to a noun ("Abyssinian") are left
out; a word that is also of another kind stays.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from openworld.core.errors import OpenworldError
from openworld.core.plain_files import read_lines
from openworld.datasets.names import wordnet
from openworld.datasets.names.class_names import class_names
from openworld.datasets.names.forms import normalise_class_name

WORDNET = "wordnet"
_FILES = ("data.noun", "data.adj")
_LEFT_OUT = {"01": "adj.pert", "14": "noun.group", "18": "noun.person", "23": "noun.quantity"}
_MARKER = re.compile(r"\((a|p|ip)\)$")  # where an adjective may stand


@dataclass(frozen=True)
class WordList:
    """Words without repetition, in the order of their file; no adjective is among the nouns."""

    nouns: tuple[str, ...]
    adjectives: tuple[str, ...] = ()

    def without(self, names: Iterable[str]) -> "WordList":
        left_out = {normalise_class_name(name) for name in names}
        nouns = tuple(word for word in self.nouns if normalise_class_name(word) not in left_out)
        return WordList(nouns, self.adjectives)


def word_list(source: str) -> WordList:
    """Read nouns, and adjectives where there are any: "wordnet", a folder, or whatever `class_names` takes."""
    # A folder holds WordNet's data.noun and data.adj, or nouns.txt and perhaps adjectives.txt, a word per line.
    folder = _wordnet_folder() if source == WORDNET else Path(source)
    files = [folder / name for name in _FILES]
    missing = [file.name for file in files if not file.is_file()]
    if not missing:
        return _distinct(*([word for line in read_lines(file) for word in _words(line, file)] for file in files))
    lists = [folder / "nouns.txt", folder / "adjectives.txt"]
    if lists[0].is_file():
        return _distinct(*(read_lines(file, "word") if file.is_file() else [] for file in lists))
    if folder.is_dir() and len(missing) < len(_FILES):
        raise OpenworldError(
            f"{folder} has no {missing[0]}; give a folder with both of WordNet's {' and '.join(_FILES)}."
        )
    return _distinct(class_names(source).names, ())


def _wordnet_folder() -> Path:
    folder = next(wordnet.places_with(_FILES), None)
    if folder is not None:
        return folder
    packed = next((place for place in wordnet.usual_places() if place.with_suffix(".zip").is_file()), None)
    if packed is not None:
        raise OpenworldError(f"WordNet lies packed in {packed}.zip; unpack it there.")
    raise OpenworldError(
        "there is no WordNet (data.noun, data.adj) in the usual places; install Debian's package wordnet-base, or "
        "`nltk.download('wordnet')` and unpack it, and set $WNHOME or $NLTK_DATA, or give its folder in place of "
        f"{WORDNET!r}."
    )


def _words(line: str, file: Path) -> list[str]:
    """Return the words of a line of a file."""
    fields = line.partition(" | ")[0].split()
    if not fields[0].isdigit() or len(fields[0]) != 8:  # the licence, whose lines are counted
        return []
    try:
        words, count = wordnet.words_of(fields), int(fields[3], 16)
    except (IndexError, ValueError):
        words, count = [], -1
    if len(words) != count:
        raise OpenworldError(f"{file} is damaged: the line of {fields[0]} is cut off; copy the file again.")
    return [] if fields[1] in _LEFT_OUT else [_MARKER.sub("", word) for word in words]


def _distinct(nouns: Iterable[str], adjectives: Iterable[str]) -> WordList:
    nouns, adjectives = (dict.fromkeys(word.replace("_", " ") for word in words) for words in (nouns, adjectives))
    if not nouns:
        raise OpenworldError("the list of words holds no noun; give one with many.")
    return WordList(tuple(nouns), tuple(word for word in adjectives if word not in nouns))
