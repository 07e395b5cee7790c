"""SCALE: energy after all features were scaled by how few of them carry the sum (Xu et al., 2024, "Scaling for Training
Time and Post-hoc Out-of-distribution Detection Enhancement")."""

from dataclasses import dataclass

from torch import Tensor

from openworld.core.errors import OpenworldError
from openworld.core.types import Percent, checked
from openworld.detectors.ash import ratio
from openworld.detectors.plugin_api import Activations, DetectorCard, Fittable


@checked
@dataclass(frozen=True)
class SCALE(Fittable):
    """log sum exp(W (h exp(r)) + b), r = sum of all features / sum of the largest; nothing is removed.

    Args:
        percent: of the features that are not among the largest, in [0, 100).

    >>> import torch
    >>> from openworld.detectors.engine.head import Head
    >>> head = Head(torch.tensor([[1.0, 1.0], [-99.0, -99.0]]))
    >>> round(SCALE(50).fit(head=head).score(torch.tensor([[2.0, 0.0]])).item(), 4)  # 2 e
    5.4366
    """

    percent: Percent = 85.0

    card = DetectorCard("SCALE", "Xu et al., 2024", "energy of features scaled by image", ("features", "head"))
    sweep = {"percent": (65.0, 70.0, 75.0, 80.0, 85.0, 90.0, 95.0)}
    expects_positive = True

    def __post_init__(self):
        if self.percent == 100:
            raise OpenworldError("percent is 100, which leaves no largest feature; expected less.")

    def read(self, state: None, activations: Activations) -> Tensor:
        features = activations.tensor("features")
        scale = ratio(features, self.percent).exp()
        return activations.logits_of(features * scale[:, None]).logsumexp(dim=1)
