"""DeepEnsemble: the softmax of several classifiers, trained apart, averaged (Lakshminarayanan et al., 2017, "Simple and
Scalable Predictive Uncertainty Estimation using Deep Ensembles")."""

from dataclasses import dataclass
from typing import ClassVar, get_args

from torch import Tensor

from openworld._errors import unknown_name
from openworld._types import checked
from openworld.detectors.engine.activations import Activations
from openworld.detectors.engine.fit_statistics import Fittable
from openworld.detectors.engine.sampling import Reading, Sampling, read_samples


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

    name: ClassVar[str] = "DeepEnsemble"
    paper: ClassVar[str] = "Lakshminarayanan, 2017"
    summary: ClassVar[str] = "mean softmax of several classifiers"
    needs: ClassVar[tuple[str, ...]] = ("samples",)
    sampling: ClassVar[Sampling] = Sampling("members")

    def __post_init__(self):
        if self.reading not in get_args(Reading):
            raise unknown_name("reading", self.reading, get_args(Reading))

    def read(self, state: None, activations: Activations) -> Tensor:
        """Scores float[N]."""
        return read_samples(activations.sampled_by(self.sampling, self.name), self.reading)
