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
    """One division of n base classes for each of K detectors, which hold m = ceil(n (K - 1) / K) names each."""

    names: np.ndarray  # int64[K, m]; of one class too few, class i's own name fills detector i's last place
    labels: np.ndarray  # int64[K, n], column of a class in `names`; -1 where it is pseudo new, or fills a place

    def name(self, classnames: Sequence[str]) -> list[list[str]]:
        """Return the m class names of each detector."""
        return [[classnames[index] for index in indices] for indices in self.names]


def divide_classes(count: int, detectors: int, order: np.ndarray | None = None) -> Partitions:
    """Divide `count` base classes, or a permutation of them, among `detectors`, from 2 to `count`."""
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
