"""Two signs that a stream scores otherwise than base images at home, as new classes do and another appearance does.

Shares that part: the share of new images by posteriors (EM, Saerens et al., 2002; of the reference where there is one,
else the learner's own) against that by scores (best bin, Garg et al., 2021; base scores keep their law). Where base
images look harder, the best bin takes them for new ones, and the posterior of a model tuned on neither half does not.
The own posterior of a learner that was tuned on base images parts from the best bin at home already: give a reference.

Confidence that moved, where there is a reference: its mean confidence among all names, on the stream against base
validation images (as DoC, Guillory et al., 2021). Where a model that was tuned on neither half is as sure of new images
as of base ones, their share does not move it, and the appearance does, to the harder or the easier.

Neither sign says why: on some kinds of data new classes move both at home, too (`bench/quoted/open_world.py`). Without
a sign nothing is proved: all of this may be wrong alike.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from openworld._types import checked
from openworld.estimators.open_world.engine.fitted import fit
from openworld.estimators.open_world.engine.names import NameRule
from openworld.estimators.open_world.engine.outputs import OpenWorldOutputs
from openworld.estimators.open_world.engine.shares import best_bin_share, posterior_share
from openworld.estimators.open_world.reference import learn_reference

LARGEST_GAP = 0.15
LARGEST_MOVE = 0.05
"""Between the shares, chosen on one data set, and of the confidence, chosen after a look at zero-shot on three; see
`bench/open_world_without_labels.py`.
"""
FEW = 1.5  # over the root of the smaller number of images: the best bin's share is that uncertain below 100 of them
SURE = 2.0  # standard errors of the two means that a move of the confidence must exceed


@dataclass(frozen=True)
class TwoShares:
    """Two shares of new images, and how far the reference's confidence moved.

    by_posterior, by_best_bin: shares in [0, 1]. posterior_of: "reference" or "own", whose posterior it is.
    confidence_moved: mean confidence of the reference on the stream minus that on validation images; None without one.
    confidence_error: standard error of that. largest_gap: how far the shares may be apart with so many images.
    """

    by_posterior: float
    by_best_bin: float
    posterior_of: str
    confidence_moved: float | None = None
    confidence_error: float | None = None
    largest_gap: float = LARGEST_GAP

    @property
    def gap(self) -> float:
        """How far the two shares are apart."""
        return abs(self.by_posterior - self.by_best_bin)

    @property
    def signs(self) -> tuple[str, ...]:
        """What the alarm is about, out of "shares" and "confidence"."""
        moved = self.confidence_moved is not None and (
            abs(self.confidence_moved) > max(LARGEST_MOVE, SURE * self.confidence_error)
        )
        return ("shares",) * (self.gap > self.largest_gap) + ("confidence",) * moved

    @property
    def alarm(self) -> bool:
        """Whether there is a sign."""
        return bool(self.signs)


@checked
def two_shares(validation: OpenWorldOutputs, stream: OpenWorldOutputs) -> TwoShares:
    """Estimate the share of new images by both ways, and how far the reference's confidence moved.

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
    shares = 1 - posterior_share(mass), 1 - best_bin_share(validation.scores, stream.scores)
    largest = max(LARGEST_GAP, FEW / sqrt(min(validation.n, stream.n)))
    if not of_reference:
        return TwoShares(*shares, "own", largest_gap=largest)
    confident = [rule.right(outputs.reference) for outputs in (stream, validation)]
    moved = float(confident[0].mean() - confident[1].mean())
    error = sqrt(sum(np.var(part) / len(part) for part in confident))
    return TwoShares(*shares, "reference", moved, error, largest)


class _Shares:
    name, needs = "two_shares", ("labels", "logits")
