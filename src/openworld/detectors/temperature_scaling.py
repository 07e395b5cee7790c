"""TempScale: the largest probability after the logits were divided by a fitted temperature (Guo et al., 2017, "On
Calibration of Modern Neural Networks"; as a detector in OpenOOD v1.5)."""

from dataclasses import dataclass

from torch import Tensor

from openworld.core.errors import present
from openworld.core.types import Positive, checked
from openworld.detectors.plugin_api import Activations, Bank, DetectorCard, Fittable, Head, Rows
from openworld.estimators.engine.temperature import source_temperature


@checked
@dataclass(frozen=True)
class TemperatureScaling(Fittable):
    """max softmax(z / T), T that of the least negative log-likelihood of the images that it is fitted on.

    Fit it on labelled images that the model has not been trained on: of its training images it is too sure, and T is
    too small. OpenOOD fits on the validation part too, by 50 steps of L-BFGS; here T is the optimum.

    Args:
        bank: how many of the images decide, drawn with `seed` and balanced over classes.

    >>> import torch
    >>> outputs, labels = torch.tensor([[2.0, 0.0]] * 4), torch.tensor([0, 0, 0, 1])  # right in 3 of 4
    >>> fitted = TemperatureScaling().fit(Activations(outputs=outputs, labels=labels))
    >>> round(fitted.score(Activations(outputs=torch.tensor([[2.0, 0.0]]))).item(), 4)
    0.75
    """

    bank: Positive = 10_000
    seed: int = 0

    card = DetectorCard("TempScale", "Guo et al., 2017", "MSP at a fitted temperature", ("logits", "labels", "bank"))

    @property
    def gathers(self) -> tuple:
        return (Bank(self.bank, seed=self.seed, of="logits", labelled=True),)

    def learn(self, head: Head | None, rows: Rows) -> float:
        """T, of logits float[N, C] (or features and head) and labels int[N]."""
        return _temperature(rows).value

    def concerns(self, rows: Rows) -> tuple[str, ...]:
        """Where T could not be fitted as usual."""
        warning = _temperature(rows).warning
        return (f"{self.name}: {warning}.",) if warning else ()

    def read(self, state: float, activations: Activations) -> Tensor:
        """Scores float[N], in [1 / C, 1]."""
        return (activations.logits / state).softmax(dim=1).amax(dim=1)


def _temperature(rows: Rows):
    return source_temperature(rows.features.double().cpu().numpy(), present(rows.labels, "labels").cpu().numpy())
