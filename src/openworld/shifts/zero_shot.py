"""Zero-shot accuracy with whole features and with each half of them (Long et al., 2024, IS-OOD, Appendix B, Table 3).

A decomposition does what it promises if the semantic half names images about as well as the whole feature, and the
covariate half hardly better than chance.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from openworld.core.arrays import ArrayLike, as_labels, require_length
from openworld.core.errors import OpenworldError
from openworld.core.types import checked
from openworld.metrics import Accuracy, accuracy
from openworld.shifts._rows import CHUNK, as_rows, at_least_float32, unit
from openworld.shifts.decomposition import HALVES, Decomposition
from openworld.shifts.open_world import Groups

PARTS = ("whole", *HALVES)
"""Rows of the table."""


@dataclass(frozen=True)
class DecomposedAccuracy:
    """Accuracy of one set of images with one part of the features.

    top5 is None for fewer than six classes, where it says nothing.
    """

    part: str
    top1: Accuracy
    top5: Accuracy | None


@checked
def decomposed_zero_shot(
    decomposition: Decomposition, images: ArrayLike, labels: ArrayLike, classes: ArrayLike, *, groups: Groups = None
) -> tuple[DecomposedAccuracy, ...]:
    """Top-1 and top-5 accuracy by cosine with the class texts: whole, semantic half, covariate half.

    Args:
        decomposition: of the features' model.
        images: float[N, D], any lengths. labels: int64[N], places in `classes`.
        classes: float[C, D], text features of the class names, one each.
        groups: [N], equal for images that are not independent; for the intervals, see `openworld.metrics.accuracy`.
    Returns:
        one row per entry of `PARTS`.
    Raises:
        OpenworldError: widths that differ, labels outside the classes, NaN, a row of zeros.

    >>> identity = Decomposition.of_matrix(torch.eye(4))
    >>> classes = [[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 1.0, 0.1]]
    >>> table = decomposed_zero_shot(identity, [[1.0, 0.2, 1.0, 0.1], [0.2, 1.0, 1.0, 0.0]], [0, 1], classes)
    >>> [(row.part, row.top1.value) for row in table]
    [('whole', 1.0), ('semantic', 1.0), ('covariate', 0.0)]
    """
    features = as_rows(images, "images", width=decomposition.width)
    texts = as_rows(classes, "classes", width=decomposition.width).to(features.device)
    truth = as_labels(labels, "labels")
    require_length(truth, "labels", len(features))
    if truth.size and truth.max() >= len(texts):
        raise OpenworldError(f"labels go up to {truth.max()}, but there are {len(texts)} classes.")
    table = []
    of_parts = ((rows, *decomposition.halves(rows)) for rows in (features, texts))
    for part, rows, known in zip(PARTS, *of_parts, strict=True):
        before = ranks(rows, known, truth)
        top5 = accuracy(before < 5, groups=groups) if len(texts) > 5 else None
        table.append(DecomposedAccuracy(part, accuracy(before < 1, groups=groups), top5))
    return tuple(table)


def ranks(images: Tensor, classes: Tensor, truth: np.ndarray) -> np.ndarray:
    """Return how many classes come before the true one, by cosine, int64[N]; of equal ones the first comes first."""
    true_classes = torch.from_numpy(truth).to(images.device)
    columns = torch.arange(len(classes), device=images.device)
    dtype = at_least_float32(torch.promote_types(images.dtype, classes.dtype))
    texts, chunks = unit(classes, dtype).T.to(images.device), []
    size = max(1, CHUNK * 64 // max(len(classes), 1))
    for start in range(0, len(images), size):
        scores, labels = unit(images[start : start + size], dtype) @ texts, true_classes[start : start + size, None]
        true = scores.gather(1, labels)
        chunks.append(((scores > true) | ((scores == true) & (columns < labels))).sum(dim=1))
    return torch.cat(chunks).cpu().numpy() if chunks else np.zeros(0, np.int64)
