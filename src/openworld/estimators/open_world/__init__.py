"""Open-world quality without labels: OpenworldAUC and its parts on a stream of which nobody knows what is new.

Scores and probabilities alone identify nothing. Two truths of the same stream have OpenworldAUC of 1 and of 0, and
since nothing of them is seen, every estimate is the same for both:

>>> from openworld.metrics import openworld_auc
>>> scores, named_right, named_wrong = [0.9, 0.8, 0.2, 0.1], [1, 1], [0, 0]
>>> openworld_auc(scores[:2], named_right, scores[2:], named_right).value  # the first two are base, all named right
1.0
>>> openworld_auc(scores[2:], named_wrong, scores[:2], named_wrong).value  # the last two are base, all named wrong
0.0

Each estimator rests on a premise, which it names:

    validation = OpenWorldOutputs(...)                     labelled images of base classes, at home
    fitted = PositiveUnlabelled().fit(validation)
    fitted.estimate(stream, new_share=None)                an `OpenWorldEstimate`: OpenworldAUC, its parts, proxies
    two_shares(validation, stream).signs                   whether images score otherwise than base images at home
    stream_bounds(validation, stream)                      what held on other kinds of data: bounds, and no number

An estimator is a frozen dataclass of its settings with `name`, `paper`, `summary`, `premise`, `needs` and `gives`. It
learns in `fit` and is written as `read(known, stream, new_share)`. There are no intervals: what a bootstrap would show
is not what an estimate without labels is wrong by. They are methods of the field, to be compared where labels are
known: no rule kept them near the truth on kinds of data that had not chosen it, and `openworld estimate` tells none.
"""

from openworld.core.plugins import Plugins
from openworld.estimators.open_world.bounds import (
    BOUND_MARGIN,
    LARGEST_GAP,
    LARGEST_MOVE,
    SHARE_MARGIN,
    StreamBounds,
    TwoShares,
    stream_bounds,
    two_shares,
)
from openworld.estimators.open_world.fitted import (
    NUMBERS,
    FittedOpenWorld,
    OpenWorldEstimate,
    OpenWorldEstimator,
    true_numbers,
)
from openworld.estimators.open_world.mixture import Hybrid, Mixture
from openworld.estimators.open_world.outputs import OpenWorldOutputs
from openworld.estimators.open_world.own import OwnNames, Thresholded
from openworld.estimators.open_world.positive_unlabelled import PositiveUnlabelled
from openworld.estimators.open_world.reference import ThirdModel

OPEN_WORLD_ESTIMATORS: dict[str, type[OpenWorldEstimator]] = {
    estimator.name: estimator for estimator in (OwnNames, Thresholded, Mixture, Hybrid, ThirdModel, PositiveUnlabelled)
}
"""Name -> class of every estimator of open-world quality."""

PLUGINS = Plugins(
    "open_world_estimator", ("name", "paper", "summary", "premise", "needs", "gives"), lambda: OPEN_WORLD_ESTIMATORS
)
find_open_world_estimator = PLUGINS.find

__all__ = [
    "BOUND_MARGIN",
    "LARGEST_GAP",
    "LARGEST_MOVE",
    "NUMBERS",
    "OPEN_WORLD_ESTIMATORS",
    "FittedOpenWorld",
    "Hybrid",
    "Mixture",
    "OpenWorldEstimate",
    "OpenWorldEstimator",
    "OpenWorldOutputs",
    "OwnNames",
    "PositiveUnlabelled",
    "SHARE_MARGIN",
    "StreamBounds",
    "ThirdModel",
    "Thresholded",
    "TwoShares",
    "find_open_world_estimator",
    "stream_bounds",
    "true_numbers",
    "two_shares",
]
