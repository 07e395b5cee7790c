"""DICE: energy with only those weights of the head that contribute most (Sun and Li, 2022, "DICE: Leveraging
Sparsification for Out-of-Distribution Detection").

The mask is applied to the weights once, so that scoring is one matrix product.
"""

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from openworld.detectors._fitted import Fitted
from openworld.detectors._fitting import fit
from openworld.detectors._settings import require_percent
from openworld.detectors.gathering import Mean, percentile
from openworld.detectors.head import Head
from openworld.detectors.seen import Seen


@dataclass(frozen=True)
class DICE:
    """log sum exp((W * mask) h + b); the mask keeps W_cd whose W_cd * mean(h_d) is above a percentile of them all.

    Args:
        percent: of the weights that are dropped, in [0, 100]. 90 is OpenOOD's; the paper's for ImageNet is 70.

    >>> import torch
    >>> head = Head(torch.tensor([[2.0, 1.0], [1.0, 2.0]]))
    >>> fitted = DICE(50).fit(torch.tensor([[1.0, 1.0]]), head=head)
    >>> fitted.state.weight.tolist()
    [[2.0, 0.0], [0.0, 2.0]]
    """

    percent: float = 90.0

    name: ClassVar[str] = "DICE"
    paper: ClassVar[str] = "Sun & Li, 2022"
    summary: ClassVar[str] = "energy by the largest contributions"
    needs: ClassVar[tuple[str, ...]] = ("features", "head")
    gathers: ClassVar[tuple] = (Mean(),)

    def __post_init__(self):
        require_percent(percent=self.percent)

    def fit(self, features=None, labels=None, head=None) -> Fitted:
        """The mask, from the mean of features float[N, D] and the head."""
        return fit(self, features, labels, head)

    def learn(self, head: Head, moments) -> Head:
        """The masked head."""
        contributions = head.weight * moments.mean.to(head.weight)
        return Head(head.weight * (contributions > percentile(contributions, self.percent)), head.bias)

    def read(self, state: Head, seen: Seen) -> Tensor:
        """Scores float[N]."""
        return state.logits(seen.features).logsumexp(dim=1)
