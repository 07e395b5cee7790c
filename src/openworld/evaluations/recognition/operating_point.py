"""The operating point of a learner: a threshold chosen on validation images, and what it does on test images.

The rule stands in a spec under `operating`, or is given afterwards to `openworld decide`. The scores of validation
images choose the threshold and nothing else: neither what is learned nor any number on test images knows of them.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import exp
from typing import Literal

import numpy as np

from openworld import datasets
from openworld._errors import OpenworldError
from openworld.evaluations.recognition.outcome import ImageScores, Outcome
from openworld.evaluations.recognition.record import ExpectedCost, OperatingPointRecord, Rate, Reached, TestRates
from openworld.metrics import Costs, Threshold, choose_threshold, operating_point

ScoredValidation = Literal["nothing", "base", "all"]
"""Of which classes a unit scores the validation images."""

_COSTS = ("base_kept", "base_missed", "new_hit", "new_unhit", "new_share")
_RULES = "a miss rate, a hit rate, or the costs of a base image missed and of a new one not hit"


@dataclass(frozen=True)
class OperatingSpec:
    """How to choose the threshold below which an image is flagged as new: one of three rules.

    Args:
        miss_rate: largest share of base images that may be flagged or misnamed, in [0, 1).
        hit_rate: least share of new images to be flagged and named right, in (0, 1].
        base_missed, new_unhit: costs of a base image flagged or misnamed, and of a new one not flagged or misnamed;
            both or none.
        base_kept, new_hit: costs of the other two outcomes; 0 where left out.
        new_share: share of new images where the system will run, in [0, 1]; left out, as among the images at hand.

    Raises:
        OpenworldError: no rule or several, a number outside its range.
    """

    miss_rate: float | None = None
    hit_rate: float | None = None
    base_kept: float | None = None
    base_missed: float | None = None
    new_hit: float | None = None
    new_unhit: float | None = None
    new_share: float | None = None

    def __post_init__(self):
        rules = [name for name in ("miss_rate", "hit_rate") if getattr(self, name) is not None]
        rules += ["costs"] if self._priced else []
        if len(rules) != 1:
            given = " and ".join(rules).replace("_", " ") or "none"
            raise OpenworldError(f"a threshold follows one rule, and {given} came; give {_RULES}.")
        if self._priced and None in (self.base_missed, self.new_unhit):
            raise OpenworldError(
                "a threshold by costs needs that of a base image missed and that of a new one not hit; the other two "
                "are 0 where left out."
            )
        choose_threshold([1], [1], [0], [1], **self.options)  # refuses numbers outside their ranges

    @property
    def _priced(self) -> bool:
        return any(getattr(self, name) is not None for name in _COSTS)

    @property
    def costs(self) -> Costs | None:
        """The costs, where they are the rule."""
        given = {name: getattr(self, name) for name in _COSTS if getattr(self, name) is not None}
        return Costs(**given) if given else None

    @property
    def options(self) -> dict:
        """The rule as `choose_threshold` takes it."""
        return {"miss_rate": self.miss_rate, "hit_rate": self.hit_rate, "costs": self.costs}

    @property
    def needs_new(self) -> bool:
        """Whether the rule needs validation images of new classes."""
        return self.miss_rate is None


def scored_validation(
    dataset: str, domain: str | None, operating: OperatingSpec | None, keep: bool
) -> ScoredValidation:
    """Say of which classes validation images are scored.

    Args:
        dataset, domain: what the run is trained on.
        operating: the rule, if the run has one.
        keep: score those of all classes where there are any, so that a rule may be given afterwards.

    Raises:
        OpenworldError: a rule for a data set without validation images.
    """
    wanted = "all" if keep or (operating and operating.needs_new) else "base" if operating else "nothing"
    if wanted == "nothing" or datasets.has_part(dataset, "validation", domain):
        return wanted
    if operating:
        raise OpenworldError(
            f"operating chooses a threshold on validation images, and {dataset} has none; add a part `validation` "
            "to it (images that are neither shots nor tested), or leave operating out."
        )
    return "nothing"


def require_sides(images, test_names: Iterable[str], operating: OperatingSpec | None) -> None:
    """Refuse validation images that no threshold could be chosen on.

    Args:
        images: the validation part, an image set.
        test_names: class names of the test part, in label order.
        operating: the rule, if the run has one.

    Raises:
        OpenworldError: other classes than the test part has; a side without an image that the rule needs.
    """
    if tuple(images.classnames) != tuple(test_names):
        raise OpenworldError(
            f"the validation part of {images.name} has other classes than its test part; give both the same names, or "
            "say `keep_validation = false`."
        )
    for side, classes in {"base": images.split.base, "new": images.split.new}.items():
        needed = operating is not None and (side == "base" or operating.needs_new)
        if needed and not np.isin(images.labels, classes).any():
            instead = "choose by miss_rate, which needs none" if side == "new" else "leave operating out"
            raise OpenworldError(
                f"the validation part of {images.name} has no image of a {side} class; add some, or {instead}."
            )


def choose_operating_point(
    rule: OperatingSpec, validation: ImageScores, test: ImageScores, *, probability: bool
) -> OperatingPointRecord:
    """The operating point of one learner and seed, as a record keeps it.

    Args:
        rule: how to choose.
        validation, test: scored alike.
        probability: scores are logarithms of baseness, so that `openworld predict` can take the threshold.
    """
    chosen = choose_threshold(*validation.samples, **rule.options)
    given = {name: value for name, value in vars(rule).items() if value is not None}
    reached = _reached(chosen, validation)
    if chosen.value is None:
        return OperatingPointRecord(given, None, chosen.reason, None, reached, None)
    scores = np.concatenate([validation.images["score"], test.images["score"]])
    baseness = as_baseness(chosen.value, scores) if probability else None
    return OperatingPointRecord(
        given, chosen.value, chosen.reason, baseness, reached, _rates(chosen.value, test, rule.costs)
    )


def with_operating_points(outcomes: Iterable[Outcome], rule: OperatingSpec) -> tuple[Outcome, ...]:
    """The outcomes of a run with the operating point that a rule chooses, whatever its spec chose.

    Raises:
        OpenworldError: an outcome without validation scores, or without those of new classes where the rule needs them.
    """
    outcomes = tuple(outcomes)
    for outcome in outcomes:
        _require_scores(outcome, rule)
    points = (
        # Scores of a learner that was fitted elsewhere are not log baseness.
        choose_operating_point(rule, each.validation, each.test, probability=each.record.tuned_parameters is not None)
        for each in outcomes
    )
    pairs = zip(outcomes, points, strict=True)
    return tuple(replace(each, record=replace(each.record, operating_point=point)) for each, point in pairs)


def as_baseness(threshold: float, scores) -> float | None:
    """A threshold on log baseness as a short number in [0, 1] that parts the same images.

    Args:
        threshold: on the logarithm.
        scores: float[N], log baseness of every image that is known.

    Returns:
        A decimal about half way between the largest baseness below the threshold and the smallest above, which the
        rounding errors of another machine hardly cross; None where no number in [0, 1] parts them.

    >>> as_baseness(-0.2, [-1.0, -0.2, -0.1])  # between exp(-1) = .37 and exp(-.2) = .82
    0.6
    """
    scores = np.asarray(scores, np.float64)
    below, above = scores[scores < threshold], scores[scores >= threshold]
    low = exp(below.max()) if below.size else 0.0
    high = exp(above.min()) if above.size else 1.0
    if not low < high <= 1:
        return None
    middle, quarter = (low + high) / 2, (high - low) / 4
    decimals = (round(middle, places) for places in range(1, 18))
    return next((short for short in decimals if abs(short - middle) <= quarter), high)


def _require_scores(outcome: Outcome, rule: OperatingSpec) -> None:
    learner = f"{outcome.record.learner}, seed {outcome.record.seed},"
    if outcome.record.closed_set:
        raise OpenworldError(
            f"{learner} knows base names alone, and a rule counts new images that are flagged and named right; give "
            "`correct` for new images too."
        )
    if outcome.validation is None:
        raise OpenworldError(
            f"{learner} has no scores of validation images, and a threshold chosen on test images would flatter. "
            "Give the data set a part `validation` and run recognition on it with `keep_validation = true` (the "
            "default), or score a file with a column `part`."
        )
    sides = set(np.asarray(outcome.validation.images["side"]).tolist())
    if rule.needs_new and "new" not in sides:
        raise OpenworldError(
            f"{learner} has no scores of validation images of new classes, which a hit rate and costs need; add such "
            "images and run it again with `keep_validation = true`, or choose by a miss rate."
        )


def _reached(chosen: Threshold, validation: ImageScores) -> Reached:
    """What the threshold does where it was chosen, what no threshold could better, and on how many images."""
    _, base_correct, _, new_correct = validation.samples
    least = float(1 - base_correct.mean()) if base_correct.size else None
    most = float(new_correct.mean()) if new_correct.size else None
    rates = (chosen.miss_rate, chosen.hit_rate, chosen.cost)
    return Reached(*rates, least, most, base_correct.size, new_correct.size)


def _rates(threshold: float, test: ImageScores, costs: Costs | None) -> TestRates:
    base_groups, new_groups = test.groups
    point = operating_point(*test.samples, threshold, base_groups=base_groups, new_groups=new_groups)
    rates = (
        Rate(rate.value, rate.interval, rate.n, rate.effective_n, rate.reason)
        for rate in (point.miss, point.hit, point.false_alarm, point.detected)
    )
    return TestRates(*rates, None if costs is None else ExpectedCost(point.cost(costs), point.cost_interval(costs)))
