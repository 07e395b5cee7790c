"""KL matching: how far the softmax is from the typical one of any class (Hendrycks et al., 2022, "Scaling
Out-of-Distribution Detection for Real-World Settings")."""

from dataclasses import dataclass

import torch
from torch import Tensor

from openworld.detectors.plugin_api import Activations, ClassSums, ClassTotals, DetectorCard, Fittable, Head


@dataclass(frozen=True)
class KLMatching(Fittable):
    """-min_k KL(p || d_k), p = softmax(z), d_k the mean softmax of the images that are named k; at most 0.

    No label is needed. A class that is never named has no typical softmax, and is no match. OpenOOD takes the nearest
    of all classes too; pytorch-ood only that of the predicted class.

    >>> logits = torch.log(torch.tensor([[0.5, 0.5], [0.25, 0.75]]))
    >>> fitted = KLMatching().fit(Activations(outputs=torch.log(torch.tensor([[0.6, 0.4], [0.4, 0.6]]))))
    >>> [round(score, 3) for score in fitted.score(Activations(outputs=logits)).tolist()]
    [-0.02, -0.05]
    """

    card = DetectorCard("KLM", "Hendrycks et al., 2022", "distance to a class's softmax", ("logits",))
    gathers = (ClassSums(of="probabilities"),)

    def learn(self, head: Head | None, classes: ClassTotals) -> Tensor:
        """ln d, float[K, C], the typical softmax of every class that is named, of the smallest number where it is 0."""
        typical = classes.means[classes.counts > 0]
        return typical.clamp_min(torch.finfo(typical.dtype).tiny).log().to(classes.dtype)

    def read(self, state: Tensor, activations: Activations) -> Tensor:
        # KL(p || d_k) = sum p ln p - sum p ln d_k: one product with all classes, and what p alone adds is taken once.
        p = activations.probabilities
        cross_entropy = (p * activations.logits.log_softmax(dim=1)).sum(dim=1)
        return (p @ state.to(p).mT).amax(dim=1) - cross_entropy
