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
    return _table(decomposition, features, labels, texts, len(texts), groups)


@checked
def decomposed_nearest_mean(
    decomposition: Decomposition,
    images: ArrayLike,
    labels: ArrayLike,
    reference: ArrayLike,
    reference_labels: ArrayLike,
    *,
    groups: Groups = None,
) -> tuple[DecomposedAccuracy, ...]:
    """Return the table by cosine with the mean of each class's reference images, where texts have no features.

    With looks in the place of classes it says how well each part tells looks apart.

    Args:
        decomposition, images, labels, groups: as in `decomposed_zero_shot`.
        reference: float[M, D], any lengths. reference_labels: int64[M], every class from 0 on at least once.
    Returns:
        one row per entry of `PARTS`.
    Raises:
        OpenworldError: as `decomposed_zero_shot`; a class without a reference image.

    >>> identity = Decomposition.of_matrix(torch.eye(2))
    >>> table = decomposed_nearest_mean(identity, [[2.0, 1.0]], [0], [[1.0, 1.0], [1.0, -1.0]], [0, 1])
    >>> [(row.part, row.top1.value) for row in table]
    [('whole', 1.0), ('semantic', 1.0), ('covariate', 1.0)]
    """
    features = as_rows(images, "images", width=decomposition.width)
    rows = as_rows(reference, "reference", width=decomposition.width).to(features.device)
    ids = as_labels(reference_labels, "reference_labels", len(rows))
    there = np.unique(ids)
    missing = np.flatnonzero(there != np.arange(there.size))
    if missing.size or not there.size:
        raise OpenworldError(f"class {missing[0] if missing.size else 0} has no reference image; give one of each.")
    return _table(decomposition, features, labels, rows, int(ids.max()) + 1, groups, ids)


def _table(
    decomposition: Decomposition, images: Tensor, labels, texts: Tensor, classes: int, groups, ids=None
) -> tuple[DecomposedAccuracy, ...]:
    """Return a row a part, by cosine with texts, or with the mean unit rows of those of every class `ids`."""
    truth = as_labels(labels, "labels")
    require_length(truth, "labels", len(images))
    if truth.size and truth.max() >= classes:
        raise OpenworldError(f"labels go up to {truth.max()}, but there are {classes} classes.")
    table = []
    of_parts = ((rows, *decomposition.halves(rows)) for rows in (images, texts))
    for part, rows, known in zip(PARTS, *of_parts, strict=True):
        if ids is not None:
            places = torch.from_numpy(ids).to(known.device)
            sums = known.new_zeros(classes, known.shape[1]).index_add_(0, places, unit(known, known.dtype))
            known = sums / torch.bincount(places)[:, None]
        before = ranks(rows, known, truth)
        top5 = accuracy(before < 5, groups=groups) if classes > 5 else None
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
