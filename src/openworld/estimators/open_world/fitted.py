"""An estimator fitted on labelled base images, what it says and refuses to say of a stream, and what is true of one."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from openworld.core.errors import OpenworldError
from openworld.core.representation import short_repr
from openworld.core.types import Fraction, checked
from openworld.estimators.open_world.outputs import OpenWorldOutputs
from openworld.metrics import Outcomes, outcomes, soft_openworld_auc

FEWEST_LABELLED = 40
FEWEST_IMAGES = 50
RAREST = 0.1
"""Of labelled base images; of images of a stream; of base or new images in it, as a share."""

NUMBERS = ("openworld_auc", "base_accuracy", "new_accuracy", "auroc", "overall_accuracy", "new_share")
OF_BOTH = ("openworld_auc", "auroc")


@dataclass(frozen=True, eq=False)
class OpenWorldEstimate:
    """What an estimator says of a stream; fractions in [0, 1], None where `reasons` says why.

    openworld_auc and its parts: base_accuracy, new_accuracy, auroc; new_share, the share of new images as the estimator
    found it or as it was given; overall_accuracy, of the name among all names. The errors of parts may cancel in
    openworld_auc: show them beside it.
    proxies: what is expected of each image (`openworld.metrics.Outcomes`), for plans of what to label; None where the
    estimator knows no single image. details: numbers by name. warnings: sentences. There is no interval: how far an
    estimate is off depends on its premise, which no resampling tests.
    """

    openworld_auc: float | None = None
    base_accuracy: float | None = None
    new_accuracy: float | None = None
    auroc: float | None = None
    new_share: float | None = None
    overall_accuracy: float | None = None
    reasons: Mapping[str, str] = field(default_factory=dict)
    proxies: Outcomes | None = field(default=None, repr=False)
    details: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    __repr__ = short_repr

    @property
    def base_share(self) -> float | None:
        """The share of base images, p."""
        return None if self.new_share is None else 1 - self.new_share

    def without(self, names: tuple[str, ...], reason: str) -> "OpenWorldEstimate":
        """Return it with these numbers None, for that reason; a reason that is there stays."""
        reasons = {name: self.reasons.get(name, reason) for name in names}
        return replace(self, **dict.fromkeys(names), reasons={**self.reasons, **reasons})


class OpenWorldEstimator:
    """Base of the estimators of open-world quality without labels of the stream: frozen dataclasses of settings.

    name, paper, summary: what it is, in words. premise: what must hold, a sentence. needs: of "labels" (of base
    validation images), "logits" and "reference" (of these and of the stream) those that it reads. gives: which numbers
    of `NUMBERS` it estimates.
    """

    name: ClassVar[str]
    paper: ClassVar[str]
    summary: ClassVar[str]
    premise: ClassVar[str]
    needs: ClassVar[tuple[str, ...]]
    gives: ClassVar[tuple[str, ...]]

    def fit(self, validation: OpenWorldOutputs) -> "FittedOpenWorld":
        """Learn from labelled images of base classes at home that nobody was tuned on; refuse others."""
        require_validation(validation, self.name, self.needs)
        return FittedOpenWorld(self, validation, self.learn(validation))

    def learn(self, validation: OpenWorldOutputs) -> Any:
        """Return what it keeps of validation images."""
        raise NotImplementedError

    def read(self, known: Any, stream: OpenWorldOutputs, new_share: float | None) -> OpenWorldEstimate:
        """Say what `known` of validation images tells of a stream; `new_share` where it is known from outside."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class FittedOpenWorld:
    """An estimator, the validation images that it was fitted on, and what it learned from them."""

    estimator: OpenWorldEstimator
    validation: OpenWorldOutputs
    known: Any

    __repr__ = short_repr

    @checked
    def estimate(self, stream: OpenWorldOutputs, new_share: Fraction | None = None) -> OpenWorldEstimate:
        """Estimate every number of a stream.

        Args:
            stream: outputs of the same learner, over the same base names; labels in it are not looked at.
            new_share: share of new images where it is known from outside, in (0, 1); left out, it is estimated.
        Returns:
            OpenWorldEstimate; numbers that cannot be had are None, with the reason and what would help.
        Raises:
            OpenworldError: a stream of other names, or without what the estimator needs.
        """
        stream.require(tuple(need for need in self.estimator.needs if need != "labels"), self.estimator.name)
        if "logits" in self.estimator.needs and stream.n_base != self.validation.n_base:
            raise OpenworldError(
                f"the stream has {stream.n_base} base names, and the validation images have {self.validation.n_base}; "
                "give outputs of the same learner."
            )
        if stream.n < FEWEST_IMAGES:
            few = f"{stream.n} images are too few to estimate from; give {FEWEST_IMAGES - stream.n} more"
            return OpenWorldEstimate().without(NUMBERS, few)
        result = self.estimator.read(self.known, stream, new_share)
        return _refused(replace(result, details={"n_stream": stream.n, **result.details}), stream, self.estimator)


