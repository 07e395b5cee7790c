"""What estimators are made of: what ours share, for writing yet another one (docs/plug-in-estimator.md).

A fitted estimator: `FittedEstimator`, `SourceSummary`, `RawEstimate`, and `look_at`, which checks the source and fits
its temperature. Of logits: `probabilities`, `confidences`, `negative_entropies`, `blocks` of rows. Thresholds: `Cut`.
Bootstrap: `means`.
"""

from openworld.estimators.engine.fitted import FittedEstimator, RawEstimate, SourceSummary, look_at, means
from openworld.estimators.engine.temperature import blocks, confidences, negative_entropies, probabilities
from openworld.estimators.engine.threshold import Cut

__all__ = [
    "Cut",
    "FittedEstimator",
    "SourceSummary",
    "RawEstimate",
    "blocks",
    "confidences",
    "look_at",
    "means",
    "negative_entropies",
    "probabilities",
]
