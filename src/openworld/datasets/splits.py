"""Base and new classes, and few-shot draws, as CoOp and its kin make them (Zhou et al., 2022, KaiyangZhou/CoOp)."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from openworld._arrays import as_labels
from openworld._errors import OpenworldError
from openworld._short_repr import short_repr


def base_new_split(classes: int, order: Sequence[int] | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Class indices of the base half, the first ceil(n / 2), and of the new half, the rest.

    Args:
        classes: number n of classes, at least 2.
        order: permutation int[n] of the class indices to cut instead of 0, 1, 2, ... (OpenPL draws one per seed).

    Returns:
        (base int64[ceil(n / 2)], new int64[floor(n / 2)]), each in the order given.

    Raises:
        OpenworldError: fewer than two classes, or an order that is no permutation.

    >>> base_new_split(5)
    (array([0, 1, 2]), array([3, 4]))
    """
    if classes < 2:
        raise OpenworldError(f"cannot cut {classes} class(es) into a base and a new half; at least 2 are needed.")
    order = np.arange(classes) if order is None else as_labels(order, "order", classes)
    if not np.array_equal(np.sort(order), np.arange(classes)):
        raise OpenworldError(f"order must hold every class index from 0 to {classes - 1} once.")
    return order[: (classes + 1) // 2], order[(classes + 1) // 2 :]


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

    @classmethod
    def of(cls, names: Sequence[str], order: Sequence[int] | None = None) -> "ClassSplit":
        """Cut names in halves, as `base_new_split` does."""
        return cls(tuple(names), *base_new_split(len(names), order))

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


def few_shot(labels: Sequence[int], shots: int, generator: random.Random) -> np.ndarray:
    """Indices of `shots` pictures of every class, drawn without repetition; all of a class that has fewer.

    Classes are visited in order of first appearance and drawn with `random.sample`, so a generator seeded as Dassl
    seeds the global one gives the pictures of the published runs (train first, then validation from the same one).

    Args:
        labels: int[N] class index of every picture.
        shots: pictures per class, at least 1.
        generator: source of randomness; consumed.

    Returns:
        int64[at most classes * shots], grouped by class.

    >>> few_shot([7, 3, 7, 7], 1, random.Random(0)).tolist()
    [2, 1]
    """
    if shots < 1:
        raise OpenworldError(f"shots is {shots}; at least 1 picture per class is needed.")
    pictures: dict[int, list[int]] = {}
    for index, label in enumerate(as_labels(labels, "labels").tolist()):
        pictures.setdefault(label, []).append(index)
    drawn = [generator.sample(own, shots) if len(own) >= shots else own for own in pictures.values()]
    return np.array([index for own in drawn for index in own], dtype=np.int64)


def coop_draw(train: Sequence[int], validation: Sequence[int], shots: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Shots, and the few validation pictures that CoOp draws after them from the same generator.

    Args:
        train, validation: int[N], int[M], class index of every picture of the two parts.
        shots: training pictures per class; of the validation pictures min(shots, 4) are drawn.
        seed: of both draws.

    Returns:
        Indices into the two parts, each grouped by class.

    >>> shots, checks = coop_draw([0, 0, 1, 1, 1], [0, 1], shots=2, seed=1)
    >>> len(shots), checks.tolist()
    (4, [0, 1])
    """
    generator = random.Random(seed)
    return few_shot(train, shots, generator), few_shot(validation, min(shots, _VALIDATION_SHOTS), generator)


_VALIDATION_SHOTS = 4
