"""MCM: the largest softmax over class names, of cosines (Ming et al., 2022, "Delving into Out-of-Distribution Detection
with Vision-Language Representations")."""

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from openworld._types import checked
from openworld.detectors.engine.activations import Activations
from openworld.detectors.engine.fit_statistics import Fittable
from openworld.detectors.engine.settings import require_positive


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

    temperature: float = 1.0

    name: ClassVar[str] = "MCM"
    paper: ClassVar[str] = "Ming et al., 2022"
    summary: ClassVar[str] = "softmax of cosines with names"
    needs: ClassVar[tuple[str, ...]] = ("features", "texts")
    sweep: ClassVar[dict[str, tuple]] = {"temperature": (0.01, 1.0, 10.0)}

    def __post_init__(self):
        require_positive(temperature=self.temperature)

    def read(self, state: None, activations: Activations) -> Tensor:
        """Scores float[N]."""
        return (activations.cosines / self.temperature).softmax(dim=1).amax(dim=1)
