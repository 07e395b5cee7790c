"""What estimators are made of: what ours share, for writing yet another one (docs/plug-in-estimator.md).

A fitted estimator: `Fitted`, `Known`, `Reading`, and `look_at`, which checks the source and fits its temperature. Of
logits: `probabilities`, `confidences`, `negative_entropies`, `blocks` of rows. Thresholds: `Cut`. Bootstrap: `means`.
"""

from openworld.estimators._bootstrap import means
from openworld.estimators._cut import Cut
from openworld.estimators._fitted import Fitted, Known, Reading, look_at
from openworld.estimators._temperature import blocks, confidences, negative_entropies, probabilities

__all__ = [
    "Cut",
    "Fitted",
    "Known",
    "Reading",
    "blocks",
    "confidences",
    "look_at",
    "means",
    "negative_entropies",
    "probabilities",
]
