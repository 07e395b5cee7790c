"""Base and new classes, and few-shot draws, as CoOp and its kin make them (Zhou et al., 2022, KaiyangZhou/CoOp)."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from openworld.core.arrays import MOST, ArrayLike, as_labels
from openworld.core.errors import OpenworldError, unknown_name
from openworld.core.representation import short_repr
from openworld.core.types import Range, checked
from openworld.datasets.names.forms import normalise_class_name

Draw = Literal["coop", "openworldauc"]
"""Whose few-shot draw: that of CoOp and its kin (`few_shot`), or that of OpenworldAUC's code (`reseeded_few_shot`)."""
Shots = Annotated[int, Range(1, MOST["shots"])]


@checked
def base_new_split(classes: int, order: ArrayLike | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return class indices of the base half, the first ceil(n / 2), and of the new half, the rest, int64 each.

    `order`, a permutation int[n] of the class indices, is cut instead of 0, 1, 2, ... (OpenPL draws one per seed).
    Raises OpenworldError for fewer than two classes, or an order that is no permutation.

    >>> base_new_split(5)
    (array([0, 1, 2]), array([3, 4]))
    """
    if classes < 2:
        raise OpenworldError(f"cannot cut {classes} class(es) into a base and a new half; at least 2 are needed.")
    order = np.arange(classes) if order is None else as_labels(order, "order", classes)
    if not np.array_equal(np.sort(order), np.arange(classes)):
        raise OpenworldError(f"order must hold every class index from 0 to {classes - 1} once.")
    return order[: (classes + 1) // 2], order[(classes + 1) // 2 :]


@checked
@dataclass(frozen=True, eq=False)
class ClassSplit:
    """Class names cut into base and new ones.

    Args:
        names: of all C classes, in label order.
        base, new: int64[b], int64[n], class indices of the two sides, in the order in which they are shown.

    >>> cut = ClassSplit.of(("cat", "dog", "owl"))
    >>> cut.base_names, cut.new_names, cut.new.tolist()
    (('cat', 'dog'), ('owl',), [2])
    """

    names: tuple[str, ...]
    base: np.ndarray
    new: np.ndarray

    __repr__ = short_repr

    def __post_init__(self) -> None:
        for side in ("base", "new"):
            places = as_labels(getattr(self, side), side)
            if places.size and places.max() >= len(self.names):
                raise OpenworldError(f"{side} holds class {places.max()}, of {len(self.names)} names, counted from 0.")
            object.__setattr__(self, side, places)

    @classmethod
    @checked
    def of(cls, names: Sequence[str], order: ArrayLike | None = None, count: int | None = None) -> "ClassSplit":
        """Cut names in halves, as `base_new_split` does, or after the first `count` names."""
        if count is not None:
            return cls.joined(names[:count], names[count:])
        return cls(tuple(names), *base_new_split(len(names), order))

    @classmethod
    @checked
    def by_names(cls, names: Sequence[str], base: Sequence[str] = (), new: Sequence[str] = ()) -> "ClassSplit":
        """Put the classes on the side that lists them, in label order.

        Args:
            names: of all C classes, in label order.
            base, new: names; where one list is empty, its side has all classes that the other does not name. A class
                in neither of two lists is on no side.

        Raises:
            OpenworldError: a name that is no class, stands twice or on both sides; a side without a class.

        >>> cut = ClassSplit.by_names(("cat", "dog", "owl", "hen"), base=("owl",), new=("dog", "cat"))
        >>> cut.base_names, cut.new_names
        (('owl',), ('cat', 'dog'))
        """
        place = {normalise_class_name(name): number for number, name in enumerate(names)}
        sides = {"base": [normalise_class_name(name) for name in base], "new": list(map(normalise_class_name, new))}
        for side, said in (("base", base), ("new", new)):
            for name, key in zip(said, sides[side], strict=True):
                if key not in place:
                    raise unknown_name(f"{side} class", name, names)
                if sides["base"].count(key) + sides["new"].count(key) > 1:
                    raise OpenworldError(f"the class {name!r} is listed more than once; a class is on one side, once.")
        listed = {key for side in sides.values() for key in side}
        others = [key for key in place if key not in listed]
        of_side = {side: sorted(place[key] for key in keys or others) for side, keys in sides.items()}
        for side, places in of_side.items():
            if not places:
                raise OpenworldError(f"no class is left for the {side} side; list fewer classes on the other side.")
        return cls(tuple(names), *(np.array(places, dtype=np.int64) for places in of_side.values()))

    @classmethod
    def joined(cls, base: Sequence[str], new: Sequence[str]) -> "ClassSplit":
        """Put base names first, then new names."""
        places = np.arange(len(base) + len(new))
        return cls((*base, *new), places[: len(base)], places[len(base) :])

    @property
    def base_names(self) -> tuple[str, ...]:
        """Names of the base classes."""
        return tuple(self.names[place] for place in self.base)

    @property
    def new_names(self) -> tuple[str, ...]:
        """Names of the new classes."""
        return tuple(self.names[place] for place in self.new)


@checked
def few_shot(labels: ArrayLike, shots: Shots, generator: random.Random) -> np.ndarray:
    """Return indices of `shots` images of every class, drawn without repetition; all of a class that has fewer.

    Classes are visited in order of first appearance and drawn with `random.sample`, so a generator seeded as Dassl
    seeds the global one gives the images of the published runs (train first, then validation from the same one). Labels
    are int[N], `shots` at least 1, and the generator is consumed; the result int64[at most classes * shots] is grouped
    by class.

    >>> few_shot([7, 3, 7, 7], 1, random.Random(0)).tolist()
    [2, 1]
    """
    drawn = [
        generator.sample(members, shots) if len(members) >= shots else members for members in _places(labels).values()
    ]
    return np.array([index for members in drawn for index in members], dtype=np.int64)


def draw_shots(labels: ArrayLike, shots: int | None, seed: int) -> np.ndarray:
    """Return the indices int64[M] that `few_shot` draws from a seed; those of all images where `shots` is None."""
    return np.arange(len(labels)) if shots is None else few_shot(labels, shots, random.Random(seed))


@checked
def reseeded_few_shot(labels: ArrayLike, shots: Shots, seed: int) -> np.ndarray:
    """Return indices of `shots` images of every class as OpenworldAUC's released code draws them, not CoOp's way.

    The generator begins anew at the seed for every class, so that classes with as many images give those at the same
    places; a class that has fewer is drawn with repetition (Hua et al., 2025, huacong/OpenworldAUC @ 8bb934a). The
    result int64[classes * shots] is grouped by class.

    >>> reseeded_few_shot([0, 1, 0, 1, 0, 1], 2, 1).tolist(), reseeded_few_shot([5], 2, 1).tolist()
    ([0, 4, 1, 5], [0, 0])
    """
    drawn = []
    for members in _places(labels).values():
        generator = random.Random(seed)
        drawn += generator.sample(members, shots) if len(members) >= shots else generator.choices(members, k=shots)
    return np.array(drawn, dtype=np.int64)


def _places(labels: ArrayLike) -> dict[int, list[int]]:
    """The places of the images of every class, classes in order of first appearance."""
    images: dict[int, list[int]] = {}
    for index, label in enumerate(as_labels(labels, "labels").tolist()):
        images.setdefault(label, []).append(index)
    return images


@checked
def coop_draw(train: ArrayLike, validation: ArrayLike, shots: Shots, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return shots, and the few validation images that CoOp draws after them from the same generator.

    Of the labels int[N] and int[M] of the two parts, `shots` and min(shots, 4) images per class are drawn; the result
    is indices into the two parts, each grouped by class.

    >>> shots, checks = coop_draw([0, 0, 1, 1, 1], [0, 1], shots=2, seed=1)
    >>> len(shots), checks.tolist()
    (4, [0, 1])
    """
    generator = random.Random(seed)
    return few_shot(train, shots, generator), few_shot(validation, min(shots, _VALIDATION_SHOTS), generator)


_VALIDATION_SHOTS = 4
