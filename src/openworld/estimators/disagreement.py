"""GDE: two models of one recipe disagree as often as one of them is wrong (Jiang et al., 2022).

It is too low where the models share their mistakes, and too high where the partner is the weaker one.
"""

from dataclasses import dataclass

import numpy as np

from openworld.core.errors import OpenworldError
from openworld.core.types import Count, checked
from openworld.estimators.engine.fitted import Estimator, FittedEstimator, RawEstimate, SourceSummary, means
from openworld.estimators.engine.outputs import Outputs


@checked
@dataclass(frozen=True)
class GDE(Estimator):
    """error = share of target images that the judged model and its partner name differently.

    Args:
        partner: which of the partners, from 0: a model trained like the judged one with another seed, such as the
            next seed at the same epoch. None: the mean over all partners.
    Labels of the source are not needed.

    >>> target = Outputs([[1.0, 0.0], [0.0, 1.0]], partners=([[2.0, 0.0], [3.0, 0.0]],))
    >>> GDE().fit(target).estimate(target).error
    0.5
    """

    partner: Count | None = 0

    name, paper, summary = "GDE", "Jiang et al., 2022", "disagreement with a model of another seed"
    needs = ("partners",)

    @checked
    def fit(self, source: Outputs) -> FittedEstimator:
        """Nothing is learned."""
        return FittedEstimator(
            self, SourceSummary(source.n, source.classes, None if source.labels is None else source.mistakes)
        )

    def read(self, known: SourceSummary, state: None, target: Outputs) -> RawEstimate:
        """Sample scores: share of the partners that agree."""
        differ = np.mean([logits.argmax(axis=1) != target.predictions for logits in self._partners(target)], axis=0)
        return RawEstimate(
            float(differ.mean()),
            lambda resamples, generator: means(differ, resamples, generator),
            "target images",
            {"partners": len(self._partners(target))},
            1 - differ,
        )

    def _partners(self, target: Outputs) -> tuple[np.ndarray, ...]:
        if self.partner is None:
            return target.partners
        if self.partner >= len(target.partners):
            raise OpenworldError(f"partner is {self.partner}, but there are {len(target.partners)} (counted from 0).")
        return (target.partners[self.partner],)
