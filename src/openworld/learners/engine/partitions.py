"""Pseudo base and pseudo new classes: how the base classes are divided among K detectors.

Detector i treats class j as pseudo new iff j mod K = i, so that every class is new exactly once. The rule, the padding
and the labels are those of huacong/OpenworldAUC @ 8bb934a (GMoP) and WNJXYK/DeCoOp @ 96a8812.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from openworld._errors import OpenworldError


@dataclass(frozen=True)
class Partitions:
    """One division of n base classes for each of K detectors.

    Args:
        names: int64[K, m], the classes whose names detector i holds, m = ceil(n (K - 1) / K). Where detector i has one
            pseudo base class too few, class i's own name fills the last place.
        labels: int64[K, n], for each detector the column of a class in `names`, or -1 where the class is pseudo new
            (also for the class whose name only fills a place).
    """

    names: np.ndarray
    labels: np.ndarray

    def name(self, classnames: Sequence[str]) -> list[list[str]]:
        """The m class names of each detector."""
        return [[classnames[index] for index in indices] for indices in self.names]


def divide_classes(count: int, detectors: int, order: np.ndarray | None = None) -> Partitions:
    """Divide `count` base classes among `detectors`.

    Args:
        count: number of base classes n.
        detectors: K, from 2 to n.
        order: a permutation of the classes to divide instead of 0..n-1 (the random-partition ablation).

    >>> divide_classes(5, 3).names.tolist()
    [[1, 2, 4, 0], [0, 2, 3, 1], [0, 1, 3, 4]]
    """
    if not 2 <= detectors <= count:
        raise OpenworldError(
            f"{detectors} detector(s) cannot divide {count} base class(es); K must be at least 2 and at most the "
            "number of base classes."
        )
    order = np.arange(count) if order is None else np.asarray(order)
    width = -(-count * (detectors - 1) // detectors)
    names = np.empty((detectors, width), np.int64)
    labels = np.full((detectors, count), -1)
    for detector in range(detectors):
        pseudo_base = np.sort(order[np.arange(count) % detectors != detector])
        names[detector] = order[detector]
        names[detector, : len(pseudo_base)] = pseudo_base
        labels[detector, pseudo_base] = np.arange(len(pseudo_base))
    return Partitions(names, labels)