def require_validation(validation: OpenWorldOutputs, name: str, needs: tuple[str, ...]) -> None:
    validation.require(needs, name)
    if validation.n < FEWEST_LABELLED:
        raise OpenworldError(
            f"{validation.n} labelled base images are too few for {name}; give {FEWEST_LABELLED} or more, "
            "of base classes, that the learner was not tuned on."
        )
    if validation.labels is not None and validation.n_base and validation.labels.max() >= validation.n_base:
        new = int((validation.labels >= validation.n_base).sum())
        raise OpenworldError(f"{new} validation image(s) are of new classes; give images of base classes alone.")
    if "logits" in needs and validation.base_names < 2:
        raise OpenworldError("there is one base name, which is right for every base image; give two or more.")


def of_proxies(
    stream: OpenWorldOutputs, base_right, new_right, base, *, share: float | None = None, **rest
) -> OpenWorldEstimate:
    """Return every number of what is expected of each image: base_right, new_right, base float64[n].

    share: p where it is found otherwise than as the mean of base. A name among all names that is neither the base nor
    the new name of the image counts as wrong.
    """
    joint = stream.joint_prediction
    right = base_right * (joint == stream.base_prediction) + new_right * (joint == stream.new_prediction)
    proxies = outcomes(base_right, new_right, base, right=right)
    soft = soft_openworld_auc(stream.array("scores"), base_right, new_right, base, right=right)
    share = soft.base_share if share is None else share
    new_share = None if share is None else 1 - share
    estimate = OpenWorldEstimate(
        soft.value, soft.base_accuracy, soft.new_accuracy, soft.auroc, new_share, soft.overall_accuracy
    )
    return replace(estimate, proxies=proxies, **rest)


def true_numbers(stream: OpenWorldOutputs) -> dict[str, float | None]:
    """Return every number of `NUMBERS` of a stream whose labels are known."""
    stream.require(("labels", "logits"), "a true number")
    base = (stream.array("labels") < stream.base_names).astype(np.float64)
    right = stream.joint_prediction == stream.labels
    rights = base * (stream.base_prediction == stream.labels), (1 - base) * (stream.new_prediction == stream.labels)
    soft = soft_openworld_auc(stream.array("scores"), *rights, base, right=right)
    numbers = {name: soft.value_of(name) for name in NUMBERS if name != "new_share"}
    return numbers | {"new_share": None if soft.base_share is None else 1 - soft.base_share}


def _refused(found: OpenWorldEstimate, stream: OpenWorldOutputs, estimator: OpenWorldEstimator) -> OpenWorldEstimate:
    """Without what the estimator does not give, what needs several names, and what rests on a side that is rare."""
    missing = tuple(name for name in NUMBERS if name not in estimator.gives)
    found = found.without(missing, f"the premise of {estimator.name} does not tell it") if missing else found
    if stream.new_logits is not None and stream.new_logits.shape[1] == 1:
        one = "there is one new name only, whose confidence is 1 for every image; give the names of several new classes"
        found = found.without(("openworld_auc", "new_accuracy", "overall_accuracy"), one)
    for side, share in (("new", found.new_share), ("base", found.base_share)):
        if share is not None and share < RAREST:
            rare = (
                f"about {100 * share:.0f} % of the images look {side}, and below {100 * RAREST:.0f} % an error of one "
                f"point in that share moves the number by four or more; label some images, {side} ones among them"
            )
            found = found.without((*OF_BOTH, f"{side}_accuracy"), rare)
    numbers = {name: getattr(found, name) for name in NUMBERS}
    return replace(found, **{name: float(np.clip(v, 0, 1)) for name, v in numbers.items() if v is not None})
