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
    fitted.against_new_share(stream, (0.2, 0.5, 0.8))      the same as if the share of new images were these
    two_shares(validation, stream).alarm                   whether a premise is seen to be broken: then trust none
    made_up_streams(PositiveUnlabelled(), validation)      errors on streams made up of base classes

An estimator is a frozen dataclass of its settings with `name`, `paper`, `summary`, `premise`, `needs` and `gives`. It
learns in `fit` and is written as `read(known, stream, new_share)`. There are no intervals: what a bootstrap would show
is not what an estimate without labels is wrong by. Labels settle it.
"""

from openworld._plugins import Plugins
from openworld.estimators.open_world.engine.estimate import OpenWorldEstimate
from openworld.estimators.open_world.engine.fitted import NUMBERS, FittedOpenWorld, OpenWorldEstimator
from openworld.estimators.open_world.engine.outputs import OpenWorldOutputs
from openworld.estimators.open_world.hybrid import Hybrid
from openworld.estimators.open_world.made_up import CAUTION, MadeUpError, made_up_streams, true_numbers
from openworld.estimators.open_world.mixture import Mixture
from openworld.estimators.open_world.own import Own
from openworld.estimators.open_world.positive_unlabelled import PositiveUnlabelled
from openworld.estimators.open_world.reference import ThirdModel
from openworld.estimators.open_world.thresholded import Thresholded
from openworld.estimators.open_world.two_shares import LARGEST_GAP, LARGEST_MOVE, TwoShares, two_shares

OPEN_WORLD_ESTIMATORS: dict[str, type] = {
    estimator.name: estimator for estimator in (Own, Thresholded, Mixture, Hybrid, ThirdModel, PositiveUnlabelled)
}
"""Name -> class of every estimator of open-world quality."""

PLUGINS = Plugins(
    "open_world_estimator", ("name", "paper", "summary", "premise", "needs", "gives"), lambda: OPEN_WORLD_ESTIMATORS
)
find_open_world_estimator = PLUGINS.find

__all__ = [
    "CAUTION",
    "LARGEST_GAP",
    "LARGEST_MOVE",
    "NUMBERS",
    "OPEN_WORLD_ESTIMATORS",
    "FittedOpenWorld",
    "Hybrid",
    "MadeUpError",
    "Mixture",
    "OpenWorldEstimate",
    "OpenWorldEstimator",
    "OpenWorldOutputs",
    "Own",
    "PositiveUnlabelled",
    "ThirdModel",
    "Thresholded",
    "TwoShares",
    "find_open_world_estimator",
    "made_up_streams",
    "true_numbers",
    "two_shares",
]
