"""Pairs of class names that mean, or may mean, the same thing: within a data set and across data sets."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from openworld.datasets.names.forms import (
    Keys,
    bare,
    joined,
    normalise_class_name,
    one_slip_apart,
    plain,
    sharing,
    singular_name,
    slips,
)
from openworld.datasets.names.wordnet import WordNet


@dataclass(frozen=True)
class NamePair:
    """Two names by their places, the kind of likeness (of KINDS), and it in words; `sure` unless it takes a look."""

    place: int
    other: int
    kind: str
    likeness: str
    sure: bool = True


def alike(names: Sequence[str], others: Sequence[str], wordnet: WordNet | None = None) -> Iterator[NamePair]:
    """Yield every pair of names that are alike, each once, as the first that fits of the kinds below.

    `others` is the same object for pairs within one list; without WordNet no synonyms are looked up.
    """
    found_pairs: set[tuple[int, int]] = set()
    for kind, keys in _keys(wordnet):
        for pair in sharing(names, others, keys):
            found = None if pair in found_pairs else _judge(kind, *pair, names, others, wordnet)
            if found:
                found_pairs.add(pair)
                yield found


def _keys(wordnet: WordNet | None) -> list[tuple[str, Keys]]:
    return [
        ("duplicate", lambda name: [_written(name)]),
        ("near-duplicate", lambda name: {bare(name), joined(name)}),
        *([("synonym", wordnet.meanings)] if wordnet else []),
        ("misspelling", slips),
    ]


def _judge(kind: str, place: int, other: int, names, others, wordnet: WordNet | None) -> NamePair | None:
    name, second = names[place], others[other]
    if kind == "duplicate":
        return NamePair(place, other, kind, "are the same name")
    if kind == "near-duplicate":
        return NamePair(place, other, kind, f"differ only in {_difference(name, second)}")
    if kind == "synonym":
        return _synonyms(place, other, wordnet.meanings(name), wordnet.meanings(second), wordnet)
    apart = one_slip_apart(singular_name(name), singular_name(second))
    return NamePair(place, other, kind, "are one letter apart", sure=False) if apart else None


def _synonyms(place: int, other: int, one: tuple[int, ...], second: tuple[int, ...], wordnet: WordNet) -> NamePair:
    shared = next(meaning for meaning in one if meaning in second)
    words = f"are both in n{shared:08d} of WordNet ({', '.join(wordnet.names(shared)[:3])})"
    return NamePair(place, other, "synonym", words, sure=shared in (one[0], second[0]))


def _written(name: str) -> str:
    return " ".join(normalise_class_name(name).split())


def _difference(one: str, other: str) -> str:
    """What tells two names of one bare or joined form apart."""
    if plain(one) == plain(other):
        return "punctuation or accents"
    if singular_name(one) == singular_name(other):
        return "singular and plural"
    return "spaces" if joined(one) == joined(other) else "the order of words"
