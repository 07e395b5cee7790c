"""RAP, the raw reference of FRAP's Table 3: neither calibrated nor fused; its probabilities stand in for the labels.

"Bridging Domain Expertise and Generalization for Performance Estimation" (FRAP), section 5.2, describes RAP as FRAP
"without temperature-scaling calibration". That it is unfused too is read off the paper's tables: a fused score with
tau = 1 would nearly equal ATC, as their columns of tau = 0.05 and of a random reference do, and RAP's does not.
"""

from dataclasses import dataclass, replace
from typing import Any

from openworld.core.types import checked
from openworld.estimators.engine.fitted import Estimator, FittedEstimator, RawEstimate, SourceSummary
from openworld.estimators.engine.outputs import Outputs
from openworld.estimators.engine.threshold import Rule
from openworld.estimators.frap import FRAP


@checked
@dataclass(frozen=True)
class RAP(Estimator):
    """FRAP with tau = 1 and p_f alone as the stand-in for the labels.

    Args:
        rule: "midpoint" or "reference", of the threshold; None: no threshold, error = 1 - mean score.
        calibrate: fit T on the source; False: T = 1.

    >>> source = Outputs([[9.0, 0.0], [9.0, 0.0]], labels=[0, 1], reference=[[0.9, 0.1], [0.1, 0.9]])
    >>> RAP(calibrate=False).fit(source).estimate(source).error  # the reference disagrees with the second prediction
    0.5
    """

    rule: Rule | None = "midpoint"
    calibrate: bool = True

    name, paper, summary = "RAP", "FRAP, Table 3", "agreement with the raw reference model, thresholded"
    needs = ("labels", "reference")

    def fit(self, source: Outputs) -> FittedEstimator:
        """Fit T and the scores of the source."""
        return replace(self._frap.fit(source), estimator=self)

    def read(self, known: SourceSummary, state: Any, target: Outputs) -> RawEstimate:
        """Sample scores: <p_b, p_f>."""
        return self._frap.read(known, state, target)

    @property
    def _frap(self) -> FRAP:
        return FRAP(tau=1.0, reference="foundation", rule=self.rule, calibrate=self.calibrate)
