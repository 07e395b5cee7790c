"""VRA: energy after features were cut off above and below (Xu et al., 2023, "VRA: Variational Rectified Activation for
Out-of-distribution Detection"), with the lower cut as OpenOOD@3c35632 has it: values below it become it, not 0."""

from dataclasses import dataclass

from torch import Tensor

from openworld.core.errors import OpenworldError
from openworld.core.types import Percent, Positive, checked
from openworld.detectors.plugin_api import Activations, Bank, DetectorCard, Fittable, Head, Rows, percentile


@checked
@dataclass(frozen=True)
class VRA(Fittable):
    """log sum exp(W min(max(h, low), high) + b), both percentiles of all features of the images it is fitted on.

    Args:
        high, low: percentages, 0 <= low < high <= 100.
        bank: how many of the images make the percentiles, drawn with `seed` where there are more.

    >>> import torch
    >>> head = Head(torch.tensor([[1.0, 1.0], [-99.0, -99.0]]))
    >>> VRA(100, 50).fit(torch.tensor([[0.0, 1.0], [2.0, 1.0]]), head=head).score(torch.tensor([[5.0, 0.5]])).tolist()
    [3.0]
    """

    high: Percent = 90.0
    low: Percent = 10.0
    bank: Positive = 5000
    seed: int = 0

    card = DetectorCard("VRA", "Xu et al., 2023", "energy of features cut both ways", ("features", "head", "bank"))
    sweep = {"high": (85.0, 90.0, 95.0, 99.0), "low": (1.0, 5.0, 10.0, 15.0)}

    def __post_init__(self):
        if self.low >= self.high:
            raise OpenworldError(f"low is {self.low} and high {self.high}, expected low below high.")

    @property
    def gathers(self) -> tuple:
        return (Bank(self.bank, seed=self.seed),)

    def learn(self, head: Head | None, rows: Rows) -> tuple[float, float]:
        """The cuts, low and high: percentiles of features float[N, D]."""
        return float(percentile(rows.features, self.low)), float(percentile(rows.features, self.high))

    def read(self, state: tuple[float, float], activations: Activations) -> Tensor:
        return activations.logits_of(activations.tensor("features").clamp(*state)).logsumexp(dim=1)
