"""thresholded: the learner's own base mass, with names that count as right above a threshold (ATC)."""

from dataclasses import dataclass
from typing import ClassVar

from openworld._types import checked
from openworld.estimators.engine.fitted import finite
from openworld.estimators.open_world.engine.estimate import OpenWorldEstimate
from openworld.estimators.open_world.engine.fitted import NUMBERS, FittedOpenWorld, fit, of_proxies
from openworld.estimators.open_world.engine.names import NameRule
from openworld.estimators.open_world.engine.outputs import OpenWorldOutputs
from openworld.estimators.open_world.engine.shares import at_share


@checked
@dataclass(frozen=True)
class Thresholded:
    """z = base mass of softmax(L / T); a = z 1[max softmax(L_base / T) >= t]; b = (1 - z) of new alike.

    T and t are fitted on base validation images among base names, t so that as many lie below it as are named wrong.
    The share of new images is the mean of 1 - z, unless `new_share` is given.

    >>> import numpy as np
    >>> logits = np.tile(4 * np.eye(4), (30, 1))
    >>> base = OpenWorldOutputs(logits=logits[logits[:, :2].any(axis=1)], n_base=2, labels=[0, 1] * 30)
    >>> Thresholded().fit(base).estimate(OpenWorldOutputs(logits=logits, n_base=2)).base_accuracy  # none below t
    1.0
    """

    name: ClassVar[str] = "thresholded"
    paper: ClassVar[str] = "Garg et al., 2022"
    summary: ClassVar[str] = "names right above a threshold (ATC)"
    premise: ClassVar[str] = "right names are as many as confidences above the threshold, for new images too"
    needs: ClassVar[tuple[str, ...]] = ("labels", "logits")
    gives: ClassVar[tuple[str, ...]] = NUMBERS

    def fit(self, validation: OpenWorldOutputs) -> FittedOpenWorld:
        """Fit T and the threshold."""
        return fit(self, validation, lambda given: NameRule.learned(given, "thresholded"))

    def read(self, known: NameRule, stream: OpenWorldOutputs, new_share: float | None) -> OpenWorldEstimate:
        """Join the base mass and the thresholded names."""
        base = known.base(stream.logits, stream.n_base)
        base = base if new_share is None else at_share(base, 1 - new_share)
        named = base * known.right(stream.base_logits), (1 - base) * known.right(stream.new_logits)
        details = {"temperature": known.temperature, "threshold": finite(known.least)}
        return of_proxies(stream, *named, base, details=details, warnings=known.warnings)
