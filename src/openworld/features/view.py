"""A view: which images and which classes of an encoded set are looked at, and at which level.

A scenario is a sequence of views over one logits matrix; nothing is encoded or predicted again for a view.
"""

from dataclasses import dataclass

import numpy as np

from openworld.core.arrays import as_labels
from openworld.core.errors import OpenworldError
from openworld.core.representation import short_repr
from openworld.core.types import checked


@checked
@dataclass(frozen=True)
class View:
    """An index list over an encoded image set.

    Args:
        images: int64[n], rows of the features, in the order in which they are to be read.
        classes: int64[c], columns of the logits; the label space of the view.
        level: the share, ratio or step that the view stands for.

    >>> View([4, 2], [0, 1], level=0.5).size
    2
    """

    images: np.ndarray
    classes: np.ndarray
    level: float = 0.0

    __repr__ = short_repr

    def __post_init__(self):
        object.__setattr__(self, "images", as_labels(self.images, "images"))
        object.__setattr__(self, "classes", as_labels(self.classes, "classes"))

    @property
    def size(self) -> int:
        """Number of images in the view."""
        return len(self.images)

    def slice(self, logits: np.ndarray) -> np.ndarray:
        """The view's part of a matrix [images, classes]: float[n, c].

        Raises:
            OpenworldError: an image or a class that the matrix does not have.
        """
        if np.ndim(logits) != 2:
            raise OpenworldError(f"logits has {np.ndim(logits)} dimension(s), expected a matrix [images, classes].")
        for indices, size, kind in zip((self.images, self.classes), np.shape(logits), ("image", "class"), strict=True):
            if indices.size and indices.max() >= size:
                raise OpenworldError(f"the view asks for {kind} {indices.max()} of a matrix of {size}, counted from 0.")
        matrix, first = np.asarray(logits), self.classes[:1].sum()
        if np.array_equal(self.classes, np.arange(first, first + len(self.classes))):
            return matrix[self.images, first : first + len(self.classes)]  # whole rows are copied three times as fast
        return matrix[np.ix_(self.images, self.classes)]
