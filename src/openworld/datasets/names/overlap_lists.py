"""Overlaps of data sets as lists that come with the package: the same on every machine, WordNet installed or not.

The papers' cross-data-set task does not say which classes it left out (Hua et al., 2025). The lists here say which the
rule of `overlaps` leaves out: of the seven outer data sets against ImageNet's first 500 classes, and of the embedded
world's against the first half of its concepts. What WordNet 3.0 calls ImageNet's classes comes along, so that any
other data set meets the same rule. Sources and licences: lists/NOTICE.md.
"""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from openworld._errors import OpenworldError, unknown_name
from openworld.datasets.names.class_names import ClassNames
from openworld.datasets.names.overlaps import Overlap, overlaps
from openworld.datasets.names.wordnet import meaning_of

LISTS: dict[str, tuple[str, ...]] = {
    "imagenet": ("caltech101", "stanford_cars", "fgvc_aircraft", "sun397", "dtd", "eurosat", "ucf101"),
    "emoji-concepts": ("emoji-concepts-b", "emoji-subgroups", "emoji-groups"),
}
"""Data set whose base half is tuned on -> outer data sets of which there is a list."""

WORDS = "imagenet_words.csv"


@dataclass(frozen=True)
class Words:
    """What WordNet calls some meanings; stands where `overlaps` asks for WordNet."""

    by_meaning: Mapping[int, tuple[str, ...]]

    def names(self, meaning: int) -> tuple[str, ...]:
        """Return what `WordNet.names` does."""
        if meaning not in self.by_meaning:
            raise OpenworldError(
                f"n{meaning:08d} is no class of ImageNet's 1,000, whose names in WordNet come along; compare by "
                "WordNet itself (openworld data overlaps --wordnet DIR)."
            )
        return self.by_meaning[meaning]


def published_overlaps(name: str, base: str = "imagenet") -> tuple[Overlap, ...]:
    """Return the list of an outer data set that came with the package; `base` is tuned on, a key of LISTS.

    >>> [one.base_name for one in published_overlaps("ucf101")]
    ['balance beam', 'basketball']
    """
    if base not in LISTS:
        raise unknown_name("data set with lists of overlaps", base, LISTS)
    if name not in LISTS[base]:
        raise unknown_name(f"list of overlaps with {base}", name, LISTS[base])
    return tuple(Overlap(one["class"], one["base_class"], one["wordnet_name"]) for one in _rows(list_name(name, base)))


def overlaps_with(names: Sequence[str], source: ClassNames) -> tuple[Overlap, ...]:
    """Return which names are base classes of a source, by the rule of `overlaps`; no WordNet need be installed.

    The first half of the source's names counts as base.

    >>> overlaps_with(["Hens", "sea hen"], ClassNames("farm", ("hen", "pig")))
    (Overlap(name='Hens', base_name='hen', wordnet_name=''),)
    """
    base = source.base
    return overlaps(names, base.names, base.wordnet_ids, imagenet_words() if base.wordnet_ids else None)


@cache
def imagenet_words() -> Words:
    """What WordNet 3.0 calls ImageNet's 1,000 classes.

    >>> imagenet_words().names(1440764)
    ('tench', 'Tinca tinca')
    """
    return Words({meaning_of(one["wordnet_id"]): tuple(one["names"].split("|")) for one in _rows(WORDS)})


def list_name(name: str, base: str) -> str:
    """The file of a list.

    >>> list_name("dtd", "imagenet")
    'imagenet--dtd.csv'
    """
    return f"{base}--{name}.csv"


def _rows(file: str) -> list[dict[str, str]]:
    text = files("openworld.datasets").joinpath("lists", file).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))
