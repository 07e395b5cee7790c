"""RAS: energy of features whose sizes are those of a typical training image, rank by rank (Guglielmo and Masana, 2026,
"Ranked Activation Shift for Post-Hoc Out-of-Distribution Detection")."""

from dataclasses import dataclass

import torch
from torch import Tensor

from openworld.detectors.plugin_api import Activations, DetectorCard, Fittable, Head, Mean, Moments


@dataclass(frozen=True)
class RAS(Fittable):
    """log sum exp(W h' + b), h' with the features of h in their order, the j-th smallest replaced by the profile's.

    The profile is the mean over the training images of the j-th smallest feature. Nothing is to be set. As in the
    authors' code (gigug/RAS@44bd2ed); signs of features are not looked at.

    >>> head = Head(torch.tensor([[1.0, 0.0], [-99.0, 0.0]]))
    >>> fitted = RAS().fit(torch.tensor([[1.0, 3.0], [5.0, 1.0]]), head=head)  # the profile is 1, 4
    >>> fitted.score(torch.tensor([[7.0, 6.0], [0.0, 9.0]])).tolist()
    [4.0, 1.0]
    """

    card = DetectorCard("RAS", "Guglielmo & Masana, 2026", "energy of ranks at typical sizes", ("features", "head"))
    gathers = (Mean(ranked=True),)

    def learn(self, head: Head | None, moments: Moments) -> Tensor:
        """The profile float[D], ascending, of features float[N, D]."""
        return moments.mean.to(moments.dtype)

    def read(self, state: Tensor, activations: Activations) -> Tensor:
        features = activations.tensor("features")
        profile = state.to(features).expand_as(features)
        shifted = torch.empty_like(features).scatter_(1, features.argsort(dim=1), profile)
        return activations.logits_of(shifted).logsumexp(dim=1)
