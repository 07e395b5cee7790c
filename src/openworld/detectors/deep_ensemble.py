"""DeepEnsemble: the softmax of several classifiers, trained apart, averaged (Lakshminarayanan et al., 2017, "Simple and
Scalable Predictive Uncertainty Estimation using Deep Ensembles")."""

from dataclasses import dataclass

from torch import Tensor

from openworld.core.types import checked
from openworld.detectors.engine.perturbation import Reading, Sampling, read_samples
from openworld.detectors.plugin_api import Activations, DetectorCard, Fittable


@checked
@dataclass(frozen=True)
class DeepEnsemble(Fittable):
    """max_c p_c, or sum_c p_c ln p_c; p the mean softmax of the classifier and of those in `watch(..., members=...)`.

    Args:
        reading: "confidence", the largest p; "entropy", minus that of p.

    >>> import torch
    >>> detector = DeepEnsemble()
    >>> seen = Activations(sampled={detector.sampling: torch.tensor([[[9.0, -9.0], [-9.0, 9.0]]])})
    >>> detector.fit().score(seen).tolist()
    [0.5]
    """

    reading: Reading = "confidence"

    card = DetectorCard("DeepEnsemble", "Lakshminarayanan, 2017", "mean softmax of several classifiers", ("samples",))
    sampling = Sampling("members")

    def read(self, state: None, activations: Activations) -> Tensor:
        return read_samples(activations.sampled_by(self.sampling, self.name), self.reading)
