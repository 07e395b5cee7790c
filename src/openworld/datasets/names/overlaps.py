"""Which classes of one data set are classes of another, so that they cannot be new there (Hua et al., 2025).

OpenworldAUC's cross-data-set task tunes on 500 classes of ImageNet and takes the classes of seven other data sets for
new, "minus those that overlap"; which were taken out is not published. The rule here: a class overlaps if its
normalised name (lower case, no underscores, hyphens, accents or number at its end, singular) is that of a base class,
or that of any name that WordNet 3.0 gives the base class's synset.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from openworld._csv import csv_text
from openworld._errors import OpenworldError
from openworld.datasets.names.forms import singular_name
from openworld.datasets.names.wordnet import WordNet, meaning_of


@dataclass(frozen=True)
class Overlap:
    """A class that is not new.

    Args:
        name: the class of the outer data set.
        base_name: the base class that it is.
        wordnet_name: the name in WordNet by which they meet; "" where their own names are the same.
    """

    name: str
    base_name: str
    wordnet_name: str = ""


def overlaps(
    names: Sequence[str],
    base_names: Sequence[str],
    base_synsets: Sequence[str] = (),
    wordnet: WordNet | None = None,
) -> tuple[Overlap, ...]:
    """Return the classes of an outer data set that are base classes under another, or the same, name.

    `base_synsets` are WordNet ids ("n01440764"), one per base name, and need WordNet 3.0; the base class's own name
    counts before its names in WordNet.

    >>> overlaps(["Sunflowers", "car_side"], ["sunflower", "crab"])
    (Overlap(name='Sunflowers', base_name='sunflower', wordnet_name=''),)
    """
    if base_synsets and len(base_synsets) != len(base_names):
        raise OpenworldError(
            f"there are {len(base_synsets)} WordNet ids for {len(base_names)} names; give one per name."
        )
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
    """Lower case, singular, single spaces for anything but letters and digits, without a number at the end.

    >>> normalised("Audi_S6_Sedan_2011"), normalised("Motorbikes"), normalised("737-200"), normalised("101")
    ('audi s6 sedan', 'motorbike', '737', '101')
    """
    words = singular_name(name)
    return re.sub(r"(?: \d+)+$", "", words) or words


def as_csv(found: Sequence[Overlap]) -> str:
    """Overlaps as CSV text with a header line.

    >>> as_csv(overlaps(["Sunflowers"], ["sunflower"]))
    'class,base_class,wordnet_name\\nSunflowers,sunflower,\\n'
    """
    return csv_text(
        ("class", "base_class", "wordnet_name"), [(one.name, one.base_name, one.wordnet_name) for one in found]
    )
