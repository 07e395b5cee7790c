"""A stream whose truth is known, and a person who answers by it."""

from dataclasses import dataclass

import numpy as np
import pytest

from openworld.core.errors import OpenworldError
from openworld.labels import LabelAnswers, LabelPlan, ScoredStream, label_answers, scored_stream
from openworld.metrics import SoftOpenworldAUC, soft_openworld_auc


@dataclass(frozen=True, eq=False)
class Truth:
    """scores float64[N]; what is base, and named right; names by which two models may agree."""

    scores: np.ndarray
    base: np.ndarray
    base_right: np.ndarray
    new_right: np.ndarray

    def answer(self, plan: LabelPlan) -> LabelAnswers:
        """The answers on the images of a plan, the better name being that of the right half."""
        chosen = plan.chosen
        named = self.base_right[chosen], self.new_right[chosen]
        return label_answers(self.base[chosen], *named, named[0] | named[1])

    @property
    def whole(self) -> SoftOpenworldAUC:
        """The numbers of all images."""
        return soft_openworld_auc(
            self.scores, self.base_right, self.new_right, self.base, right=self.base_right | self.new_right
        )

    @property
    def stream(self) -> ScoredStream:
        """Proxies that know the laws that the truth was drawn from."""
        base = 1 / (1 + np.exp(-1.5 * self.scores))
        return scored_stream(self.scores, 0.8 * base, 0.6 * (1 - base), base, right=0.8 * base + 0.6 * (1 - base))


def simulated(seed: int = 0, size: int = 400, share: float = 0.5) -> Truth:
    """A middling detector and middling names."""
    rng = np.random.default_rng(seed)
    base = rng.random(size) < share
    scores = (rng.normal(0, 1, size) + np.where(base, 0.75, -0.75)).round(2)
    right = rng.random(size)
    return Truth(scores, base, base & (right < 0.8), ~base & (right < 0.6))


def refused(words, call, *given, **named):
    """Check that a call is refused in words that a pattern finds."""
    with pytest.raises(OpenworldError, match=words):
        call(*given, **named)
