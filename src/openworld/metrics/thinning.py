"""Test sets of another mix: every class of one half keeps one image in so many (Hua et al., 2025, Table 3).

A class of n images keeps max(1, floor(n / factor)) of them, as the authors' code draws them (github.com/huacong/
OpenworldAUC at 8bb934a). How many is fixed, only which ones is drawn; so the mean of OpenworldAUC over all draws is
OpenworldAUC of the whole half with every image weighted by the share that its class keeps.
"""

import numpy as np

from openworld._arrays import as_labels, require_at_least


def kept_images(labels: np.ndarray, factor: float) -> np.ndarray:
    """int64[N], for every image how many images of its class are kept: max(1, floor(n / factor)).

    Args:
        labels: int[N], the class of every image.
        factor: by how much classes shrink, at least 1.
    Raises:
        OpenworldError: a factor below 1.

    >>> kept_images([0] * 10 + [1] * 3, 5)
    array([2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1])
    """
    require_at_least(1, factor=factor)
    counts, classes = _classes(labels)
    return np.maximum(1, np.floor(counts / factor)).astype(np.int64)[classes]


def kept_share(labels: np.ndarray, factor: float) -> np.ndarray:
    """float64[N] in (0, 1]: the share of its class that is kept, the chance of every image to be in a draw.

    >>> kept_share([0] * 10 + [1] * 2, 5)[[0, 10]]
    array([0.2, 0.5])
    """
    counts, classes = _classes(labels)
    return kept_images(labels, factor) / counts[classes]


def thin(labels: np.ndarray, factor: float, generator: np.random.Generator) -> np.ndarray:
    """One draw: increasing positions int64 of the images that are kept, without replacement, class by class.

    >>> thin([7, 7, 8, 8], 2, np.random.default_rng(0)).size
    2
    """
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
