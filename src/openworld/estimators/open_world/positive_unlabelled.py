"""positive-unlabelled: new images are the stream minus the base images in it, names of new ones by zero-shot.

Base validation images are positives, the stream is unlabelled. For any f of an image, as in learning from positive and
unlabelled data (du Plessis et al., 2015),  E_new[f] = ( E_stream[f] - p E_base[f] ) / (1 - p),  so that, with right
base images i of the validation set and q = P(the new name is right),

    OpenworldAUC = E_base[ right_i E_new[ q_j 1[s_i > s_j] ] ],   AUROC and new accuracy alike

without deciding for a single image whether it is new. p and q come from a model that was tuned on neither half, such as
the zero-shot model that the learner was tuned from: the learner's own confidence is too sure of new names. Where the
appearance of base images changes this says nothing (see `two_shares`).
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from openworld.core.types import checked
from openworld.estimators.open_world.fitted import NUMBERS, OpenWorldEstimate, OpenWorldEstimator
from openworld.estimators.open_world.mixture import base_by_score
from openworld.estimators.open_world.outputs import OpenWorldOutputs
from openworld.estimators.open_world.posteriors import (
    NameRule,
    at_share,
    best_bin_share,
    posterior_share,
)
from openworld.estimators.open_world.reference import learn_reference
from openworld.metrics import Outcomes, outcomes

BINS = 15

Known = tuple[OpenWorldOutputs, NameRule, NameRule | None]
"""Validation images, the rule of the learner's names, and that of the reference's where it is asked."""


@checked
@dataclass(frozen=True)
class PositiveUnlabelled(OpenWorldEstimator):
    """New images as the stream minus base validation images; their share and names by a model tuned on neither.

    Args:
        share: "reference" (EM on the reference's P(base)) or "best-bin" (Garg et al., 2021).
        names: "reference", or the learner's own: "thresholded" or "calibrated".

    >>> import numpy as np
    >>> logits = np.tile(4 * np.eye(4), (30, 1))
    >>> of_base = logits[logits[:, :2].any(axis=1)]
    >>> base = OpenWorldOutputs(logits=of_base, reference=of_base, n_base=2, labels=[0, 1] * 30)
    >>> stream = OpenWorldOutputs(logits=logits, reference=logits, n_base=2)
    >>> found = PositiveUnlabelled().fit(base).estimate(stream)
    >>> round(found.new_share, 3), round(found.auroc, 2), found.base_accuracy
    (0.5, 1.0, 1.0)
    """

    share: Literal["reference", "best-bin"] = "reference"
    names: Literal["reference", "thresholded", "calibrated"] = "reference"

    name, paper, summary = "positive-unlabelled", "du Plessis et al., 2015", "stream minus base, new names by zero-shot"
    premise = "base images are as at home, and the reference, tuned on neither half, is as sure as it is right"
    needs, gives = ("labels", "logits", "reference"), NUMBERS

    def __post_init__(self):
        if "reference" not in (self.share, self.names):
            object.__setattr__(self, "needs", ("labels", "logits"))

    def learn(self, validation: OpenWorldOutputs) -> Known:
        """Keep the base images, and fit the temperatures of the learner and, where it is asked, of the reference."""
        own = NameRule.learned(validation, "calibrated" if self.names == "reference" else self.names)
        return validation, own, learn_reference(validation) if "reference" in self.needs else None

    def read(self, known: Known, stream: OpenWorldOutputs, new_share: float | None) -> OpenWorldEstimate:
        """Take the base images out of the stream, number by number."""
        base, own, reference = known
        right = base.array("base_right").astype(np.float64)
        mass = None if reference is None else reference.base(stream.array("reference"), stream.base_names)
        if new_share is not None:
            share = 1 - new_share
        elif mass is None or self.share == "best-bin":
            share = best_bin_share(base.array("scores"), stream.array("scores"))
        else:
            share = posterior_share(mass)
        if share >= 1:
            none = OpenWorldEstimate(new_share=0.0, base_accuracy=float(right.mean()))
            return none.without(("overall_accuracy",), "no image of the stream looks new")

        rights = self._new_right(stream, own, reference), self._new_right(base, own, reference)
        everything = np.ones(stream.n), np.ones(base.n)
        joint = tuple(
            weights * (outputs.joint_prediction == outputs.new_prediction)
            for weights, outputs in zip(rights, (stream, base), strict=True)
        )
        joint_right = float((base.joint_prediction == base.labels).mean())
        details = {"temperature": own.temperature}
        return OpenWorldEstimate(
            _pairs(base.scores, stream.scores, right, rights, share),
            float(right.mean()),
            _of_new(*(float(part.mean()) for part in rights), share),
            _pairs(base.scores, stream.scores, everything[1], everything, share),
            1 - share,
            share * joint_right + (1 - share) * _of_new(*(float(part.mean()) for part in joint), share),
            proxies=_proxies(known, stream, share, rights[0], mass),
            details=details if reference is None else details | {"reference_temperature": reference.temperature},
            warnings=own.warnings,
        )

    def _new_right(self, outputs: OpenWorldOutputs, own: NameRule, reference: NameRule | None) -> np.ndarray:
        """Return P(the new name is right), if the image is new."""
        if reference is None or self.names != "reference":
            return own.right(outputs.array("new_logits"))
        among = outputs.array("reference")[:, outputs.base_names :]
        return reference.right_of(among, outputs.new_prediction - outputs.base_names)


def _proxies(
    known: Known, stream: OpenWorldOutputs, share: float, new_right: np.ndarray, mass: np.ndarray | None
) -> Outcomes:
    """Return expected outcomes of single images: sides by score and, where there is one, by the reference."""
    validation, own, _ = known
    base = base_by_score(validation.array("scores"), stream.array("scores"), share, BINS)
    if mass is not None:
        base = at_share((base + at_share(mass, share)) / 2, share)
    a, b = base * own.right(stream.array("base_logits")), (1 - base) * new_right
    joint = stream.joint_prediction
    right = a * (joint == stream.base_prediction) + b * (joint == stream.new_prediction)
    return outcomes(a, b, base, right=right)


def _of_new(stream, base, share: float):
    """The mean over new images, from the mean over the stream and that over base images."""
    return (stream - share * base) / (1 - share)


def _pairs(base_scores, scores, wins: np.ndarray, weights: tuple[np.ndarray, np.ndarray], share: float) -> float:
    """Return E_base[ wins_i E_new[ weights_j (1[s_i > s_j] + 1/2 1[=]) ] ]; weights of stream and of base images."""
    n = len(base_scores)  # a base image is compared with the other ones, never with itself
    of_stream = _below(base_scores, scores, weights[0]) / len(scores)
    of_base = (_below(base_scores, base_scores, weights[1]) - weights[1] / 2) / (n - 1)
    return float(np.mean(wins * _of_new(of_stream, of_base, share)))


def _below(places: np.ndarray, scores: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """What the weights of scores below each place add up to, ties by half."""
    order = np.argsort(scores)
    ordered, mass = scores[order], np.concatenate([[0.0], np.cumsum(weights[order])])
    return (mass[np.searchsorted(ordered, places)] + mass[np.searchsorted(ordered, places, "right")]) / 2
