"""NCI: how close the centred features are to the predicted class's weights, and how long they are (Liu and Qin, 2025,
"Detecting Out-of-Distribution Through the Lens of Neural Collapse")."""

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from openworld._arrays import require_at_least
from openworld._types import checked
from openworld.detectors.engine.activations import Activations
from openworld.detectors.engine.fit_statistics import Fittable
from openworld.detectors.engine.head import Head
from openworld.detectors.engine.statistics import Mean, Moments


@checked
@dataclass(frozen=True)
class NCI(Fittable):
    """<w_c, h - mean> / |h - mean| + alpha |h|_1; c the predicted class, mean that of the training features.

    Args:
        alpha: weight of the length, not negative.

    >>> import torch
    >>> from openworld.detectors.engine.head import Head
    >>> fitted = NCI(alpha=0.5).fit(torch.zeros(1, 2), head=Head(torch.eye(2)))
    >>> round(fitted.score(torch.tensor([[3.0, 4.0]])).item(), 4)  # 4 / 5 + 7 / 2
    4.3
    """

    alpha: float = 1e-4

    name: ClassVar[str] = "NCI"
    paper: ClassVar[str] = "Liu & Qin, 2025"
    summary: ClassVar[str] = "closeness to the class's weights"
    needs: ClassVar[tuple[str, ...]] = ("features", "head")
    sweep: ClassVar[dict[str, tuple]] = {"alpha": (1e-4, 1e-3, 1e-2, 1e-1)}
    gathers: ClassVar[tuple] = (Mean(),)

    def __post_init__(self):
        require_at_least(0, alpha=self.alpha)

    def learn(self, head: Head | None, moments: Moments) -> Tensor:
        """The mean float64[D] of features float[N, D]."""
        return moments.mean

    def read(self, state: Tensor, activations: Activations) -> Tensor:
        """Scores float[N]."""
        centred = activations.features - state.to(activations.features)
        weights = activations.head.to(centred).weight[activations.predictions]
        return (weights * centred).sum(dim=1) / centred.norm(dim=1) + self.alpha * activations.features.abs().sum(dim=1)
