"""Test sets of another mix: every class of one half keeps one image in so many (Hua et al., 2025, Table 3).

A class of n images keeps max(1, floor(n / factor)) of them, as the authors' code draws them (github.com/huacong/
OpenworldAUC at 8bb934a). How many is fixed, only which ones is drawn; so the mean of OpenworldAUC over all draws is
OpenworldAUC of the whole half with every image weighted by the share that its class keeps.
"""

from typing import Annotated

import numpy as np

from openworld.core.arrays import as_labels
from openworld.core.types import Range, checked


@checked
def kept_images(labels: np.ndarray, factor: Annotated[float, Range(1)]) -> np.ndarray:
    """Return for every image how many of its class are kept, int64[N]: max(1, floor(n / factor))."""
    counts, classes = _classes(labels)
    return np.maximum(1, np.floor(counts / factor)).astype(np.int64)[classes]


def kept_share(labels: np.ndarray, factor: float) -> np.ndarray:
    """Return the share of its class that is kept, float64[N], the chance of every image to be in a draw."""
    counts, classes = _classes(labels)
    return kept_images(labels, factor) / counts[classes]


def thin(labels: np.ndarray, factor: float, generator: np.random.Generator) -> np.ndarray:
    """Draw once: increasing positions int64 of the images that are kept, without replacement, class by class."""
    _, classes = _classes(labels)
    order = generator.permutation(classes.size)
    order = order[np.argsort(classes[order], kind="stable")]  # class by class, shuffled within each
    ordered = classes[order]
    place = np.arange(classes.size) - np.searchsorted(ordered, ordered)
    return np.sort(order[place < kept_images(labels, factor)[order]])


def _classes(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return images of every class that is there, and the number of every image's class among them."""
    _, classes, counts = np.unique(as_labels(labels, "labels"), return_inverse=True, return_counts=True)
    return counts, classes.reshape(-1)
