"""GMM: the density of a Gaussian of each class (Mukhoti et al., 2023, "Deep Deterministic Uncertainty: A New Simple
Baseline"; with one covariance for all, Lee et al., 2018)."""

from dataclasses import dataclass
from math import log, tau
from typing import Literal

import torch
from torch import Tensor

from openworld.core.errors import OpenworldError, present
from openworld.core.types import AboveZero, checked
from openworld.detectors.plugin_api import Activations, Bank, DetectorCard, Fittable, Head, Rows

Covariance = Literal["class", "tied"]
MOST = 2**30  # numbers in all covariances together, 4 GiB in float32


@checked
@dataclass(frozen=True)
class GMM(Fittable):
    """ln sum_k pi_k N(h; mu_k, S_k), pi_k the share of class k in the training images.

    Args:
        covariance: "class", S_k of each class by itself, which wants many more images of a class than features; "tied",
            one for all, that within the classes.
        regularization: > 0, added to the diagonal of every covariance.

    pytorch-ood's GMM takes the least distance alone, without determinants and shares; OpenOOD's mixture is fitted
    without labels. The paper draws features from a network that was trained for this.

    >>> rows = torch.tensor([[1.0], [-1.0]])  # variance 1 about 0
    >>> round(GMM().fit(rows, torch.tensor([0, 0])).score(torch.tensor([[0.0]])).item(), 4)  # -ln(2 pi) / 2
    -0.9189
    """

    covariance: Covariance = "class"
    regularization: AboveZero = 1e-6

    card = DetectorCard("GMM", "Mukhoti et al., 2023", "density of class Gaussians", ("features", "labels", "bank"))
    gathers = (Bank(labelled=True),)

    def learn(self, head: Head | None, rows: Rows) -> tuple[Tensor, ...]:
        """Of the K classes that have images: means [K, D]; whitenings [K, D, D], or [1, D, D] for all; and constants
        [K], to which distances are added; computed in float64."""
        features, labels = rows.features, present(rows.labels, "labels")
        classes, counts = labels.unique(return_counts=True)
        width = features.shape[1]
        if self.covariance == "class" and len(classes) * width**2 > MOST:
            raise OpenworldError(
                f"GMM would keep {len(classes)} covariances of {width} x {width} numbers; set covariance to 'tied'."
            )
        groups = [features[labels == label].double() for label in classes]
        means = torch.stack([group.mean(dim=0) for group in groups])
        centred = [group - mean for group, mean in zip(groups, means, strict=True)]
        factors = []
        for rows_of_class in centred if self.covariance == "class" else [torch.cat(centred)]:
            covariance = rows_of_class.mT @ rows_of_class / len(rows_of_class)
            covariance.diagonal().add_(self.regularization)
            factors.append(torch.linalg.cholesky(covariance))
        factors = torch.stack(factors)

        whitenings = torch.linalg.solve_triangular(factors, torch.eye(width).to(factors), upper=False)
        determinants = factors.diagonal(dim1=1, dim2=2).log().sum(dim=1)
        constants = (counts / counts.sum()).log().to(means) - determinants - width * log(tau) / 2
        return tuple(part.to(features.dtype) for part in (means, whitenings, constants))

    def concerns(self, rows: Rows) -> tuple[str, ...]:
        """Classes of fewer images than features."""
        if self.covariance == "tied":
            return ()
        width = rows.features.shape[1]
        few = int((present(rows.labels, "labels").unique(return_counts=True)[1] <= width).sum())
        if not few:
            return ()
        return (
            f"GMM has no more images than the {width} features in {few} class(es), whose covariances are then little "
            "but the regularization; fit on more, or set covariance to 'tied'.",
        )

    def read(self, state: tuple[Tensor, ...], activations: Activations) -> Tensor:
        features = activations.tensor("features")
        means, whitenings, constants = (part.to(features) for part in state)
        densities = [
            constant - ((features - mean) @ whitening.mT).square().sum(dim=1) / 2
            for mean, whitening, constant in zip(means, whitenings.expand(len(means), -1, -1), constants, strict=True)
        ]
        return torch.stack(densities, dim=1).logsumexp(dim=1)
