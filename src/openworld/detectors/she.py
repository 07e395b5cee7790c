"""SHE: the inner product with the mean of the predicted class (Zhang et al., 2023, "Out-of-Distribution Detection based
on In-Distribution Data Patterns Memorization with Modern Hopfield Energy")."""

from dataclasses import dataclass

from torch import Tensor

from openworld.detectors.engine.statistics import require_named_right
from openworld.detectors.plugin_api import Activations, ClassSums, ClassTotals, DetectorCard, Fittable, Head


@dataclass(frozen=True)
class SHE(Fittable):
    """<h, m_c>, m_c the mean of the training features of class c that are named right; c the predicted class.

    >>> import torch
    >>> fitted = SHE().fit(torch.tensor([[3.0, 0.0], [0.0, 2.0]]), torch.tensor([0, 1]), Head(torch.eye(2)))
    >>> fitted.score(torch.tensor([[5.0, 1.0]])).tolist()
    [15.0]
    """

    card = DetectorCard(
        "SHE", "Zhang et al., 2023", "inner product with the class mean", ("features", "logits", "labels")
    )
    gathers = (ClassSums(correct=True),)

    def learn(self, head: Head | None, classes: ClassTotals) -> Tensor:
        """Class means float[C, D], of features float[N, D], labels int[N] and the head or logits."""
        require_named_right("SHE needs a training image", "none", classes.counts > 0)
        return classes.means.to(classes.dtype)

    def read(self, state: Tensor, activations: Activations) -> Tensor:
        features = activations.tensor("features")
        return (features * state.to(features)[activations.predictions]).sum(dim=1)
