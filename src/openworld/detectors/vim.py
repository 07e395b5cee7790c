"""ViM: energy less the size of what the principal features leave over (Wang et al., 2022, "ViM: Out-Of-Distribution
with Virtual-logit Matching")."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from openworld.core.errors import OpenworldError
from openworld.core.types import Positive, checked
from openworld.detectors.plugin_api import Activations, Bank, DetectorCard, Fittable, Head, Moments, Products, Rows


@dataclass(frozen=True, eq=False)
class Residual:
    """origin: u, [D]. basis: R, [D, D - d]. weight: alpha."""

    origin: Tensor
    basis: Tensor
    weight: float = 1.0

    def size(self, features: Tensor) -> Tensor:
        """|R^T (h - u)|, float[N]."""
        return ((features - self.origin.to(features)) @ self.basis.to(features)).norm(dim=1)

    def to(self, dtype: torch.dtype) -> "Residual":
        """Return it in another type."""
        return Residual(self.origin.to(dtype), self.basis.to(dtype), self.weight)


@checked
@dataclass(frozen=True)
class ViM(Fittable):
    """log sum exp(z) - alpha |R^T (h - u)|, u = -W^+ b, R the lesser eigenvectors of E (h - u)(h - u)^T.

    Args:
        dimensions: d, how many leading eigenvectors R leaves out; less than D. 256 is OpenOOD's; the paper has 1,000
            for 2,048 features and 512 for 768.
        bank: how many training images make alpha = mean max z / mean |R^T (h - u)|, drawn with `seed`.

    >>> head = Head(torch.eye(2), torch.zeros(2))
    >>> fitted = ViM(1).fit(torch.tensor([[4.0, 1.0], [4.0, -1.0]]), head=head)  # R is the second axis, alpha 4
    >>> round(fitted.state.weight, 4), fitted.state.basis.abs().flatten().tolist()
    (4.0, [0.0, 1.0])
    """

    dimensions: Positive = 256
    bank: Positive = 10_000
    seed: int = 0

    card = DetectorCard("ViM", "Wang et al., 2022", "energy less residual of features", ("features", "head", "bank"))
    sweep = {"dimensions": (256, 1000)}

    @property
    def gathers(self) -> tuple:
        return (Products(), Bank(self.bank, seed=self.seed))

    def learn(self, head: Head, moments: Moments, rows: Rows) -> Residual:
        """Principal features and alpha, in float64, of features float[N, D] and the head."""
        residual = null_space(self.name, self.dimensions, head, moments)
        sample = rows.features.double()
        left = residual.size(sample).mean()
        if not left > 0:
            raise OpenworldError(
                f"ViM finds nothing outside the first {self.dimensions} dimensions of the training features; set fewer "
                "dimensions, or fit on more images."
            )
        alpha = float(head.logits(sample).amax(dim=1).mean() / left)
        return replace(residual.to(moments.dtype), weight=alpha)

    def read(self, state: Residual, activations: Activations) -> Tensor:
        return activations.energy - state.weight * state.size(activations.tensor("features"))


def null_space(who: str, dimensions: int, head: Head, moments: Moments) -> Residual:
    """Return what the leading `dimensions` of training features leave over, in float64."""
    if dimensions >= head.width:
        raise OpenworldError(
            f"{who} leaves out {dimensions} dimensions, but there are {head.width} features; set dimensions to less, "
            f"such as {head.width // 2}."
        )
    weight = head.weight.to(moments.sum)
    bias = moments.sum.new_zeros(head.classes) if head.bias is None else head.bias.to(moments.sum)
    origin = -torch.linalg.pinv(weight) @ bias
    vectors = torch.linalg.eigh(moments.about(origin)).eigenvectors  # ascending
    return Residual(origin, vectors[:, : head.width - dimensions])
