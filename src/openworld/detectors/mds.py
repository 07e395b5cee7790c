"""MDS: the Mahalanobis distance to the nearest class (Lee et al., 2018, "A Simple Unified Framework for Detecting
Out-of-Distribution Samples and Adversarial Attacks"), of the features before the head alone.

Without the paper's ensemble over layers and its moved inputs, as OpenOOD@3c35632 computes what it calls MDS.

Distances are measured by whitening: one product with a matrix, then ordinary squared distances. The covariance is
inverted on the directions that it spans: eigenvalues of at most D * eps of the largest count as 0, eps that of the
features' type, as scikit-learn's `EmpiricalCovariance` has it, which the public code calls.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from openworld.core.errors import OpenworldError
from openworld.core.types import Share, checked
from openworld.detectors.engine.statistics import ClassSums, ClassTotals, Moments, Products
from openworld.detectors.plugin_api import Activations, DetectorCard, Fittable, Head


@dataclass(frozen=True, eq=False)
class Gaussian:
    """centre: [D]. whitening: [D, r]. means: [K, r], whitened; squares: [K], their squared lengths."""

    centre: Tensor
    whitening: Tensor
    means: Tensor
    squares: Tensor

    def nearest(self, features: Tensor) -> Tensor:
        """Smallest squared Mahalanobis distance to a mean, float[N]."""
        # |x - m|^2 = |x|^2 - 2 x m + |m|^2: one product for all classes, and |x|^2 plays no part in which is nearest.
        rows = (features - self.centre.to(features)) @ self.whitening.to(features)
        across = torch.addmm(self.squares.to(features), rows, self.means.to(features).mT, alpha=-2)
        return rows.square().sum(dim=1) + across.amin(dim=1)


@checked
@dataclass(frozen=True)
class MDS(Fittable):
    """-min_k (h - mu_k)^T S^+ (h - mu_k), at most 0; S is the covariance within classes, over all N images.

    Args:
        shrinkage: share of S that is replaced by its mean variance in all directions, in [0, 1]; for few images.

    >>> rows = torch.tensor([[1.0, 0.0], [-1.0, 0.0], [5.0, 1.0], [5.0, -1.0]])  # S = half the identity
    >>> round(MDS().fit(rows, torch.tensor([0, 0, 1, 1])).score(torch.tensor([[1.0, 0.0]])).item(), 4)
    -2.0
    """

    shrinkage: Share = 0.0

    card = DetectorCard("MDS", "Lee et al., 2018", "Mahalanobis distance to a class", ("features", "labels"))
    gathers = (ClassSums(), Products())

    def learn(self, head: Head | None, classes: ClassTotals, moments: Moments) -> Gaussian:
        """Class means and one covariance, from features float[N, D] and labels int[N]."""
        return gaussian(*within_classes(classes, moments), self.shrinkage, moments.dtype)

    def concerns(self, classes: ClassTotals, moments: Moments) -> tuple[str, ...]:
        """Classes without images, and too few images."""
        return concerns(self.name, classes, moments)

    def read(self, state: Gaussian, activations: Activations) -> Tensor:
        return -state.nearest(activations.tensor("features"))


def gaussian(means: Tensor, covariance: Tensor, shrinkage: float, dtype: torch.dtype) -> Gaussian:
    """A Gaussian of means float64[K, D] and one covariance, of which `shrinkage` is made even; kept in `dtype`."""
    width = covariance.shape[0]
    if shrinkage:
        even = torch.eye(width, dtype=covariance.dtype, device=covariance.device) * covariance.trace() / width
        covariance = (1 - shrinkage) * covariance + shrinkage * even
    values, vectors = torch.linalg.eigh((covariance + covariance.mT) / 2)  # rounding leaves it not quite symmetric
    spanned = values > width * torch.finfo(dtype).eps * values[-1]
    if not spanned.any():
        raise OpenworldError(
            "all training features are equal within their classes, so that there is no covariance to measure distances "
            "by; fit on more images."
        )
    whitening = vectors[:, spanned] * values[spanned].rsqrt()
    centre = means.mean(dim=0)
    rows = (means - centre) @ whitening
    parts = (centre, whitening, rows, rows.square().sum(dim=1))
    return Gaussian(*(part.to(dtype) for part in parts))


def within_classes(classes: ClassTotals, moments: Moments) -> tuple[Tensor, Tensor]:
    """Means float64[K, D] of the classes that have images, and the covariance within them, 1/N, float64[D, D]."""
    present = classes.counts > 0
    means = classes.means[present]
    scatter = moments.outer - (means * classes.counts[present, None]).mT @ means
    return means, scatter / moments.n


def concerns(name: str, classes: ClassTotals, moments: Moments) -> tuple[str, ...]:
    """What is to be said about the training images of a Gaussian fit."""
    empty = (classes.counts == 0).nonzero().flatten().tolist()
    images, width = moments.n, len(moments.sum)
    sentences = []
    if empty:
        listing = ", ".join(map(str, empty[:5])) + (f" and {len(empty) - 5} more" if len(empty) > 5 else "")
        sentences.append(
            f"{name} leaves out {len(empty)} of {len(classes.counts)} classes, which have no training image: numbers "
            f"{listing}, counted from 0 in the order of the class names."
        )
    if images - (len(classes.counts) - len(empty)) < width:
        sentences.append(
            f"{name} was fitted on {images} images of {width} features: distances are measured only in the directions "
            "that the images span; fit on more, or set shrinkage."
        )
    return tuple(sentences)
