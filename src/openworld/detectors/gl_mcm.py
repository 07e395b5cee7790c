"""GL-MCM: MCM of the whole image plus that of its most certain patch (Miyai et al., 2025, "GL-MCM: Global and Local
Maximum Concept Matching for Zero-Shot Out-of-Distribution Detection")."""

from dataclasses import dataclass

from torch import Tensor

from openworld.core.types import AboveZero, NotNegative, checked
from openworld.detectors.plugin_api import Activations, DetectorCard, Fittable


@checked
@dataclass(frozen=True)
class GLMCM(Fittable):
    """MCM + weight * max over patches p and classes c of softmax(cos(patch_p, text_c) / T)_c.

    Patches take the value path of the last block, without attention (`TwoTower.encode_patches`).

    Args:
        temperature: T > 0, of cosines. weight: lambda >= 0; 1, while the script of the ImageNet table passes 0.5
            (AtsuMiyai/GL-MCM@8708a08).

    >>> import torch
    >>> from openworld.detectors.engine.texts import Texts
    >>> patches, texts = torch.tensor([[[0.0, 3.0]]]), Texts(torch.eye(2))
    >>> activations = Activations(torch.tensor([[1.0, 0.0]]), texts=texts, patches=patches)
    >>> round(GLMCM().fit().score(activations).item(), 4)  # twice e / (e + 1)
    1.4621
    """

    temperature: AboveZero = 1.0
    weight: NotNegative = 1.0

    card = DetectorCard(
        "GL-MCM", "Miyai et al., 2025", "MCM of image and surest patch", ("features", "texts", "patches")
    )

    def read(self, state: None, activations: Activations) -> Tensor:
        whole = (activations.cosines / self.temperature).softmax(dim=1).amax(dim=1)
        local = (activations.patch_cosines / self.temperature).softmax(dim=-1).amax(dim=(1, 2))
        return whole + self.weight * local
