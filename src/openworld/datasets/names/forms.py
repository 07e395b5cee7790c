"""Forms of a class name under which two names that mean the same meet: case, punctuation, plural, order."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence

from openworld.tables.classes import normalise_class_name as normalise_class_name
from openworld.tables.classes import readable_class_name as readable_class_name

_KEPT = {"lens", "gas", "series", "species", "chess", "cosmos", "christmas", "atlas", "canvas", "pancreas"}
_IRREGULAR = {"men": "man", "children": "child", "mice": "mouse", "geese": "goose", "feet": "foot", "teeth": "tooth"}
_IRREGULAR |= {plural: plural[:-3] + "f" for plural in ("leaves", "wolves", "shelves", "scarves", "hooves", "elves")}
_IRREGULAR |= {plural: plural[:-3] + "fe" for plural in ("knives", "wives", "lives")}


def numbered_names(count: int) -> tuple[str, ...]:
    """Return the names of classes that nobody named: "class 0", "class 1", ..."""
    return tuple(f"class {number}" for number in range(count))


def are_numbered(classnames: Sequence[str]) -> bool:
    """Whether classes have numbers for names."""
    return tuple(classnames) == numbered_names(len(classnames))


def plain(name: str) -> str:
    """A name in lower-case letters and digits with single spaces: no accents, no punctuation, no underscores.

    >>> plain("Jack-o'-Lantern"), plain("crème_brûlée"), plain("Washington D.C.")
    ('jack o lantern', 'creme brulee', 'washington d c')
    """
    letters = unicodedata.normalize("NFKD", name.casefold())
    spelled = "".join(letter for letter in letters if letter not in "'’" and not unicodedata.combining(letter))
    return " ".join(re.findall(r"[^\W_]+", spelled))


def singular(word: str) -> str:
    """An English noun in lower case without its plural ending; one that has none stays as it is.

    >>> [singular(word) for word in ("berries", "boxes", "horses", "women", "glass", "bus", "buses", "tomatoes")]
    ['berry', 'box', 'horse', 'woman', 'glass', 'bus', 'bus', 'tomato']
    """
    for plural, single in _IRREGULAR.items():
        if word.endswith(plural) and (word == plural or plural == "men"):
            return word.removesuffix(plural) + single
    if word in _KEPT or len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    doubled = word.endswith(("sses", "xes", "ches", "shes", "toes", "goes", "roes", "uses")) and not word.endswith(
        "ouses"
    )
    return word[:-2] if doubled else word[:-1]


def singular_name(name: str) -> str:
    """The plain name with every word in the singular."""
    return " ".join(singular(word) for word in plain(name).split())


def bare(name: str) -> str:
    """The words of a name in alphabetical order: names that differ in case, punctuation, plural or order share it."""
    return " ".join(sorted(singular_name(name).split())) or name.strip()


def joined(name: str) -> str:
    """The singular name without spaces: "blueberry" and "blue berries" share it."""
    return singular_name(name).replace(" ", "") or name.strip()


Keys = Callable[[str], Iterable]


def sharing(names: Sequence[str], others: Sequence[str], keys: Keys) -> Iterator[tuple[int, int]]:
    """Places (in names, in others) of the names that share a key, each pair once, in order."""
    holders: dict[object, list[int]] = {}
    for place, name in enumerate(others):
        for key in keys(name):
            holders.setdefault(key, []).append(place)
    for place, name in enumerate(names):
        met = {other for key in keys(name) for other in holders.get(key, ())}
        yield from ((place, other) for other in sorted(met) if others is not names or place < other)
