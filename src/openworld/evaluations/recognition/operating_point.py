"""The operating point of a learner: a threshold chosen on validation images, and what it does on test images.

The rule stands in a spec under `operating`, or is given afterwards to `openworld decide`. The scores of validation
images choose the threshold and nothing else: neither what is learned nor any number on test images knows of them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp
from typing import Literal

import numpy as np

from openworld import datasets
from openworld.core.errors import OpenworldError
from openworld.evaluations.recognition.outcome import ImageScores, Outcome
from openworld.metrics import Costs, choose_threshold, operating_point
from openworld.results import METRICS, Metric, Result, Value, interval_of
from openworld.results.value import value_or

ScoredValidation = Literal["nothing", "base", "all"]  # of which classes a unit scores the validation images

RATES = {name: METRICS[name] for name in ("miss", "hit", "false_alarm", "detected")}
COST = Metric("cost", "cost", "number", 3, -1, (None, None))
THRESHOLD = Metric("threshold", "threshold", "number", 4, 0, (None, None))
BASENESS = Metric("baseness_threshold", "threshold on baseness", "number", 4, 0)
REACHED = {
    "miss": METRICS["miss"],
    "hit": METRICS["hit"],
    "cost": COST,
    "least_miss": Metric("least_miss", "least that any threshold misses", better=-1),
    "most_hit": Metric("most_hit", "most that any threshold hits"),
}
"""What is known of validation images."""

_COSTS = ("base_kept", "base_missed", "new_hit", "new_unhit", "new_share")
_RULES = "a miss rate, a hit rate, or the costs of a base image missed and of a new one not hit"


@dataclass(frozen=True)
class OperatingSpec:
    """How to choose the threshold below which an image is flagged as new: one of three rules."""

    miss_rate: float | None = None  # largest share of base images that may be flagged or misnamed, in [0, 1)
    hit_rate: float | None = None  # least share of new images to be flagged and named right, in (0, 1]
    base_kept: float | None = None  # cost of a base image not flagged and named right; 0 where left out
    base_missed: float | None = None  # of one flagged or misnamed; both this and `new_unhit`, or none
    new_hit: float | None = None  # of a new image flagged and named right; 0 where left out
    new_unhit: float | None = None  # of one not flagged or misnamed
    new_share: float | None = None  # of new images where the system will run, in [0, 1]; left out, as at hand

    def __post_init__(self):
        rules = [name for name in ("miss_rate", "hit_rate") if getattr(self, name) is not None]
        rules += ["costs"] if self._priced else []
        if len(rules) != 1:
            rule_names = " and ".join(rules).replace("_", " ") or "none"
            raise OpenworldError(f"a threshold follows one rule, and {rule_names} came; give {_RULES}.")
        if self._priced and None in (self.base_missed, self.new_unhit):
            raise OpenworldError("a rule by costs needs that of a base image missed and that of a new one not hit.")
        choose_threshold([1], [1], [0], [1], **self.options)  # refuses numbers outside their ranges

    @property
    def _priced(self) -> bool:
        return any(getattr(self, name) is not None for name in _COSTS)

    @property
    def costs(self) -> Costs | None:
        return Costs(**self.numbers) if self._priced else None

    @property
    def options(self) -> dict:
        """The rule as `choose_threshold` takes it."""
        return {"miss_rate": self.miss_rate, "hit_rate": self.hit_rate, "costs": self.costs}

    @property
    def numbers(self) -> dict[str, float]:
        return {name: value for name, value in vars(self).items() if value is not None}

    @property
    def needs_new(self) -> bool:
        return self.miss_rate is None


def scored_validation(
    dataset: str, domain: str | None, operating: OperatingSpec | None, keep: bool
) -> ScoredValidation:
    """Return of which classes validation images are scored; refuse a rule for a data set that has none."""
    wanted = "all" if keep or (operating and operating.needs_new) else "base" if operating else "nothing"
    if wanted == "nothing" or datasets.has_part(dataset, "validation", domain):
        return wanted
    if operating:
        reason = f"operating chooses a threshold on validation images, and {dataset} has none"
        raise OpenworldError(f"{reason}; add a part `validation` to it, or leave operating out.")
    return "nothing"


def require_sides(images, test_names: Iterable[str], operating: OperatingSpec | None) -> None:
    """Refuse validation images that no threshold could be chosen on."""
    if tuple(images.classnames) != tuple(test_names):
        raise OpenworldError(
            f"the validation part of {images.name} has other classes than its test part; give both the same names, or "
            "say `keep_validation = false`."
        )
    for side, classes in {"base": images.split.base, "new": images.split.new}.items():
        needed = operating is not None and (side == "base" or operating.needs_new)
        if needed and not np.isin(images.labels, classes).any():
            instead = "choose by miss_rate, which needs none" if side == "new" else "leave operating out"
            raise OpenworldError(f"validation of {images.name} has no image of a {side} class; add some, or {instead}.")


def operating_rows(
    rule: OperatingSpec, validation: ImageScores, test: ImageScores, learner: str, *, probability: bool
) -> Iterator[Result]:
    """Yield the threshold of one learner and seed, and what it does where it was chosen and on test images."""
    chosen = choose_threshold(*validation.samples, **rule.options)
    where = {"rule": rule_in_words(rule.numbers)}
    on_validation, reason = {**where, "part": "validation"}, chosen.reason or ""
    yield Result(learner, THRESHOLD, value_or(chosen.value, reason), on_validation)
    if probability:  # scores are logarithms of baseness, so that `openworld predict` can take the threshold
        baseness = None
        if chosen.value is not None:
            baseness = as_baseness(chosen.value, np.concatenate([validation.images["score"], test.images["score"]]))
        unparted = reason or "no number in [0, 1] parts the images alike"
        yield Result(learner, BASENESS, value_or(baseness, unparted), on_validation)
    _, base_correct, _, new_correct = validation.samples
    reached = {"miss": chosen.miss_rate, "hit": chosen.hit_rate, "cost": chosen.cost}
    reached["least_miss"] = float(1 - base_correct.mean()) if base_correct.size else None
    reached["most_hit"] = float(new_correct.mean()) if new_correct.size else None
    for name, value in reached.items():
        yield Result(learner, REACHED[name], value_or(value, reason or "it is not known"), on_validation)

    if chosen.value is None:
        for metric in (*RATES.values(), *([COST] if rule.costs else [])):
            yield Result(learner, metric, Value(None, reason=reason), where)
        return
    yield from rates_at(learner, rule, [test], [chosen.value], where)


def rates_at(
    learner: str, rule: OperatingSpec, tests: Sequence[ImageScores], thresholds: Sequence[float], where: Mapping
) -> Iterator[Result]:
    """Yield what a learner does at its thresholds on test images, with intervals clustered by group."""
    # All images are counted together, from each seed's own threshold, which thereby is 0 for all.
    sides: list[list[np.ndarray]] = [[], [], [], [], [], []]
    for test, threshold in zip(tests, thresholds, strict=True):
        base_scores, base_correct, new_scores, new_correct = test.samples
        columns = (base_scores - threshold, base_correct, new_scores - threshold, new_correct, *test.groups)
        for side, column in zip(sides, columns, strict=True):
            side.append(column)
    *samples, base_groups, new_groups = (np.concatenate(side) for side in sides)
    point = operating_point(*samples, 0.0, base_groups=base_groups, new_groups=new_groups)
    for name, metric in RATES.items():
        rate = getattr(point, name)
        over = interval_of(rate.interval, "images", rate.n // len(tests))
        yield Result(learner, metric, value_or(rate.value, rate.reason or "", over), where)
    if rule.costs:
        over = interval_of(point.cost_interval(rule.costs), "images")
        yield Result(learner, COST, value_or(point.cost(rule.costs), point.reason or "", over), where)


def with_operating_points(outcomes: Iterable[Outcome], rule: OperatingSpec) -> tuple[Outcome, ...]:
    """Return the outcomes of a run with the operating points that a rule chooses, whatever its spec chose."""
    outcomes, decided = tuple(outcomes), []
    validations = [_require_scores(outcome, rule) for outcome in outcomes]
    for each, validation in zip(outcomes, validations, strict=True):
        # Scores of a learner that was fitted elsewhere are not log baseness.
        fitted = each.facts.get("tuned_parameters") is not None
        points = operating_rows(rule, validation, each.test, each.learner, probability=fitted)
        of_seed = (replace(row, seeds=(each.seed,), per_seed=(row.value.value,)) for row in points)
        rows = (*(row for row in each.rows if "rule" not in row.where), *of_seed)
        decided.append(replace(each, rows=rows, facts={**each.facts, "operating": rule.numbers}))
    return tuple(decided)


def rule_in_words(rule: Mapping[str, float]) -> str:
    """Return a rule as people say it, such as "miss at most 20 % of the base images"."""
    if "miss_rate" in rule:
        return f"miss at most {_plain(rule['miss_rate'])} of the base images"
    if "hit_rate" in rule:
        return f"hit at least {_plain(rule['hit_rate'])} of the new images"
    phrases = {"base_missed": "base missed", "new_unhit": "new not hit", "base_kept": "base kept", "new_hit": "new hit"}
    costs = [f"{words} {rule[name]:g}" for name, words in phrases.items() if name in rule]
    mix = f"{_plain(rule['new_share'])} of the images new" if "new_share" in rule else "new images as often as here"
    return f"least cost: {', '.join([*costs, mix])}"


def as_baseness(threshold: float, scores) -> float | None:
    """Return a threshold on log baseness as a short number in [0, 1] that parts the same images; None where none does.

    >>> as_baseness(-0.2, [-1.0, -0.2, -0.1])  # between exp(-1) = .37 and exp(-.2) = .82
    0.6
    """
    # About half way between the largest baseness below and the smallest above: the rounding errors of another machine
    # hardly cross it.
    scores = np.asarray(scores, np.float64)
    below, above = scores[scores < threshold], scores[scores >= threshold]
    low = exp(below.max()) if below.size else 0.0
    high = exp(above.min()) if above.size else 1.0
    if not low < high <= 1:
        return None
    middle, quarter = (low + high) / 2, (high - low) / 4
    decimals = (round(middle, places) for places in range(1, 18))
    return next((short for short in decimals if abs(short - middle) <= quarter), high)


def _require_scores(outcome: Outcome, rule: OperatingSpec) -> ImageScores:
    learner = f"{outcome.learner}, seed {outcome.seed},"
    if outcome.test.closed_set:
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
    return outcome.validation


def _plain(share: float) -> str:
    return f"{100 * share:.4g} %"
