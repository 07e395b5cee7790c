"""MCM: the largest softmax over class names, of cosines (Ming et al., 2022, "Delving into Out-of-Distribution Detection
with Vision-Language Representations")."""

from dataclasses import dataclass

from torch import Tensor

from openworld.core.types import AboveZero, checked
from openworld.detectors.plugin_api import Activations, DetectorCard, Fittable


@checked
@dataclass(frozen=True)
class MCM(Fittable):
    """max_c softmax(cos(image, text_c) / T)_c, in (0, 1].

    Args:
        temperature: T > 0, of cosines: 1 is the paper's. The model's own scale would be MSP of its logits.

    >>> import torch
    >>> from openworld.detectors.engine.texts import Texts
    >>> texts = Texts(torch.tensor([[1.0, 0.0], [0.0, 1.0]]))
    >>> round(MCM().fit(Activations(texts=texts)).score(torch.tensor([[9.0, 0.0]])).item(), 4)  # e / (e + 1)
    0.7311
    """

    temperature: AboveZero = 1.0

    card = DetectorCard("MCM", "Ming et al., 2022", "softmax of cosines with names", ("features", "texts"))
    sweep = {"temperature": (0.01, 1.0, 10.0)}

    def read(self, state: None, activations: Activations) -> Tensor:
        return (activations.cosines / self.temperature).softmax(dim=1).amax(dim=1)
