"""What holds of a stream without a label: an interval of the share of new images, and an upper bound of OpenworldAUC.

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

from openworld._arrays import require_fraction
from openworld._types import checked
from openworld.estimators.open_world.engine.fitted import FEWEST_IMAGES
from openworld.estimators.open_world.engine.outputs import OpenWorldOutputs
from openworld.estimators.open_world.positive_unlabelled import PositiveUnlabelled
from openworld.estimators.open_world.two_shares import TwoShares, two_shares
from openworld.metrics import wilson_interval

SHARE_MARGIN = 0.32
BOUND_MARGIN = 0.17
"""As fractions; chosen by `bench/quoted/open_world.py`."""

BASE_ACCURACY = "base accuracy"
NO_ZERO_SHOT = "the streams lack logits of the zero-shot model that the learner was tuned from"


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
    validation: OpenWorldOutputs, stream: OpenWorldOutputs, new_share: float | None = None
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
    require_fraction(new_share=new_share)
    if stream.n < FEWEST_IMAGES:
        return StreamBounds(None, reason=f"{stream.n} images are too few; give {FEWEST_IMAGES - stream.n} more")
    both = validation, stream
    if any(one.logits is None or one.reference is None or one.reference_kind != "zero-shot" for one in both):
        return StreamBounds(None, reason=NO_ZERO_SHOT)

    shares = two_shares(validation, stream)
    ends = sorted((shares.by_posterior, shares.by_best_bin))
    interval = max(0.0, ends[0] - SHARE_MARGIN), min(1.0, ends[1] + SHARE_MARGIN)
    if "confidence" in shares.signs and shares.confidence_moved > 0:
        surer = f"zero-shot is {100 * shares.confidence_moved:.0f} points surer here than at home"
        return StreamBounds(
            None, "", interval, f"{surer}, so that these images may be easier, and nothing bounds it", shares
        )

    at_home = wilson_interval(float(validation.base_right.mean()), validation.n)[1]
    estimate = PositiveUnlabelled().fit(validation).estimate(stream, new_share).openworld_auc
    if estimate is None or estimate + BOUND_MARGIN >= at_home:
        return StreamBounds(at_home, BASE_ACCURACY, interval, shares=shares)
    return StreamBounds(estimate + BOUND_MARGIN, PositiveUnlabelled.name, interval, shares=shares)
