"""own: what the learner says of itself, calibrated on labelled base images.

The premise is that P(base), P(base and named right) and P(new and named right) are as the learner's calibrated softmax
says, in the stream as on validation images. A learner that was tuned on base images is often too sure of new ones.
"""

from dataclasses import dataclass
from typing import ClassVar

from openworld._errors import OpenworldError
from openworld._types import checked
from openworld.estimators.open_world.engine.estimate import OpenWorldEstimate
from openworld.estimators.open_world.engine.fitted import NUMBERS, FittedOpenWorld, fit, of_proxies
from openworld.estimators.open_world.engine.names import NameRule
from openworld.estimators.open_world.engine.outputs import OpenWorldOutputs
from openworld.estimators.open_world.engine.shares import at_share, posterior_share


@checked
@dataclass(frozen=True)
class OwnNames:
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

    prior: float = 0.5

    name: ClassVar[str] = "own"
    paper: ClassVar[str] = "Saerens et al., 2002"
    summary: ClassVar[str] = "calibrated softmax, share of new by EM"
    premise: ClassVar[str] = "the learner's calibrated probabilities hold in the stream, for new images too"
    needs: ClassVar[tuple[str, ...]] = ("labels", "logits")
    gives: ClassVar[tuple[str, ...]] = NUMBERS

    def __post_init__(self):
        if not 0 < self.prior < 1:
            raise OpenworldError(f"prior is {self.prior:g}, expected a share between 0 and 1.")

    def fit(self, validation: OpenWorldOutputs) -> FittedOpenWorld:
        """Fit T."""
        return fit(self, validation, lambda given: NameRule.learned(given, "calibrated"))

    def read(self, known: NameRule, stream: OpenWorldOutputs, new_share: float | None) -> OpenWorldEstimate:
        """Join calibrated probabilities of sides and of names."""
        mass = known.base(stream.logits, stream.n_base)
        share = posterior_share(mass, self.prior) if new_share is None else 1 - new_share
        base = at_share(mass, share)
        named = base * known.right(stream.base_logits), (1 - base) * known.right(stream.new_logits)
        return of_proxies(stream, *named, base, details={"temperature": known.temperature}, warnings=known.warnings)
