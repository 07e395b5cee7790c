"""Class names of a data set or a text file, and which of them are classes of another data set (Hua et al., 2025).

OpenworldAUC's cross-data-set task tunes on 500 classes of ImageNet and takes the classes of seven other data sets for
new, "minus those that overlap"; which were taken out is not published. The rule here: a class overlaps if its
normalised name (lower case, no underscores, hyphens, accents or number at its end, singular) is that of a base class,
or that of any name that WordNet 3.0 gives the base class's synset.

What WordNet 3.0 calls ImageNet's classes comes with the package, so that the rule gives the same on every machine; it
names classes that are called by their ids, too. No image is looked at where that can be.
"""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from openworld.core.csv_files import csv_text
from openworld.core.errors import OpenworldError
from openworld.core.plain_files import read_lines
from openworld.datasets import cards
from openworld.datasets.formats import folder
from openworld.datasets.names.forms import readable_class_name, singular_name
from openworld.datasets.names.wordnet import SYNSET_ID, WordNet, find_wordnet, meaning_of, split_synset_ids
from openworld.datasets.published import downloaded
from openworld.datasets.published.catalogue import PUBLISHED
from openworld.datasets.splits import ClassSplit

LISTS = Path(__file__).parents[1] / "lists"
"""Class names of data sets, as their split files have them, and WordNet's names of ImageNet's classes."""

WORDS = "imagenet_words.csv"


@dataclass(frozen=True)
class ClassNames:
    """The class names of one data set in label order, with spaces for underscores."""

    dataset: str
    names: tuple[str, ...]
    wordnet_ids: tuple[str, ...] = ()  # () where they have none
    base_count: int | None = None  # None for the first half

    def __post_init__(self):
        object.__setattr__(self, "names", tuple(map(readable_class_name, self.names)))

    @property
    def base(self) -> "ClassNames":
        """The base classes: the first ceil(C / 2), where nothing else is said."""
        count = len(ClassSplit.of(self.names, count=self.base_count).base)
        return ClassNames(self.dataset, self.names[:count], self.wordnet_ids[:count])


def class_names(name: str, root: str | Path | None = None) -> ClassNames:
    """Return the class names of whatever `datasets.load` takes, or of a .txt file of names, perhaps after ids."""
    if name.endswith(".txt"):
        return _of_file(Path(name))
    if name in PUBLISHED:
        split = downloaded.read(name, root, ("test",))
        return ClassNames(name, split.classnames, split.wordnet_ids)
    if cards.is_folder(name):
        return ClassNames(name, folder.class_names(name))
    return ClassNames(name, cards.load(name, root=root).classnames)


def listed_names(dataset: str) -> ClassNames | None:
    """The published class names of a data set, in label order, as they come with the package; None without a list."""
    file = LISTS / "class_names" / f"{dataset}.txt"
    return _of_file(file) if file.is_file() else None


def _of_file(file: Path) -> ClassNames:
    names, ids = split_synset_ids(read_lines(file, "name"))
    return ClassNames(file.stem, tuple(names), tuple(ids))


@dataclass(frozen=True)
class Overlap:
    """A class that is not new: the base class that it is, and the name in WordNet by which they meet, if any."""

    name: str
    base_name: str
    wordnet_name: str = ""


class Words(dict[int, tuple[str, ...]]):
    """What WordNet calls some meanings; stands where `overlaps` asks for WordNet."""

    def names(self, meaning: int) -> tuple[str, ...]:
        if meaning not in self:
            raise OpenworldError(
                f"n{meaning:08d} is no class of ImageNet's 1,000, whose names in WordNet come along; compare by "
                "WordNet itself (openworld data overlaps --wordnet DIR)."
            )
        return self[meaning]


@cache
def imagenet_words() -> Words:
    """What WordNet 3.0 calls ImageNet's 1,000 classes."""
    rows = csv.DictReader((LISTS / WORDS).read_text(encoding="utf-8").splitlines())
    return Words({meaning_of(row["wordnet_id"]): tuple(row["names"].split("|")) for row in rows})


def overlaps_with(names: Sequence[str], source: ClassNames) -> tuple[Overlap, ...]:
    """Return which names are base classes of a source, by the rule of `overlaps`; no WordNet need be installed."""
    base = source.base
    return overlaps(names, base.names, base.wordnet_ids, imagenet_words() if base.wordnet_ids else None)


def overlaps(
    names: Sequence[str],
    base_names: Sequence[str],
    base_synsets: Sequence[str] = (),
    wordnet: WordNet | Words | None = None,
) -> tuple[Overlap, ...]:
    """Return the classes of an outer data set that are base classes under another, or the same, name.

    `base_synsets` are WordNet ids ("n01440764"), one per base name, and need WordNet 3.0; the base class's own name
    counts before its names in WordNet.
    """
    if base_synsets and len(base_synsets) != len(base_names):
        raise OpenworldError(f"there are {len(base_synsets)} WordNet ids for {len(base_names)} names; give one each.")
    if base_synsets and wordnet is None:
        raise OpenworldError("the base classes have WordNet ids, and no WordNet 3.0 was given to look them up in.")
    met: dict[str, tuple[str, str]] = {}  # normalised name -> base class, and the name in WordNet that it is
    for base in base_names:
        met.setdefault(normalised(base), (base, ""))
    for base, synset in zip(base_names, base_synsets, strict=False):
        for word in wordnet.names(meaning_of(synset)) if wordnet is not None else ():
            met.setdefault(normalised(word), (base, word))
    return tuple(Overlap(name, *met[normalised(name)]) for name in names if normalised(name) in met)


def normalised(name: str) -> str:
    """Lower case, singular, single spaces for anything but letters and digits, without a number at the end."""
    words = singular_name(name)
    return re.sub(r"(?: \d+)+$", "", words) or words


def as_csv(found: Sequence[Overlap]) -> str:
    rows = [(one.name, one.base_name, one.wordnet_name) for one in found]
    return csv_text(("class", "base_class", "wordnet_name"), rows)


def name_synsets(names: Sequence[str], wordnet: WordNet | None = None) -> tuple[str, ...]:
    """Return the names, with the first of WordNet's names in the place of every WordNet id, such as n00005787."""
    # Sentences such as "a photo of a n00005787." mean nothing to a text tower, so ids that cannot be named are refused.
    listed = imagenet_words()
    unknown = [name for name in names if SYNSET_ID.fullmatch(name) and meaning_of(name) not in listed]
    wordnet = wordnet or (find_wordnet() if unknown else None)
    if unknown and wordnet is None:
        raise OpenworldError(
            f"{len(unknown)} classes are called by WordNet ids, first {unknown[0]!r}, and WordNet 3.0 was not found to "
            "name them: install it (Debian's wordnet-base), name its folder in WNSEARCHDIR, or give the names in a "
            "text file, a name per line."
        )

    def called(name: str) -> str:
        if not SYNSET_ID.fullmatch(name):
            return name
        meaning = meaning_of(name)
        return (listed.get(meaning) or (wordnet.names(meaning) if wordnet is not None else ()))[0]

    return tuple(map(called, names))
