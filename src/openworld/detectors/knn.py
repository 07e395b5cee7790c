"""KNN: the distance to the k-th nearest training image (Sun et al., 2022, "Out-of-Distribution Detection with Deep
Nearest Neighbors").

Exact, and without faiss. OpenOOD@3c35632 adds 1e-10 to every coordinate of a unit feature; that is left out.
"""

from dataclasses import dataclass

from torch import Tensor
from torch.nn.functional import normalize

from openworld.core.types import Positive, checked
from openworld.detectors.engine.bank import require_neighbours
from openworld.detectors.plugin_api import Activations, Bank, DetectorCard, Fittable, Head, Rows, largest_products


@checked
@dataclass(frozen=True)
class KNN(Fittable):
    """-|u - u_(k)|^2, at most 0, with u = h / |h| and u_(k) the k-th nearest among the training images'.

    Args:
        k: which neighbour, from 1. For a sample of the training images make it smaller in proportion.
        bank: how many training images to keep, balanced over classes where labels are given; None for all.
        seed: of the sample.

    >>> import torch
    >>> near = KNN(k=1).fit(torch.tensor([[2.0, 0.0], [0.0, 1.0]]))
    >>> near.score(torch.tensor([[9.0, 0.0], [-1.0, 0.0]])).tolist()  # itself; a right angle to the other
    [-0.0, -2.0]
    """

    k: Positive = 50
    bank: Positive | None = None
    seed: int = 0

    card = DetectorCard("KNN", "Sun et al., 2022", "distance to the k-th nearest image", ("features", "bank"))
    sweep = {"k": (50, 100, 200, 500, 1000)}

    @property
    def gathers(self) -> tuple:
        return (Bank(self.bank, seed=self.seed),)

    def require_images(self, images: int) -> None:
        """Raise OpenworldError where so many training images would be too few."""
        require_neighbours(self, self.gathers[0].kept(images), images)

    def learn(self, head: Head | None, rows: Rows) -> Tensor:
        """Keep unit features float[M, D], of features float[N, D]."""
        require_neighbours(self, len(rows.features), rows.offered)
        return normalize(rows.features, dim=1)

    def read(self, state: Tensor, activations: Activations) -> Tensor:
        bank = state.to(activations.unit)
        _, places = largest_products(activations.unit, bank, self.k)
        # From the difference, not from the product: 2 - 2 cos loses all digits of a near duplicate.
        return -(activations.unit - bank[places[:, -1]]).square().sum(dim=1)
