"""MCDropout: the softmax of several passes with dropout on, averaged (Gal and Ghahramani, 2016, "Dropout as a Bayesian
Approximation: Representing Model Uncertainty in Deep Learning")."""

from dataclasses import dataclass

from torch import Tensor

from openworld.core.types import checked
from openworld.detectors.engine.perturbation import Reading, Sampling, read_samples
from openworld.detectors.plugin_api import Activations, DetectorCard, Fittable


@checked
@dataclass(frozen=True)
class MCDropout(Fittable):
    """max_c p_c, or sum_c p_c ln p_c; p the mean softmax of `repeats` forward passes with dropout on.

    What drops out is drawn anew with `seed` for every batch: an image's score depends on its place in the batch.

    Args:
        repeats: forward passes for each image. reading: "confidence", the largest p; "entropy", minus that of p.

    Dropout layers alone are switched on; dropout that a model calls as a function stays off.

    >>> import torch
    >>> detector = MCDropout(2)
    >>> seen = Activations(sampled={detector.sampling: torch.tensor([[[9.0, -9.0], [-9.0, 9.0]]])})
    >>> detector.fit().score(seen).tolist()
    [0.5]
    """

    repeats: int = 30
    reading: Reading = "confidence"
    seed: int = 0

    card = DetectorCard("MCDropout", "Gal & Ghahramani, 2016", "mean softmax of passes with dropout", ("samples",))

    def __post_init__(self):
        Sampling("dropout", self.repeats, self.seed)

    @property
    def sampling(self) -> Sampling:
        return Sampling("dropout", self.repeats, self.seed)

    def read(self, state: None, activations: Activations) -> Tensor:
        return read_samples(activations.sampled_by(self.sampling, self.name), self.reading)
