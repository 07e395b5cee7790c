"""L-MCM: MCM of the most certain patch alone, the local half of GL-MCM (Miyai et al., 2025, "GL-MCM: Global and Local
Maximum Concept Matching for Zero-Shot Out-of-Distribution Detection").

LoCoOp (Miyai et al., 2023) and GalLoP (Lafon et al., 2024) read their tuned prompts with it and with GL-MCM: give the
tuned names as `Texts`, and as patches those that the learner's own projection makes.
"""

from dataclasses import dataclass

from torch import Tensor

from openworld.core.types import AboveZero, checked
from openworld.detectors.plugin_api import Activations, DetectorCard, Fittable


@checked
@dataclass(frozen=True)
class LMCM(Fittable):
    """max over patches p and classes c of softmax(cos(patch_p, text_c) / T)_c, in (0, 1].

    Patches take the value path of the last block, without attention (`TwoTower.encode_patches`).

    Args:
        temperature: T > 0, of cosines.

    >>> import torch
    >>> from openworld.detectors.engine.texts import Texts
    >>> patches, texts = torch.tensor([[[0.0, 3.0]]]), Texts(torch.eye(2))
    >>> round(LMCM().fit().score(Activations(texts=texts, patches=patches)).item(), 4)  # e / (e + 1)
    0.7311
    """

    temperature: AboveZero = 1.0

    card = DetectorCard("L-MCM", "Miyai et al., 2025", "MCM of the surest patch", ("texts", "patches"))

    def read(self, state: None, activations: Activations) -> Tensor:
        return (activations.patch_cosines / self.temperature).softmax(dim=-1).amax(dim=(1, 2))
