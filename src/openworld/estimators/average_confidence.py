"""AC: the mean confidence on the target is its accuracy, as for a calibrated model (Guo et al., 2017).

Under shift most models are over-confident, so that AC is mostly too high.
"""

from dataclasses import dataclass

import numpy as np

from openworld.core.types import checked
from openworld.estimators.engine.fitted import Estimator, FittedEstimator, RawEstimate, SourceSummary, look_at, means
from openworld.estimators.engine.outputs import Outputs
from openworld.estimators.engine.temperature import confidences_of, response


@checked
@dataclass(frozen=True)
class AC(Estimator):
    """error = 1 - mean_i max_c p_ic over the target, with p = softmax(z / T).

    Args:
        calibrate: fit T on the source (its labels are then needed); False: T = 1.

    >>> source = Outputs([[2.0, 0.0]] * 4, labels=[0, 0, 0, 1])  # calibrated by T, a gap of 2 means 3/4
    >>> round(AC().fit(source).estimate(Outputs([[2.0, 0.0], [0.0, 0.0]])).accuracy, 3)  # (3/4 + 1/2) / 2
    0.625
    """

    calibrate: bool = True

    name, paper, summary = "AC", "Guo et al., 2017", "mean confidence on the target"
    needs = ("labels",)

    def fit(self, source: Outputs) -> FittedEstimator:
        """Fit the temperature."""
        if not self.calibrate and source.labels is None:
            return FittedEstimator(self, SourceSummary(source.n, source.classes))
        return FittedEstimator(self, look_at(source, self, self.calibrate))

    def read(self, known: SourceSummary, state: None, target: Outputs) -> RawEstimate:
        """Sample scores: confidences."""
        scores = confidences_of(target, known.temperature)

        def replicates(resamples: int, generator: np.random.Generator) -> np.ndarray:
            moved = response(scores, target.logits, known.temperature) * known.pulls
            return 1 - means(scores, resamples, generator) - means(moved, resamples, generator)

        return RawEstimate(
            1 - float(scores.mean()),
            replicates,
            "target images, and source images for T to first order",
            sample_scores=scores,
        )
