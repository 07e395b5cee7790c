"""ATC: predictions below a confidence threshold are wrong, so many as are wrong on the source (Garg et al., 2022).

The released script (saurabhgarg1996/ATC_code @ 6f1e336) fits a temperature and does not apply it; here it is applied
unless `calibrate` is False. Entropies are natural, which changes the threshold and never the estimate.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from openworld.core.types import checked
from openworld.estimators.engine.fitted import Estimator, FittedEstimator, RawEstimate, SourceSummary, look_at
from openworld.estimators.engine.outputs import Outputs
from openworld.estimators.engine.temperature import confidences_of, negative_entropies_of
from openworld.estimators.engine.threshold import Cut, Rule


@dataclass(frozen=True)
class _Thresholded(Estimator):
    """An estimator with a threshold on `scores_of(outputs, temperature)`, its sample scores."""

    rule: Rule = "midpoint"
    calibrate: bool = True
    scores_of: ClassVar[Callable[..., Any]]

    def fit(self, source: Outputs) -> FittedEstimator:
        """Fit the temperature and the threshold."""
        known = look_at(source, self, self.calibrate)
        cut = Cut.between(self.scores_of(source, known.temperature), source.wrong, self.rule)
        return FittedEstimator(self, known, cut)

    def read(self, known: SourceSummary, state: Cut, target: Outputs) -> RawEstimate:
        """Hold the target's scores against the threshold."""
        return state.read(self.scores_of(target, known.temperature), "T")


@checked
@dataclass(frozen=True)
class ATCMaxConfidence(_Thresholded):
    """error = share of target images whose largest probability lies below the threshold of the source.

    Args:
        rule: "midpoint" or "reference", of the threshold.
        calibrate: fit T on the source; False: T = 1.

    >>> source = Outputs([[1.0, 0.0], [2.0, 0.0], [4.0, 0.0]], labels=[1, 0, 0])
    >>> ATCMaxConfidence().fit(source).estimate(Outputs([[1.1, 0.0], [3.0, 0.0]])).error  # cut between gaps 1 and 2
    0.5
    """

    name, paper, summary = "ATC-MC", "Garg et al., 2022", "share of confidences above a threshold"
    needs = ("labels",)

    scores_of = staticmethod(confidences_of)


@checked
@dataclass(frozen=True)
class ATCNegativeEntropy(_Thresholded):
    """error = share of target images whose negative entropy lies below the threshold of the source.

    Args:
        rule: "midpoint" or "reference", of the threshold.
        calibrate: fit T on the source; False: T = 1.

    >>> source = Outputs([[1.0, 0.0], [2.0, 0.0], [4.0, 0.0]], labels=[1, 0, 0])
    >>> ATCNegativeEntropy().fit(source).estimate(Outputs([[1.1, 0.0], [3.0, 0.0]])).error  # as for two classes ATC-MC
    0.5
    """

    name, paper, summary = "ATC-NE", "Garg et al., 2022", "share of negative entropies above a threshold"
    needs = ("labels",)

    scores_of = staticmethod(negative_entropies_of)
