"""NAC-UE: how many training images moved the softmax by the same neurons in the same way (Liu et al., 2024, "Neuron
Activation Coverage: Rethinking Out-of-distribution Detection and Generalization")."""

from dataclasses import dataclass
from typing import Annotated

import torch
from torch import Tensor

from openworld.core.types import Positive, Range, checked
from openworld.detectors.engine.statistics import ByLayer, PerLayer
from openworld.detectors.plugin_api import Activations, Bank, DetectorCard, Fittable, Head

MOST_BINS, STEEPEST = 100_000, 1e9
NEURONS = 512  # whose histograms are counted at a time


@checked
@dataclass(frozen=True)
class NAC(Fittable):
    """Mean over layers and their neurons of min(training images in the neuron's bin / filled, 1).

    A neuron's state is sigmoid(steepness * z * dKL/dz), z its map averaged, KL that of the uniform distribution and the
    softmax; [0, 1] is cut into `bins` bins. Each image costs a backward pass to the earliest layer.

    Args:
        bins: of a neuron. steepness: of the sigmoid. filled: from how many images on a bin counts as full.
        bank: training images that are counted, drawn with `seed`, balanced over classes where there are labels.
        layers: names of modules; none for the stages that `watch` finds.

    Defaults are those of the released configuration for the last layer on CIFAR-10 (BierOne/ood_coverage@f8dbf68, which
    names one edge more for each neuron); for ImageNet it has steepness 3000 and filled 10, and it tunes all of them, by
    layer, on validation images.

    >>> from openworld.detectors.engine.activations import Layer
    >>> layer = Layer(torch.tensor([[1.0], [1.0], [-1.0]]), torch.ones(3, 1))
    >>> seen = Activations(layers={"last": layer})
    >>> NAC(bins=2, filled=2).fit(seen).score(seen).tolist()
    [1.0, 1.0, 0.5]
    """

    bins: Annotated[int, Range(1, MOST_BINS)] = 50
    steepness: Annotated[float, Range(0, STEEPEST, "(]")] = 100.0
    filled: Positive = 50
    bank: Positive = 1000
    layers: tuple[str, ...] = ()
    seed: int = 0

    card = DetectorCard(
        "NAC", "Liu et al., 2024", "how usual a neuron's influence is", ("layers", "layer gradients", "bank")
    )

    @property
    def gathers(self) -> tuple:
        return (PerLayer(Bank(self.bank, seed=self.seed), self.layers, "influence"),)

    def learn(self, head: Head | None, banks: ByLayer) -> ByLayer:
        """Histograms of all neurons, how full their bins are, at most 1: float[c, bins] of every layer."""
        return ByLayer(banks.names, tuple(self._shares(rows.features) for rows in banks.parts))

    def _shares(self, influence: Tensor) -> Tensor:
        parts = []
        for part in self._places(influence).split(NEURONS, dim=1):
            counts = influence.new_zeros(part.shape[1], self.bins)
            counts.scatter_add_(1, part.mT, torch.ones_like(part.mT, dtype=counts.dtype))
            parts.append((counts / self.filled).clamp(max=1))
        return torch.cat(parts)

    def read(self, state: ByLayer, activations: Activations) -> Tensor:
        pairs = zip(state.parts, activations.layers_of(state.names, self.name).values(), strict=True)
        covered = [shares.gather(1, self._places(layer.influence).mT).mean(dim=0) for shares, layer in pairs]
        return torch.stack(covered).mean(dim=0)

    def _places(self, influence: Tensor) -> Tensor:
        """The bin of every neuron, int64[N, c]."""
        return ((self.steepness * influence).sigmoid() * self.bins).long().clamp(max=self.bins - 1)
