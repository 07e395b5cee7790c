"""own and thresholded: what the learner says of itself, calibrated on labelled base images.

The premise is that P(base), P(base and named right) and P(new and named right) are as the learner's calibrated softmax
says, in the stream as on validation images. A learner that was tuned on base images is often too sure of new ones.
Thresholded names count as right above a threshold (ATC) instead.
"""

from dataclasses import dataclass

from openworld.core.types import Fraction, checked
from openworld.estimators.engine.fitted import finite
from openworld.estimators.open_world.fitted import NUMBERS, OpenWorldEstimate, OpenWorldEstimator, of_proxies
from openworld.estimators.open_world.outputs import OpenWorldOutputs
from openworld.estimators.open_world.posteriors import NameRule, at_share, posterior_share


@checked
@dataclass(frozen=True)
class OwnNames(OpenWorldEstimator):
    """z = base mass of softmax(L / T), moved to the share of EM; a = z max softmax(L_base / T); b with new names alike.

    T is fitted on base validation images among base names.

    Args:
        prior: share of base images for which the base mass is a probability, in (0, 1).

    >>> import numpy as np
    >>> logits = np.tile(4 * np.eye(4), (30, 1))  # 4 of 4 names, so sure that nothing is left open
    >>> base = OpenWorldOutputs(logits=logits[logits[:, :2].any(axis=1)], n_base=2, labels=[0, 1] * 30)
    >>> round(OwnNames().fit(base).estimate(OpenWorldOutputs(logits=logits, n_base=2)).new_share, 3)
    0.5
    """

    prior: Fraction = 0.5

    name, paper, summary = "own", "Saerens et al., 2002", "calibrated softmax, share of new by EM"
    premise = "the learner's calibrated probabilities hold in the stream, for new images too"
    needs, gives = ("labels", "logits"), NUMBERS

    def learn(self, validation: OpenWorldOutputs) -> NameRule:
        """Fit T."""
        return NameRule.learned(validation, "calibrated")

    def read(self, known: NameRule, stream: OpenWorldOutputs, new_share: float | None) -> OpenWorldEstimate:
        """Join calibrated probabilities of sides and of names."""
        mass = known.base(stream.array("logits"), stream.base_names)
        share = posterior_share(mass, self.prior) if new_share is None else 1 - new_share
        base = at_share(mass, share)
        rights = base * known.right(stream.array("base_logits")), (1 - base) * known.right(stream.array("new_logits"))
        return of_proxies(stream, *rights, base, details={"temperature": known.temperature}, warnings=known.warnings)


@checked
@dataclass(frozen=True)
class Thresholded(OpenWorldEstimator):
    """z = base mass of softmax(L / T); a = z 1[max softmax(L_base / T) >= t]; b = (1 - z) of new alike.

    T and t are fitted on base validation images among base names, t so that as many lie below it as are named wrong.
    The share of new images is the mean of 1 - z, unless `new_share` is given.

    >>> import numpy as np
    >>> logits = np.tile(4 * np.eye(4), (30, 1))
    >>> base = OpenWorldOutputs(logits=logits[logits[:, :2].any(axis=1)], n_base=2, labels=[0, 1] * 30)
    >>> Thresholded().fit(base).estimate(OpenWorldOutputs(logits=logits, n_base=2)).base_accuracy  # none below t
    1.0
    """

    name, paper, summary = "thresholded", "Garg et al., 2022", "names right above a threshold (ATC)"
    premise = "right names are as many as confidences above the threshold, for new images too"
    needs, gives = ("labels", "logits"), NUMBERS

    def learn(self, validation: OpenWorldOutputs) -> NameRule:
        """Fit T and the threshold."""
        return NameRule.learned(validation, "thresholded")

    def read(self, known: NameRule, stream: OpenWorldOutputs, new_share: float | None) -> OpenWorldEstimate:
        """Join the base mass and the thresholded names."""
        base = known.base(stream.array("logits"), stream.base_names)
        base = base if new_share is None else at_share(base, 1 - new_share)
        rights = base * known.right(stream.array("base_logits")), (1 - base) * known.right(stream.array("new_logits"))
        details = {"temperature": known.temperature, "threshold": finite(known.least)}
        return of_proxies(stream, *rights, base, details=details, warnings=known.warnings)
