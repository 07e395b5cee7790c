"""DICE: energy with only those weights of the head that contribute most (Sun and Li, 2022, "DICE: Leveraging
Sparsification for Out-of-Distribution Detection").

The mask is applied to the weights once, so that scoring is one matrix product; on a CPU a sparse one, which takes half
the time where a tenth of the weights is left.
"""

import warnings
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from openworld.core.types import Percent, checked
from openworld.detectors.plugin_api import Activations, DetectorCard, Fittable, Head, Mean, Moments, percentile

SPARSE = 0.15  # share of weights left, up to which the sparse product is the faster one


class MaskedHead(Head):
    """A head many of whose weights are 0."""

    @cached_property
    def sparse(self) -> Tensor | None:
        """The weight in compressed rows; None where a product with it would be slower, or is not to be had."""
        left = int(self.weight.count_nonzero()) / self.weight.numel()
        if self.weight.device.type != "cpu" or not torch.backends.mkl.is_available() or left > SPARSE:
            return None
        with warnings.catch_warnings():  # torch calls all of compressed rows a beta
            warnings.simplefilter("ignore", UserWarning)
            return self.weight.to_sparse_csr()

    def energy(self, features: Tensor) -> Tensor:
        """log sum exp of the logits, float[N]."""
        if self.sparse is None or not self.fits(features):
            return self.logits(features).logsumexp(dim=1)
        logits = (self.sparse @ features.mT).mT
        return (logits if self.bias is None else logits + self.bias).logsumexp(dim=1)


@checked
@dataclass(frozen=True)
class DICE(Fittable):
    """log sum exp((W * mask) h + b); the mask keeps W_cd whose W_cd * mean(h_d) is above a percentile of them all.

    Args:
        percent: of the weights that are dropped, in [0, 100]. 90 is OpenOOD's; the paper's for ImageNet is 70.

    >>> head = Head(torch.tensor([[2.0, 1.0], [1.0, 2.0]]))
    >>> fitted = DICE(50).fit(torch.tensor([[1.0, 1.0]]), head=head)
    >>> fitted.state.weight.tolist()
    [[2.0, 0.0], [0.0, 2.0]]
    """

    percent: Percent = 90.0

    card = DetectorCard("DICE", "Sun & Li, 2022", "energy by largest contributions", ("features", "head"))
    gathers = (Mean(),)

    def learn(self, head: Head, moments: Moments) -> MaskedHead:
        """The masked head, from the mean of features float[N, D] and the head."""
        contributions = head.weight * moments.mean.to(head.weight)
        return MaskedHead(head.weight * (contributions > percentile(contributions, self.percent)), head.bias)

    def read(self, state: MaskedHead, activations: Activations) -> Tensor:
        return state.energy(activations.tensor("features"))
