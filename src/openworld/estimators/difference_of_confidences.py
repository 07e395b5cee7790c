"""DoC: the error moves as much as the mean confidence does (Guillory et al., 2021; DOC-Feat in FRAP's tables).

It is AC, corrected by the gap of confidence and accuracy on the source.
"""

from dataclasses import dataclass

import numpy as np

from openworld.core.types import checked
from openworld.estimators.engine.fitted import Estimator, FittedEstimator, RawEstimate, SourceSummary, look_at, means
from openworld.estimators.engine.outputs import Outputs
from openworld.estimators.engine.temperature import confidences_of, response


@checked
@dataclass(frozen=True)
class DoC(Estimator):
    """error = source error + mean confidence on the source - mean confidence on the target; may leave [0, 1].

    Args:
        calibrate: fit T on the source; False: T = 1.

    >>> source = Outputs([[2.0, 0.0]] * 4, labels=[0, 0, 0, 1])  # calibrated by T, a gap of 2 means 3/4
    >>> round(DoC().fit(source).estimate(Outputs([[2.0, 0.0], [0.0, 0.0]])).error, 3)  # 1/4 + 3/4 - (3/4 + 1/2) / 2
    0.375
    """

    calibrate: bool = True

    name, paper, summary = "DoC", "Guillory et al., 2021", "source error and the drop of mean confidence"
    needs = ("labels",)

    def fit(self, source: Outputs) -> FittedEstimator:
        """Fit the temperature; look at the confidences of the source."""
        known = look_at(source, self, self.calibrate)
        scores = confidences_of(source, known.temperature)
        # their sum with whether an image is named wrong, and how its mean responds to ln T
        sums = scores + source.wrong
        return FittedEstimator(self, known, (sums, response(scores, source.logits, known.temperature)))

    def read(self, known: SourceSummary, state: tuple[np.ndarray, float], target: Outputs) -> RawEstimate:
        """Sample scores: confidences."""
        sums, responding = state
        scores = confidences_of(target, known.temperature)

        def replicates(resamples: int, generator: np.random.Generator) -> np.ndarray:
            gain = responding - response(scores, target.logits, known.temperature)
            return means(sums + gain * known.pulls, resamples, generator) - means(scores, resamples, generator)

        return RawEstimate(
            float(sums.mean() - scores.mean()),
            replicates,
            "source and target images, T to first order",
            {"source_confidence": float(sums.mean()) - known.error, "target_confidence": float(scores.mean())},
            scores,
        )
