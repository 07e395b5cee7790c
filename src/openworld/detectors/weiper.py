"""WeiPer+KLD: how far the histograms of features and of perturbed logits are from the training images' (Granz et al.,
2024, "WeiPer: OOD Detection using Weight Perturbations of Class Projections")."""

from dataclasses import dataclass
from typing import Annotated

import torch
from torch import Tensor
from torch.nn.functional import conv1d, normalize, pad

from openworld.core.errors import present
from openworld.core.types import AboveZero, NotNegative, Positive, Range, checked
from openworld.detectors.plugin_api import Activations, Bank, DetectorCard, Fittable, Head, Rows

FEATURE_FLOOR, LOGIT_FLOOR = 0.01, 0.025  # added to each bin of a histogram, as in the authors' code
LARGEST = 10_000  # repeats, bins, windows
IMAGES = 64  # of which perturbed logits are alive at a time


@dataclass(frozen=True, eq=False)
class Histogram:
    """Mean histogram of training images. low, high: ends of the bins. mean: float[bins], adds up to 1."""

    low: float
    high: float
    mean: Tensor

    def divergence(self, values: Tensor, window: int, floor: float) -> Tensor:
        """KL(training || image) + KL(image || training), float[N], the image's smoothed over `window` bins."""
        p = self.mean.to(values) + floor
        histograms = _histograms(values, self.low, self.high, len(self.mean))
        # The outer bins are continued; as torch pads "same", one more at the end.
        widened = pad(histograms[:, None], ((window - 1) // 2, window // 2), mode="replicate")
        q = conv1d(widened, histograms.new_full((1, 1, window), 1 / window))[:, 0] + floor
        p, q = p / p.sum(), q / q.sum(dim=1, keepdim=True)
        return ((p - q) * (p.log() - q.log())).sum(dim=1)


Learned = tuple[Tensor, Histogram, Histogram]
"""The perturbed heads float[r C, D], and histograms of features and of logits of training images."""


@checked
@dataclass(frozen=True)
class WeiPer(Fittable):
    """-(KL of features + logit_share KL of perturbed logits - confidence_share MSP); KL symmetric, of histograms.

    The head's rows w_c are perturbed `repeats` times to w_c + distance |w_c| e, e a random unit vector; MSP is the mean
    over repeats of the largest softmax.

    Args:
        repeats: r. distance: delta, > 0. bins: of a histogram, between the least and the largest training value.
        feature_window, logit_window: bins over which an image's histograms are averaged: s_1, s_2.
        logit_share, confidence_share: lambda_1, lambda_2, not negative.
        bank: how many training images make the histograms, drawn with `seed`, which perturbs the head too.

    Defaults are those of the released configuration, which searches all of them on validation images. The perturbed
    heads take r C D numbers: 0.8 GB for 1,000 classes and 2,048 features.

    >>> features = torch.rand(50, 8, generator=torch.Generator().manual_seed(0))
    >>> fitted = WeiPer(repeats=2, bins=5).fit(features, head=Head(torch.eye(3, 8)))
    >>> known, strange = fitted.score(torch.stack([features[0], 9 * features[0]])).tolist()
    >>> known > strange
    True
    """

    repeats: Annotated[int, Range(1, LARGEST)] = 100
    distance: AboveZero = 2.1
    bins: Annotated[int, Range(2, LARGEST)] = 100
    feature_window: Annotated[int, Range(1, LARGEST)] = 4
    logit_window: Annotated[int, Range(1, LARGEST)] = 15
    logit_share: NotNegative = 2.5
    confidence_share: NotNegative = 0.1
    bank: Positive = 10_000
    seed: int = 0

    card = DetectorCard(
        "WeiPer", "Granz et al., 2024", "histograms of features and logits", ("features", "head", "bank")
    )

    @property
    def gathers(self) -> tuple:
        return (Bank(self.bank, seed=self.seed),)

    def learn(self, head: Head, rows: Rows) -> Learned:
        """Perturb the head, and take histograms of features float[N, D] and of perturbed logits."""
        draws = torch.Generator().manual_seed(self.seed)
        noise = torch.randn(self.repeats, *head.weight.shape, generator=draws).to(head.weight)
        lengths = head.weight.norm(dim=1, keepdim=True)
        weight = (head.weight + self.distance * lengths * normalize(noise, dim=2)).flatten(0, 1)
        weight = weight.to(rows.features)
        logits = [self._logits(weight, head, part) for part in rows.features.split(IMAGES)]
        return weight, self._histogram([rows.features]), self._histogram(logits)

    def _logits(self, weight: Tensor, head: Head, features: Tensor) -> Tensor:
        logits = features @ weight.to(features).mT
        return logits if head.bias is None else logits + head.bias.to(features).repeat(self.repeats)

    def _histogram(self, parts: list[Tensor]) -> Histogram:
        """That of training images, each as heavy as any other; the range reaches a little beyond their values."""
        images = sum(map(len, parts))
        low, high = min(float(part.min()) for part in parts), max(float(part.max()) for part in parts)
        gap = (high - low) / images
        low, high = low - gap, high + gap
        shares = (_histograms(part, low, high, self.bins).sum(dim=0) for part in parts)
        return Histogram(low, high, sum(shares, start=parts[0].new_zeros(self.bins)) / images)

    def read(self, state: Learned, activations: Activations) -> Tensor:
        parts, head = activations.tensor("features").split(IMAGES), present(activations.head, "the head")
        return torch.cat([self._read(state, head, part) for part in parts])

    def _read(self, state: Learned, head: Head, features: Tensor) -> Tensor:
        weight, of_features, of_logits = state
        logits = self._logits(weight, head, features)
        sure = logits.unflatten(1, (self.repeats, -1)).softmax(dim=2).amax(dim=2).mean(dim=1)
        apart = of_features.divergence(features, self.feature_window, FEATURE_FLOOR)
        logits_apart = of_logits.divergence(logits, self.logit_window, LOGIT_FLOOR)
        return self.confidence_share * sure - apart - self.logit_share * logits_apart


def _histograms(values: Tensor, low: float, high: float, bins: int) -> Tensor:
    """Share of each row's values in each bin, float[N, bins]; values beyond the ends are in none."""
    if not high > low:
        return values.new_full((len(values), bins), 1 / bins)
    places = ((values - low) / (high - low) * bins).floor().clamp(-1, bins).long() + 1
    counts = values.new_zeros(len(values), bins + 2).scatter_add_(1, places, torch.ones_like(values))
    return counts[:, 1:-1] / values.shape[1]
