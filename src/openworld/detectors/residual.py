"""Residual: the size of what the principal features leave over, as a score of its own (Wang et al., 2022, "ViM:
Out-Of-Distribution with Virtual-logit Matching", section 4)."""

from dataclasses import dataclass

from torch import Tensor

from openworld.core.types import Positive, checked
from openworld.detectors.plugin_api import Activations, DetectorCard, Fittable, Head, Moments, Products
from openworld.detectors.vim import Residual, null_space


@checked
@dataclass(frozen=True)
class ResidualNorm(Fittable):
    """-|R^T (h - u)|, at most 0; u and R as in ViM, of which this is the part that looks at features.

    Args:
        dimensions: how many leading eigenvectors R leaves out; less than D. 256 as in ViM; OpenOOD has 512 here.

    >>> import torch
    >>> head = Head(torch.eye(2), torch.zeros(2))
    >>> fitted = ResidualNorm(1).fit(torch.tensor([[4.0, 1.0], [4.0, -1.0]]), head=head)  # R is the second axis
    >>> round(fitted.score(torch.tensor([[9.0, -3.0]])).item(), 4)
    -3.0
    """

    dimensions: Positive = 256

    card = DetectorCard("Residual", "Wang et al., 2022", "features outside principal ones", ("features", "head"))
    gathers = (Products(),)

    def learn(self, head: Head, moments: Moments) -> Residual:
        """Principal features in float64, of features float[N, D] and the head."""
        return null_space(self.name, self.dimensions, head, moments).to(moments.dtype)

    def read(self, state: Residual, activations: Activations) -> Tensor:
        return -state.size(activations.tensor("features"))
