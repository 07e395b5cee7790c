"""ReAct: energy after features were cut off above (Sun et al., 2021, "ReAct: Out-of-distribution Detection With
Rectified Activations")."""

from dataclasses import dataclass

from torch import Tensor

from openworld.core.types import Percent, Positive, checked
from openworld.detectors.plugin_api import Activations, Bank, DetectorCard, Fittable, Head, Rows, percentile


@checked
@dataclass(frozen=True)
class ReAct(Fittable):
    """log sum exp(W min(h, t) + b), t a percentile of all features of the images it is fitted on.

    Args:
        percent: in [0, 100].
        bank: how many of the images make the percentile, drawn with `seed` where there are more. OpenOOD fits it on
            held-out images; 5,000 of 2,048 features are 40 MB.

    >>> import torch
    >>> head = Head(torch.tensor([[1.0, 1.0], [-99.0, -99.0]]))
    >>> ReAct(50).fit(torch.tensor([[0.0, 1.0, ], [2.0, 1.0]]), head=head).score(torch.tensor([[5.0, 0.5]])).tolist()
    [1.5]
    """

    percent: Percent = 90.0
    bank: Positive = 5000
    seed: int = 0

    card = DetectorCard("ReAct", "Sun et al., 2021", "energy of features cut off above", ("features", "head", "bank"))
    sweep = {"percent": (85.0, 90.0, 95.0, 99.0)}

    @property
    def gathers(self) -> tuple:
        return (Bank(self.bank, seed=self.seed),)

    def learn(self, head: Head | None, rows: Rows) -> Tensor:
        """The cut-off, 0-d: a percentile of features float[N, D]."""
        return percentile(rows.features, self.percent)

    def read(self, state: Tensor, activations: Activations) -> Tensor:
        return activations.logits_of(activations.tensor("features").clamp(max=float(state))).logsumexp(dim=1)
