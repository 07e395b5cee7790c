"""NNGuide: energy, guided by similar and confident training images (Park et al., 2023, "Nearest Neighbor Guidance for
Out-of-Distribution Detection")."""

from dataclasses import dataclass
from typing import Annotated

from torch import Tensor
from torch.nn.functional import normalize

from openworld.core.types import Positive, Range, checked
from openworld.detectors.engine.bank import require_neighbours
from openworld.detectors.plugin_api import Activations, Bank, DetectorCard, Fittable, Head, Rows, largest_products


@checked
@dataclass(frozen=True)
class NNGuide(Fittable):
    """E(z) * mean of the k largest <u, E(z_i) u_i> over a bank, u = h / |h|, E = log sum exp.

    Args:
        k: how many neighbours. share: of the training images that the bank keeps, each drawn with that chance; OpenOOD
            takes the first of a shuffled set. seed: of the draws.

    >>> import torch
    >>> head = Head(torch.tensor([[1.0, 0.0], [-99.0, 0.0]]))
    >>> NNGuide(k=1, share=1.0).fit(torch.tensor([[2.0, 0.0]]), head=head).score(torch.tensor([[3.0, 0.0]])).tolist()
    [6.0]
    """

    k: Positive = 100
    share: Annotated[float, Range(0, 1, "(]")] = 0.01
    seed: int = 0

    card = DetectorCard("NNGuide", "Park et al., 2023", "energy times that of neighbours", ("features", "head", "bank"))

    @property
    def gathers(self) -> tuple:
        return (Bank(share=self.share, seed=self.seed),)

    def require_images(self, images: int) -> None:
        """Raise OpenworldError where so many training images would be too few."""
        require_neighbours(self, self.gathers[0].kept(images), images)

    def learn(self, head: Head, rows: Rows) -> Tensor:
        """Keep unit features times their energies, float[M, D], of features float[N, D] and the head."""
        require_neighbours(self, len(rows.features), rows.offered)
        # Energies enter the bank once, so that guidance is one product with it.
        energies = head.logits(rows.features).logsumexp(dim=1)
        return normalize(rows.features, dim=1) * energies[:, None]

    def read(self, state: Tensor, activations: Activations) -> Tensor:
        return activations.energy * largest_products(activations.unit, state.to(activations.unit), self.k)[0].mean(
            dim=1
        )
