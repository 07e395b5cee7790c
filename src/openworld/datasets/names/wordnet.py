"""The nouns of WordNet 3.0, from its own database files: which names mean the same (Fellbaum, 1998).

Only `index.noun`, `data.noun` and `noun.exc` are read, as they come with WordNet or with Debian's package
wordnet-base; nothing is downloaded. ImageNet's class ids, such as n01440764, are places in this very `data.noun`
(Deng et al., 2009), so another version of WordNet is refused.
"""

import os
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

from openworld.core.errors import OpenworldError
from openworld.core.plain_files import read_text
from openworld.datasets.names.forms import plain, singular_name

SYNSET_ID = re.compile(r"n(\d{8})")
PLACES = (
    "/usr/share/wordnet",
    "/usr/local/WordNet-3.0/dict",
    "/opt/homebrew/share/wordnet",
    "/usr/local/share/wordnet",
)
"""Where systems have WordNet."""
_FILES = ("index.noun", "data.noun")
_UP = ("@", "@i")  # a kind of; an instance of
_PROBE = (1_740, b"00001740 03 n 01 entity ")  # where WordNet 3.0 keeps its topmost noun


class WordNet:
    """Nouns by name and by meaning; a meaning (synset) is the number that its ImageNet id has after the n."""

    def __init__(self, folder: Path | str):
        self.folder = Path(folder)
        missing = [name for name in _FILES if not (self.folder / name).is_file()]
        if missing:
            raise OpenworldError(f"{folder} has no {' and no '.join(missing)}; give the folder of WordNet 3.0's files.")
        if not _is_3_0(self.folder):
            raise OpenworldError(f"{folder} holds another version of WordNet, not 3.0 (Debian's wordnet-base).")

    def meanings(self, name: str) -> tuple[int, ...]:
        """Synsets of a name, the most frequent meaning first; () for a name that WordNet does not know."""
        forms = [re.sub(r"[\s_]+", "_", name.strip().casefold())]
        head, gap, last = forms[0].rpartition("_")
        base_form = head + gap + self._irregular.get(last, last)
        forms += [plain(name).replace(" ", "_"), base_form, singular_name(name).replace(" ", "_")]
        line = next((self._index[form] for form in forms if form in self._index), "")
        return tuple(int(field) for field in line.split() if len(field) == 8 and field.isdigit())

    def names(self, meaning: int) -> tuple[str, ...]:
        return tuple(word.replace("_", " ") for word in words_of(self._fields(meaning)))

    def hypernyms(self, meaning: int) -> tuple[int, ...]:
        """Return the synsets that a synset is a kind of, or one of; () for the topmost noun, "entity"."""
        fields = self._fields(meaning)
        pointers = fields[5 + 2 * int(fields[3], 16) :]
        return tuple(int(place) for symbol, place in zip(pointers[::4], pointers[1::4], strict=False) if symbol in _UP)

    @cached_property
    def _index(self) -> dict[str, str]:
        lines = read_text(self.folder / "index.noun").splitlines()
        return {word: rest for word, _, rest in (line.partition(" ") for line in lines) if word}

    @cached_property
    def _irregular(self) -> dict[str, str]:
        file = self.folder / "noun.exc"
        lines = read_text(file).splitlines() if file.is_file() else []
        return {fields[0]: fields[1] for fields in map(str.split, lines) if len(fields) > 1}

    def _fields(self, meaning: int) -> list[str]:
        # Up to the gloss: id, file, n, how many names, names with numbers, how many pointers, four words for each.
        with (self.folder / "data.noun").open("rb") as file:
            file.seek(meaning)
            fields = file.readline().partition(b" | ")[0].decode().split()
        if len(fields) < 5 or fields[0] != f"{meaning:08d}":
            raise OpenworldError(f"WordNet 3.0 has no noun n{meaning:08d}; give an id as ImageNet writes them.")
        return fields


def words_of(fields: Sequence[str]) -> list[str]:
    """Return the words of a line: place, kind, part of speech, how many (in hexadecimal), words and their numbers."""
    return list(fields[4 : 4 + 2 * int(fields[3], 16) : 2])


def usual_places() -> tuple[Path, ...]:
    """Return where WordNet is looked for: `$WNSEARCHDIR`, `$WNHOME/dict`, NLTK's folders, and systems' own."""
    search, home, nltk = (os.environ.get(name, "") for name in ("WNSEARCHDIR", "WNHOME", "NLTK_DATA"))
    folders = [*nltk.split(os.pathsep), str(Path.home() / "nltk_data"), "/usr/share/nltk_data"]
    folders.append("/usr/local/share/nltk_data")
    places = [search, home and f"{home}/dict", *(folder and f"{folder}/corpora/wordnet" for folder in folders)]
    return tuple(Path(place) for place in (*places, *PLACES) if place)


def places_with(names: Sequence[str]) -> Iterator[Path]:
    """Yield the usual places that have all of some files."""
    return (place for place in usual_places() if all((place / name).is_file() for name in names))


def find_wordnet(folder: Path | str | None = None) -> WordNet | None:
    """Return WordNet 3.0 of a folder, or from where `$WNSEARCHDIR` says, or from a usual place, or None."""
    named = folder or os.environ.get("WNSEARCHDIR")
    if named:
        return WordNet(named)
    return next((WordNet(place) for place in places_with(_FILES) if _is_3_0(place)), None)


def _is_3_0(folder: Path) -> bool:
    with (folder / "data.noun").open("rb") as file:
        file.seek(_PROBE[0])
        return file.read(len(_PROBE[1])) == _PROBE[1]


def meaning_of(synset_id: str) -> int:
    """Return the number in an ImageNet class id: 1440764 in n01440764."""
    matched = SYNSET_ID.fullmatch(synset_id)
    if not matched:
        raise OpenworldError(f"{synset_id!r} is no WordNet id; expected n and eight digits, such as n01440764.")
    return int(matched[1])


def split_synset_ids(lines: Sequence[str]) -> tuple[list[str], list[str]]:
    """Class names and their WordNet ids, of lines such as "n01440764 tench"; no ids where not every line has one."""
    pairs = [line.split(maxsplit=1) for line in lines]
    if not all(len(pair) == 2 and SYNSET_ID.fullmatch(pair[0]) for pair in pairs):
        return list(lines), []
    return [name for _, name in pairs], [synset for synset, _ in pairs]
