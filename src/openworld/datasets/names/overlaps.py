"""Which classes of one data set are classes of another, so that they cannot be new there (Hua et al., 2025).

OpenworldAUC's cross-data-set task tunes on 500 classes of ImageNet and takes the classes of seven other data sets for
new, "minus those that overlap"; which were taken out is not published. The rule here: a class overlaps if its
normalised name (lower case, no underscores, hyphens, accents or number at its end, singular) is that of a base class,
or that of any name that WordNet 3.0 gives the base class's synset.

What WordNet 3.0 calls ImageNet's classes comes with the package, so that the rule gives the same on every machine; it
names classes that are called by their ids, too.
"""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from openworld.core.csv_files import csv_text
from openworld.core.errors import OpenworldError
from openworld.datasets.names.class_names import ClassNames
from openworld.datasets.names.forms import singular_name
from openworld.datasets.names.wordnet import SYNSET_ID, WordNet, find_wordnet, meaning_of

WORDS = "imagenet_words.csv"


@dataclass(frozen=True)
class Overlap:
    """A class that is not new: the base class that it is, and the name in WordNet by which they meet, if any."""

    name: str
    base_name: str
    wordnet_name: str = ""


def overlaps(
    names: Sequence[str], base_names: Sequence[str], base_synsets: Sequence[str] = (), wordnet: WordNet | None = None
) -> tuple[Overlap, ...]:
    """Return the classes of an outer data set that are base classes under another, or the same, name.

    `base_synsets` are WordNet ids ("n01440764"), one per base name, and need WordNet 3.0; the base class's own name
    counts before its names in WordNet.
    """
    if base_synsets and len(base_synsets) != len(base_names):
        raise OpenworldError(f"there are {len(base_synsets)} WordNet ids for {len(base_names)} names; give one each.")
    if base_synsets and wordnet is None:
        raise OpenworldError("the base classes have WordNet ids, and no WordNet 3.0 was given to look them up in.")
    known: dict[str, tuple[str, str]] = {}
    for base in base_names:
        known.setdefault(normalised(base), (base, ""))
    for base, synset in zip(base_names, base_synsets, strict=False):
        for word in wordnet.names(meaning_of(synset)):
            known.setdefault(normalised(word), (base, word))
    return tuple(Overlap(name, *known[normalised(name)]) for name in names if normalised(name) in known)


def normalised(name: str) -> str:
    """Lower case, singular, single spaces for anything but letters and digits, without a number at the end."""
    words = singular_name(name)
    return re.sub(r"(?: \d+)+$", "", words) or words


def as_csv(found: Sequence[Overlap]) -> str:
    return csv_text(
        ("class", "base_class", "wordnet_name"), [(one.name, one.base_name, one.wordnet_name) for one in found]
    )


class Words(dict[int, tuple[str, ...]]):
    """What WordNet calls some meanings; stands where `overlaps` asks for WordNet."""

    def names(self, meaning: int) -> tuple[str, ...]:
        if meaning not in self:
            raise OpenworldError(
                f"n{meaning:08d} is no class of ImageNet's 1,000, whose names in WordNet come along; compare by "
                "WordNet itself (openworld data overlaps --wordnet DIR)."
            )
        return self[meaning]


def overlaps_with(names: Sequence[str], source: ClassNames) -> tuple[Overlap, ...]:
    """Return which names are base classes of a source, by the rule of `overlaps`; no WordNet need be installed."""
    base = source.base
    return overlaps(names, base.names, base.wordnet_ids, imagenet_words() if base.wordnet_ids else None)


@cache
def imagenet_words() -> Words:
    """What WordNet 3.0 calls ImageNet's 1,000 classes."""
    text = files("openworld.datasets").joinpath("lists", WORDS).read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines())
    return Words({meaning_of(row["wordnet_id"]): tuple(row["names"].split("|")) for row in rows})


def name_synsets(names: Sequence[str], wordnet: WordNet | None = None) -> tuple[str, ...]:
    """Return the names, with the first of WordNet's names in the place of every WordNet id, such as n00005787."""
    # Sentences such as "a photo of a n00005787." mean nothing to a text tower, so ids that cannot be named are refused.
    ids = [name for name in names if SYNSET_ID.fullmatch(name)]
    listed = imagenet_words()
    known = {name: listed[meaning_of(name)] for name in ids if meaning_of(name) in listed}
    unknown = [name for name in ids if name not in known]
    wordnet = wordnet or (find_wordnet() if unknown else None)
    if unknown and wordnet is None:
        raise OpenworldError(
            f"{len(unknown)} classes are called by WordNet ids, first {unknown[0]!r}, and WordNet 3.0 was not found to "
            "name them: install it (Debian's wordnet-base), name its folder in WNSEARCHDIR, or give the names in a "
            "text file, a name per line."
        )
    known |= {name: wordnet.names(meaning_of(name)) for name in unknown}
    return tuple(known[name][0] if name in known else name for name in names)
