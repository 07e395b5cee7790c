"""The share of new images by two ways whose premises differ; where they part, one of the premises is broken.

By posteriors (EM, Saerens et al., 2002): of the reference where there is one, else the learner's own. By scores (best
bin, Garg et al., 2021): base scores keep their law. In another appearance base scores fall and the best bin takes base
images for new ones, while the share by posteriors of a model that was tuned on neither half moves little. Shares that
agree prove nothing: both may be wrong alike.
"""

from dataclasses import dataclass

from openworld._types import checked
from openworld.estimators.open_world.engine.fitted import fit
from openworld.estimators.open_world.engine.names import NameRule
from openworld.estimators.open_world.engine.outputs import OpenWorldOutputs
from openworld.estimators.open_world.engine.shares import best_bin_share, posterior_share
from openworld.estimators.open_world.reference import learn_reference

LARGEST_GAP = 0.15
"""Between the two shares; chosen on one data set of the embedded world, in `bench/open_world_without_labels.py`."""


@dataclass(frozen=True)
class TwoShares:
    """by_posterior, by_best_bin: shares of new images. posterior_of: "reference" or "own", whose posterior it is."""

    by_posterior: float
    by_best_bin: float
    posterior_of: str

    @property
    def gap(self) -> float:
        """How far the two are apart."""
        return abs(self.by_posterior - self.by_best_bin)

    @property
    def alarm(self) -> bool:
        """Whether they part: then no estimate without labels is to be trusted."""
        return self.gap > LARGEST_GAP


@checked
def two_shares(validation: OpenWorldOutputs, stream: OpenWorldOutputs) -> TwoShares:
    """Estimate the share of new images by both ways.

    Args:
        validation: labelled images of base classes at home. stream: outputs of the same learner, without labels.
    Raises:
        OpenworldError: validation images that will not do, outputs without logits.

    >>> import numpy as np
    >>> logits = np.tile(4 * np.eye(4), (30, 1))
    >>> base = OpenWorldOutputs(logits=logits[logits[:, :2].any(axis=1)], n_base=2, labels=[0, 1] * 30)
    >>> found = two_shares(base, OpenWorldOutputs(logits=logits, n_base=2))
    >>> round(found.by_posterior, 3), found.by_best_bin, found.alarm
    (0.5, 0.5, False)
    """
    fit(_Shares, validation, lambda given: given)
    stream.require(("logits",), "the share by posteriors")
    of_reference = validation.reference is not None and stream.reference is not None
    rule = learn_reference(validation) if of_reference else NameRule.learned(validation, "calibrated")
    mass = rule.base(stream.reference if of_reference else stream.logits, stream.n_base)
    by_bins = best_bin_share(validation.scores, stream.scores)
    return TwoShares(1 - posterior_share(mass), 1 - by_bins, "reference" if of_reference else "own")


class _Shares:
    name, needs = "two_shares", ("labels", "logits")
