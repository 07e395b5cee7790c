"""COTT: COT's loss of each image against a threshold, instead of its mean (Lu et al., 2023).

An image's score is the probability of the label that the transport gives it, 1 - its cost; the threshold is such that
as many source images lie below it as are named wrong. The public code (luyuzhe111/COT @ 392c0ff) scores by minus the
L1 distance, -2 x the cost.
"""

from dataclasses import dataclass

import numpy as np

from openworld.core.types import checked
from openworld.estimators.engine.fitted import Estimator, FittedEstimator, RawEstimate, SourceSummary, look_at
from openworld.estimators.engine.outputs import Outputs
from openworld.estimators.engine.threshold import Cut, Rule
from openworld.estimators.optimal_transport import (
    Marginal,
    details_and_warnings,
    marginal_shares,
    plan_of,
    require_marginal,
)


@checked
@dataclass(frozen=True)
class COTT(Estimator):
    """error = share of target images whose given label is less probable than the threshold of the source.

    Args:
        marginal: of the target: "source_labels", "uniform", or C shares, as for COT. On the source every class is given
            exactly as often as it is true.
        rule: "midpoint" or "reference", of the threshold.
        calibrate: fit T on the source; False: T = 1.
    What chance adds where there are few images a class is COT's, and said.
    Where images have equal probabilities, the best labels are not unique: ties go to the lowest class and the first
    image, and the error may depend on it.

    >>> source = Outputs(np.log([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.3, 0.7]]), labels=[0, 1, 1, 1])
    >>> target = Outputs(np.log([[0.9, 0.1], [0.45, 0.55], [0.1, 0.9], [0.8, 0.2]]))
    >>> COTT(calibrate=False).fit(source).estimate(target).error  # source .9 .4 .8 .7: cut at .55; target .9 .55 .9 .2
    0.25
    """

    marginal: Marginal = "source_labels"
    rule: Rule = "midpoint"
    calibrate: bool = True

    name, paper, summary = "COTT", "Lu et al., 2023", "share of images that COT labels at little loss"
    needs = ("labels",)

    def __post_init__(self):
        require_marginal(self.marginal)

    def fit(self, source: Outputs) -> FittedEstimator:
        """Fit the temperature, label the source in its own shares, and find the threshold."""
        known, labels = look_at(source, self, self.calibrate), source.array("labels")
        plan = plan_of(source, known.temperature, marginal_shares("source_labels", labels, known.classes))
        cut = Cut.between(plan.given, source.wrong, self.rule)
        return FittedEstimator(self, known, (cut, marginal_shares(self.marginal, labels, known.classes)))

    def read(self, known: SourceSummary, state: tuple[Cut, np.ndarray], target: Outputs) -> RawEstimate:
        """Sample scores: probabilities of the labels that the images are given."""
        cut, shares = state
        plan = plan_of(target, known.temperature, shares)
        details, warnings = details_and_warnings(plan, target, known, self.marginal)
        return cut.read(plan.given, "T and the labels given", warnings, **details)
