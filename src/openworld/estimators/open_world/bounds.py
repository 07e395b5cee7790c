"""What holds of a stream without a label: signs that it scores otherwise than at home, and bounds.

Two signs that a stream scores otherwise than base images at home, as new classes do and another appearance does:

shares that part: the share of new images by posteriors (EM, Saerens et al., 2002; of the reference where there is one,
else the learner's own) against that by scores (best bin, Garg et al., 2021; base scores keep their law). Where base
images look harder, the best bin takes them for new ones, and the posterior of a model tuned on neither half does not.
The own posterior of a learner that was tuned on base images parts from the best bin at home already: give a reference.

confidence that moved, where there is a reference: its mean confidence among all names, on the stream against base
validation images (as DoC, Guillory et al., 2021). Where a model that was tuned on neither half is as sure of new images
as of base ones, their share does not move it, and the appearance does, to the harder or the easier.

Neither sign says why: on some kinds of data new classes move both at home, too (`bench/quoted/open_world.py`). Without
a sign nothing is proved: all of this may be wrong alike.

Bounds are an interval of the share of new images, and an upper bound of OpenworldAUC.

OpenworldAUC itself is not told. On six kinds of data (`bench/quoted/open_world.py`) no rule that stands back where a
sign speaks against the estimate kept it within 8 points on nine of ten streams of the kinds that had not chosen the
rule. What carries over to other kinds is looser, and needs the zero-shot model that the learner was tuned from:

share of new     between the two shares of `two_shares`, and `SHARE_MARGIN` more on either side
upper bound      the estimate of positive-unlabelled and `BOUND_MARGIN` more, which a harder stream stays below: there
                 quality falls by more than the estimate; at most the base accuracy at home, at its 95 % upper limit

A stream that is easier than the labelled images at home breaks the bound. Where zero-shot is surer than at home none is
given; where it is not, the stream may be easier all the same, and the bound says so. The margins were chosen on digits,
sounds and tables, the limit of zero-shot's confidence on drawings. Nothing bounds OpenworldAUC from below: the same
scores go with a value of 0.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from openworld.core.types import Fraction, checked
from openworld.estimators.open_world.fitted import FEWEST_IMAGES, require_validation
from openworld.estimators.open_world.outputs import OpenWorldOutputs
from openworld.estimators.open_world.positive_unlabelled import PositiveUnlabelled
from openworld.estimators.open_world.posteriors import NameRule, best_bin_share, posterior_share
from openworld.estimators.open_world.reference import learn_reference
from openworld.metrics import wilson_interval

SHARE_MARGIN = 0.32
BOUND_MARGIN = 0.17
"""As fractions; chosen by `bench/quoted/open_world.py`."""

LARGEST_GAP = 0.15
LARGEST_MOVE = 0.05
"""Between the shares, chosen on one data set, and of the confidence, chosen after a look at zero-shot on three; see
`bench/open_world_without_labels.py`.
"""
FEW = 1.5  # over the root of the smaller number of images: the best bin's share is that uncertain below 100 of them
SURE = 2.0  # standard errors of the two means that a move of the confidence must exceed

BASE_ACCURACY = "base accuracy"
NO_ZERO_SHOT = "the streams lack logits of the zero-shot model that the learner was tuned from"


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
        moved, least = abs(self.confidence_moved or 0.0), max(LARGEST_MOVE, SURE * (self.confidence_error or 0.0))
        speaking = {"shares": self.gap > self.largest_gap, "confidence": moved > least}
        return tuple(name for name, speaks in speaking.items() if speaks)

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
    require_validation(validation, "two_shares", ("labels", "logits"))
    stream.require(("logits",), "the share by posteriors")
    of_reference = validation.reference is not None and stream.reference is not None
    rule = learn_reference(validation) if of_reference else NameRule.learned(validation, "calibrated")
    mass = rule.base(stream.array("reference" if of_reference else "logits"), stream.base_names)
    shares = 1 - posterior_share(mass), 1 - best_bin_share(validation.array("scores"), stream.array("scores"))
    largest = max(LARGEST_GAP, FEW / sqrt(min(validation.n, stream.n)))
    if not of_reference:
        return TwoShares(*shares, "own", largest_gap=largest)
    confident = [rule.right(outputs.array("reference")) for outputs in (stream, validation)]
    moved = float(confident[0].mean() - confident[1].mean())
    error = sqrt(sum(np.var(part) / len(part) for part in confident))
    return TwoShares(*shares, "reference", moved, error, largest)


@dataclass(frozen=True)
class StreamBounds:
    """What holds of a stream, as fractions in [0, 1]; None where `reason` says why.

    openworld_auc: the upper bound. rests_on: "positive-unlabelled", or "base accuracy" of the validation images,
    whichever gave it. new_share: lower and upper end for the share of new images. shares: what that is made of.
    """

    openworld_auc: float | None
    rests_on: str = ""
    new_share: tuple[float, float] | None = None
    reason: str = ""
    shares: TwoShares | None = None


@checked
def stream_bounds(
    validation: OpenWorldOutputs, stream: OpenWorldOutputs, new_share: Fraction | None = None
) -> StreamBounds:
    """Return what holds of a stream.

    Args:
        validation: labelled images of base classes at home. stream: outputs of the same learner, without labels.
        new_share: the share of new images where it is known from outside, in (0, 1).
    Raises:
        OpenworldError: validation images that will not do, as the message says.

    >>> import numpy as np
    >>> logits = np.tile(4 * np.eye(4), (30, 1))  # four names, two of them base, each image as sure as can be
    >>> about = {"n_base": 2, "reference_kind": "zero-shot"}
    >>> stream = OpenWorldOutputs(logits=logits, reference=logits, **about)
    >>> base = stream.rows(stream.scores > stream.scores.mean())
    >>> home = OpenWorldOutputs(logits=base.logits, reference=base.logits, labels=[0, 1] * 30, **about)
    >>> found = stream_bounds(home, stream)
    >>> found.openworld_auc, [round(end, 3) for end in found.new_share]
    (1.0, [0.18, 0.82])
    """
    if stream.n < FEWEST_IMAGES:
        return StreamBounds(None, reason=f"{stream.n} images are too few; give {FEWEST_IMAGES - stream.n} more")
    both = validation, stream
    if any(one.logits is None or one.reference is None or one.reference_kind != "zero-shot" for one in both):
        return StreamBounds(None, reason=NO_ZERO_SHOT)

    shares = two_shares(validation, stream)
    ends = sorted((shares.by_posterior, shares.by_best_bin))
    interval = max(0.0, ends[0] - SHARE_MARGIN), min(1.0, ends[1] + SHARE_MARGIN)
    if "confidence" in shares.signs and (moved := shares.confidence_moved or 0.0) > 0:
        surer = f"zero-shot is {100 * moved:.0f} points surer here than at home"
        return StreamBounds(
            None, "", interval, f"{surer}, so that these images may be easier, and nothing bounds it", shares
        )

    at_home = wilson_interval(float(validation.array("base_right").mean()), validation.n)[1]
    estimate = PositiveUnlabelled().fit(validation).estimate(stream, new_share).openworld_auc
    if estimate is None or estimate + BOUND_MARGIN >= at_home:
        return StreamBounds(at_home, BASE_ACCURACY, interval, shares=shares)
    return StreamBounds(estimate + BOUND_MARGIN, PositiveUnlabelled.name, interval, shares=shares)
