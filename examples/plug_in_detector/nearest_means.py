"""NearestMeans: the cosine with the mean features of the nearest classes."""

from dataclasses import dataclass
from typing import ClassVar

from torch.nn.functional import normalize

from openworld.detectors.plugin_api import ClassSums, fit


@dataclass(frozen=True)
class NearestMeans:
    """Mean of the largest cosines between the features and the classes' mean features.

    Args:
        nearest: of how many classes.
    """

    nearest: int = 1

    name: ClassVar[str] = "NearestMeans"
    paper: ClassVar[str] = "worked example"
    summary: ClassVar[str] = "cosine with the nearest class means"
    needs: ClassVar[tuple[str, ...]] = ("features", "labels")
    gathers: ClassVar[tuple] = (ClassSums(),)

    def fit(self, features=None, labels=None, head=None):
        return fit(self, features, labels, head)

    def learn(self, head, classes):
        present = classes.counts > 0
        return normalize(classes.means[present], dim=1).to(classes.dtype)

    def read(self, state, activations):
        cosines = activations.unit @ state.to(activations.unit).mT
        return cosines.topk(min(self.nearest, len(state)), dim=1).values.mean(dim=1)
