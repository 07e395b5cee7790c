"""The score by which a tuned prompt learner itself tells images of its classes from all others.

LoCoOp and GalLoP add the surest patch to the surest class (GL-MCM with their tuned names), GMoP asks its detectors, and
all others take the log of their largest softmax; `FittedLearner.own_score` computes it.
"""

from dataclasses import dataclass

from torch import Tensor

from openworld.core.types import checked
from openworld.detectors.plugin_api import Activations, DetectorCard, Fittable

OWN_SCORE = "own score"


@checked
@dataclass(frozen=True)
class OwnScore(Fittable):
    """The detection score of the tuned learner that answers, as it is.

    >>> import torch
    >>> OwnScore().fit().score(Activations(own=torch.tensor([0.5, -2.0]))).tolist()
    [0.5, -2.0]
    """

    card = DetectorCard(OWN_SCORE, "the learner's", "the learner's own detection score", ("learner",))

    def read(self, state: None, activations: Activations) -> Tensor:
        return activations.tensor("own")
