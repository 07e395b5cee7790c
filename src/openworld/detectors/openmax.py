"""OpenMax: the softmax with a class for the unknown, whose logit is taken from the known ones by how far the image is
from their centres (Bendale and Boult, 2016, "Towards Open Set Deep Networks")."""

from dataclasses import dataclass
from typing import Annotated

import torch
from torch import Tensor

from openworld.core.types import Positive, Range, checked
from openworld.detectors.engine.statistics import require_named_right
from openworld.detectors.plugin_api import Activations, Bank, DetectorCard, Fittable, Head, Rows

SHIFT = 10_000.0  # libMR moves distances by so much before it fits, which makes the Weibull's place parameter 0
SHAPES = (1e-3, 1e12)  # between which the Weibull's shape is looked for
HALVINGS = 100


@checked
@dataclass(frozen=True)
class OpenMax(Fittable):
    """ln(1 - P(unknown)), at most 0, in float64.

    The j-th largest logit z_c is cut to z_c (1 - w_c (alpha + 1 - j) / alpha), j = 1..alpha, and what is cut away adds
    up to the logit of the unknown; w_c is the Weibull probability of a distance to the centre of class c, fitted to the
    `tail` largest distances of its images that are named right (as libMR does).

    Args:
        alpha: how many of the largest logits are cut; 10 in the paper's code, 3 in OpenOOD.
        tail: how many distances of a class are fitted, at least 2; 20 in both.

    >>> logits = torch.tensor([[9.0, 0.0], [8.0, 0.0], [7.0, 0.0], [0.0, 9.0], [0.0, 8.0], [0.0, 7.0]])
    >>> fitted = OpenMax(alpha=1).fit(Activations(outputs=logits, labels=torch.tensor([0, 0, 0, 1, 1, 1])))
    >>> near, far = fitted.score(Activations(outputs=torch.tensor([[8.0, 0.0], [30.0, 0.0]]))).tolist()
    >>> near > far
    True
    """

    alpha: Positive = 10
    tail: Annotated[int, Range(2)] = 20

    card = DetectorCard(
        "OpenMax", "Bendale & Boult, 2016", "softmax with an unknown class", ("logits", "labels", "bank")
    )
    gathers = (Bank(of="logits", labelled=True),)

    def learn(self, head: Head | None, rows: Rows) -> tuple[Tensor, ...]:
        """Centres float64[C, C] of logits of images that are named right; of each class's largest distances the
        smallest, and their Weibull distribution's shape and scale, float64[C]."""
        logits = rows.features.double()
        right = logits.argmax(dim=1) == rows.labels
        groups = [logits[right & (rows.labels == label)] for label in range(logits.shape[1])]
        require_named_right(
            "OpenMax needs two training images", "fewer", torch.tensor([len(group) > 1 for group in groups])
        )
        centres = torch.stack([group.mean(dim=0) for group in groups])
        farthest = [
            (group - centre).norm(dim=1).sort().values[-self.tail :]
            for group, centre in zip(groups, centres, strict=True)
        ]
        smallest = torch.stack([distances[0] for distances in farthest])
        fits = [_weibull(distances - distances[0] + SHIFT) for distances in farthest]
        return centres, smallest, *(torch.stack(part) for part in zip(*fits, strict=True))

    def read(self, state: tuple[Tensor, ...], activations: Activations) -> Tensor:
        """Scores float64[N]."""
        logits = activations.logits.double()
        alpha = min(self.alpha, logits.shape[1])
        places = logits.topk(alpha, dim=1).indices
        ranks = (alpha - torch.arange(alpha, dtype=logits.dtype, device=logits.device)) / alpha
        weights = torch.zeros_like(logits).scatter_(1, places, ranks.expand_as(places))
        centres, smallest, shape, scale = (part.to(logits) for part in state)
        moved = (torch.cdist(logits, centres) + SHIFT - smallest).clamp_min(0)
        # How likely it is that no image of a class is as far from its centre, float64[N, C].
        outside = -torch.expm1(-((moved / scale) ** shape))
        cut = logits * outside * weights
        kept_mass = (logits - cut).logsumexp(dim=1)
        return kept_mass - torch.logaddexp(kept_mass, cut.sum(dim=1))


def _weibull(values: Tensor) -> tuple[Tensor, Tensor]:
    """Shape and scale of the most likely Weibull distribution of float64[M] > 0, by halving the log of the shape."""
    # The slope of the likelihood by the shape k is sum x^k ln x / sum x^k - 1 / k - mean ln x, which rises with k.
    logs = (values / values.max()).log()  # at most 0: no power of them overflows
    low, high = (torch.tensor(end, dtype=values.dtype, device=values.device).log() for end in SHAPES)
    for _ in range(HALVINGS):
        shape = ((low + high) / 2).exp()
        slope = ((shape * logs).softmax(dim=0) * logs).sum() - 1 / shape - logs.mean()
        low, high = (low, (low + high) / 2) if slope > 0 else ((low + high) / 2, high)
    shape = ((low + high) / 2).exp()
    return shape, values.max() * (shape * logs).exp().mean().pow(1 / shape)
