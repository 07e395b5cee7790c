"""Source scores cut by a threshold, and how a target reads against it: what ATC and COTT have in common."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from openworld.estimators.engine.bootstrap import below_threshold
from openworld.estimators.engine.fitted import RawEstimate, finite
from openworld.estimators.engine.threshold import share_below, threshold, threshold_warnings


@dataclass(frozen=True, eq=False)
class Cut:
    """scores: float[n] of the source. wrong: bool[n], what is named wrong. rule: of the threshold. value: of it."""

    scores: np.ndarray
    wrong: np.ndarray
    rule: str
    value: float

    @classmethod
    def between(cls, scores: np.ndarray, wrong: np.ndarray, rule: str) -> "Cut":
        """Return the cut with the threshold that the rule finds."""
        return cls(scores, wrong, rule, threshold(scores, int(wrong.sum()), rule))

    def read(self, target: np.ndarray, kept: str, warnings: tuple[str, ...] = (), **details) -> RawEstimate:
        """Target scores float[n_t] against the threshold; `kept`: what resamples do not find anew."""
        return RawEstimate(
            share_below(target, self.value),
            partial(below_threshold, self.scores, self.wrong, target, self.rule),
            f"source and target images, {kept} kept",
            {"threshold": finite(self.value)} | details,
            target,
            (*threshold_warnings(self.scores, int(self.wrong.sum()), self.value), *warnings),
        )
