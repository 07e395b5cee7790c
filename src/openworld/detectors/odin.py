"""ODIN: softmax at a high temperature, of the image moved towards confidence (Liang et al., 2018, "Enhancing The
Reliability of Out-of-distribution Image Detection in Neural Networks")."""

from dataclasses import dataclass

from torch import Tensor

from openworld.core.types import AboveZero, NotNegative, checked
from openworld.detectors.engine.perturbation import Perturbation
from openworld.detectors.plugin_api import Activations, DetectorCard, Fittable


@checked
@dataclass(frozen=True)
class ODIN(Fittable):
    """max_c softmax(z(x') / T)_c, x' = x - step * sign(gradient of the cross-entropy of z / T) / pixel deviation.

    Args:
        temperature: T > 0. step: epsilon >= 0, for pixels in [0, 1].

    Float64 scores: at T = 1000 they span some 1e-5, and float32 would make images equal that are not. A gradient of 0
    counts as positive, as in OpenOOD@3c35632.

    >>> import torch
    >>> from openworld.detectors.engine.head import Head
    >>> moved = {ODIN(1.0).perturbation: torch.tensor([[0.0, 0.0]])}
    >>> ODIN(1.0).fit().score(Activations(torch.ones(1, 2), Head(torch.eye(2)), perturbed=moved)).tolist()
    [0.5]
    """

    temperature: AboveZero = 1000.0
    step: NotNegative = 0.0014

    card = DetectorCard("ODIN", "Liang et al., 2018", "softmax of a moved image, T = 1000", ("head", "gradient"))
    sweep = {"temperature": (1.0, 10.0, 100.0, 1000.0), "step": (0.0014, 0.0028)}

    @property
    def perturbation(self) -> Perturbation:
        return Perturbation("confidence", self.temperature, self.step)

    def read(self, state: None, activations: Activations) -> Tensor:
        """Scores float64[N]."""
        # At T = 1000 the softmax is nearly even: in float32 images differ in the last digits alone.
        logits = activations.logits_of(activations.moved(self.perturbation, self.name)).double()
        return (logits / self.temperature).softmax(dim=1).amax(dim=1)
