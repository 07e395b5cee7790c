"""The operating points of a setting, from its records: each learner at its thresholds, the seeds joined.

Every seed has a threshold of its own, chosen on validation images. A learner's rates are means over its seeds on
the same test images; their intervals are over images (clustered by group, over all seeds), given the thresholds.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from openworld.evaluations.recognition.outcome import Outcome
from openworld.evaluations.recognition.record import OperatingPointRecord, Rate
from openworld.metrics import Costs, OperatingPoint, operating_point
from openworld.results import METRICS, Interval, Metric, Result, Value, interval_of, mean, student

RATES = {name: METRICS[name] for name in ("miss", "hit", "false_alarm", "detected")}
COST = Metric("cost", "cost", "number", 3, -1, (None, None))
THRESHOLD = Metric("threshold", "threshold", "number", 4, 0, (None, None))
BASENESS = Metric("baseness_threshold", "threshold on baseness", "number", 4, 0)
REACHED = {
    "miss_rate": METRICS["miss"],
    "hit_rate": METRICS["hit"],
    "cost": COST,
    "least_miss": Metric("least_miss", "least that any threshold misses", better=-1),
    "most_hit": Metric("most_hit", "most that any threshold hits"),
}
"""What a record says of the validation images -> its metric."""


@dataclass(frozen=True, eq=False)
class LearnerOperatingPoint:
    """One learner where a rule would run it.

    Args:
        learner: its label.
        seeds: its seeds.
        points: what every seed's record says.
        joined: the rates on test images, means over the seeds; None where a seed has no threshold.
        on_baseness: scores are logarithms of baseness, not made elsewhere.
    """

    learner: str
    seeds: tuple[int, ...]
    points: tuple[OperatingPointRecord, ...]
    joined: OperatingPoint | None
    on_baseness: bool = False

    @property
    def rule(self) -> Mapping[str, float]:
        """As given, by its keys."""
        return self.points[0].rule

    @property
    def reason(self) -> str:
        """How many seeds have no threshold, and why the first of these has none; "" where all have one."""
        without = [(seed, one.reason) for seed, one in zip(self.seeds, self.points, strict=True) if one.reason]
        if not without:
            return ""
        several = f"in {len(without)} of {len(self.points)} seeds, " if len(self.points) > 1 else ""
        return f"{several}{without[0][1]} (seed {without[0][0]})"

    @property
    def thresholds(self) -> tuple[float | None, ...]:
        """Per seed: on baseness where the learner was fitted here, else on the score that came."""
        return tuple(point.threshold if point.baseness is None else point.baseness for point in self.points)

    @property
    def costs(self) -> Costs | None:
        """The costs, where they are the rule."""
        return Costs(**self.rule) if "base_missed" in self.rule else None

    @property
    def cost(self) -> Value:
        """Expected cost of an image on test."""
        if self.joined is None:
            return Value(None, reason=self.reason)
        value = self.joined.cost(self.costs)
        reason = "" if value is not None else self.joined.reason
        return Value(value, interval_of(self.joined.cost_interval(self.costs), "images"), reason)

    def per_seed(self, name: str) -> tuple[float | None, ...]:
        """One of RATES for every seed."""
        rates: list[Rate | None] = [None if point.test is None else getattr(point.test, name) for point in self.points]
        return tuple(None if rate is None else rate.value for rate in rates)

    def rate(self, name: str) -> Value:
        """One of RATES, the mean over the seeds; over seeds Student's t."""
        if self.joined is None:
            return Value(None, reason=self.reason)
        rate = getattr(self.joined, name)
        if rate.value is None:
            return Value(None, reason=rate.reason)
        images = self.points[0].test
        over_images = interval_of(rate.interval, "images", None if images is None else getattr(images, name).n)
        return Value(rate.value, (*over_images, *student(self.per_seed(name), RATES[name])))

    def interval(self, name: str) -> Interval | None:
        """Of one of RATES over images."""
        return self.rate(name).over("images")

    def reached(self, name: str) -> float | None:
        """miss_rate, hit_rate or cost on the validation images, the mean over the seeds."""
        return mean([getattr(point.validation, name) for point in self.points])

    def limits(self, name: str) -> list[float | None]:
        """least_miss or most_hit on the validation images, for every seed."""
        return [getattr(point.validation, name) for point in self.points]


def operating_points(learners: Mapping[str, Sequence[Outcome]]) -> tuple[LearnerOperatingPoint, ...]:
    """Of every learner of which all records have one, in order."""
    return tuple(
        _learner(name, own)
        for name, own in learners.items()
        if all(outcome.record.operating_point is not None for outcome in own)
    )


def operating_results(learners: Mapping[str, Sequence[Outcome]], place: Mapping) -> Iterator[Result]:
    """Every number of the operating points: on test images, on the validation images, and the thresholds."""
    for one in operating_points(learners):
        where = dict(place) | {"rule": rule_in_words(one.rule)}
        on_test, on_validation = where | {"part": "test"}, where | {"part": "validation"}
        for name, metric in RATES.items():
            yield Result(one.learner, metric, one.rate(name), on_test, one.seeds, one.per_seed(name))
        if one.costs:
            yield Result(one.learner, COST, one.cost, on_test)
        for name, metric in REACHED.items():
            values = tuple(getattr(point.validation, name) for point in one.points)
            if set(values) != {None}:
                yield Result(one.learner, metric, _mean(values, one.reason), on_validation, one.seeds, values)
        scores, baseness = (tuple(getattr(point, name) for point in one.points) for name in ("threshold", "baseness"))
        yield Result(one.learner, THRESHOLD, _mean(scores, one.reason), where, one.seeds, scores)
        if one.on_baseness:
            yield Result(one.learner, BASENESS, _mean(baseness, one.reason), where, one.seeds, baseness)


def _mean(values: Sequence[float | None], reason: str) -> Value:
    value = mean(values)
    return Value(value, reason="" if value is not None else reason or "it is not known for every seed")


def preferred(found: Sequence[LearnerOperatingPoint]) -> LearnerOperatingPoint | None:
    """The learner to run by what validation images say: test images choose nothing here either.

    Of learners with a threshold for every seed: the most hits under a miss rate, the fewest misses under a hit rate,
    the least cost. Without validation images of new classes, the one that misses least.
    """
    return min((one for one in found if one.joined is not None), key=_badness, default=None)


def rule_in_words(rule: Mapping[str, float]) -> str:
    """A rule as people say it.

    >>> rule_in_words({"miss_rate": 0.2})
    'miss at most 20 % of the base images'
    >>> rule_in_words({"base_missed": 1.0, "new_unhit": 5.0, "new_share": 0.1})
    'least cost: base missed 1, new not hit 5, 10 % of the images new'
    """
    if "miss_rate" in rule:
        return f"miss at most {_plain(rule['miss_rate'])} of the base images"
    if "hit_rate" in rule:
        return f"hit at least {_plain(rule['hit_rate'])} of the new images"
    named = {"base_missed": "base missed", "new_unhit": "new not hit", "base_kept": "base kept", "new_hit": "new hit"}
    costs = [f"{words} {rule[name]:g}" for name, words in named.items() if name in rule]
    mix = f"{_plain(rule['new_share'])} of the images new" if "new_share" in rule else "new images as often as here"
    return f"least cost: {', '.join([*costs, mix])}"


def why_none(found: Sequence[LearnerOperatingPoint]) -> str:
    """Why no learner has a threshold: how far the rule could be taken, by the validation images."""
    by_miss = "miss_rate" in found[0].rule
    pick, worst = (min, max) if by_miss else (max, min)  # of a learner's seeds the worst, since each must keep the rule
    limits = {one.learner: one.limits("least_miss" if by_miss else "most_hit") for one in found}
    known = {learner: worst(values) for learner, values in limits.items() if None not in values}
    if not known:
        return "No learner has a threshold by this rule."
    learner = pick(known, key=known.get)
    return (
        f"No learner has a threshold by this rule for every seed. The {'least miss' if by_miss else 'largest hit'} "
        f"rate that every seed can keep on the validation images is {100 * known[learner]:.1f} %, of {learner}."
    )


def sentence(one: LearnerOperatingPoint) -> str:
    """What a learner does at its operating point, in a sentence for whoever runs it."""
    if one.joined is None:
        return f"{one.learner} has no threshold by this rule: {one.reason}."
    miss, hit = one.rate("miss"), one.rate("hit")
    new = f"of 100 new ones, {_of_hundred(hit)} are flagged and named right"
    if hit.value is None:
        new = "of new ones nothing is known, there was none in the test"
    return f"{one.learner}: of 100 base images, {_of_hundred(miss)} are flagged or misnamed; {new}."


def whether_it_holds(one: LearnerOperatingPoint) -> str:
    """Whether the required rate holds on test images, as far as their number shows; "" for costs."""
    if one.joined is None:
        return f"no threshold: {_limit(one)}"
    name, key = ("miss", "miss_rate") if "miss_rate" in one.rule else ("hit", "hit_rate")
    interval = one.interval(name)
    if key not in one.rule or interval is None:
        return ""
    required = one.rule[key]
    holds, fails = (interval.high <= required, interval.low > required)
    if name == "hit":
        holds, fails = (interval.low >= required, interval.high < required)
    return "holds on test" if holds else "does not hold on test" if fails else "cannot be told at this n"


def _learner(learner: str, own: Sequence[Outcome]) -> LearnerOperatingPoint:
    points = tuple(outcome.record.operating_point for outcome in own)
    whole = all(point.threshold is not None for point in points)
    joined = _joined(own, [point.threshold for point in points]) if whole else None
    seeds = tuple(outcome.record.seed for outcome in own)
    return LearnerOperatingPoint(learner, seeds, points, joined, own[0].record.tuned_parameters is not None)


def _joined(own: Sequence[Outcome], thresholds: Sequence[float]) -> OperatingPoint:
    """All seeds' test images in one: scores are counted from each seed's threshold, which thereby is 0 for all."""
    sides: list[list[np.ndarray]] = [[], [], [], [], [], []]
    for outcome, threshold in zip(own, thresholds, strict=True):
        base_scores, base_correct, new_scores, new_correct = outcome.test.samples
        columns = (base_scores - threshold, base_correct, new_scores - threshold, new_correct, *outcome.test.groups)
        for side, column in zip(sides, columns, strict=True):
            side.append(column)
    *samples, base_groups, new_groups = (np.concatenate(side) for side in sides)
    return operating_point(*samples, 0.0, base_groups=base_groups, new_groups=new_groups)


def _badness(one: LearnerOperatingPoint) -> float:
    if "base_missed" in one.rule:
        return one.reached("cost")
    hit = one.reached("hit_rate")
    return one.reached("miss_rate") if "hit_rate" in one.rule or hit is None else -hit


def _limit(one: LearnerOperatingPoint) -> str:
    """What keeps a learner from the rule, on the validation images, over its seeds."""
    by_miss = "miss_rate" in one.rule
    values = one.limits("least_miss" if by_miss else "most_hit")
    if None in values:
        return one.reason
    low, high = (f"{100 * end:.1f}" for end in (min(values), max(values)))
    span = f"{low} %" if low == high else f"{low} to {high} %"
    return f"misnames {span} of base" if by_miss else f"names {span} of new right"


def _plain(share: float) -> str:
    return f"{100 * share:.4g} %"


def _of_hundred(rate: Value) -> str:
    """A rate and its interval as counts of a hundred."""
    if rate.value is None:
        return "an unknown number"
    interval = rate.over("images")
    return f"{100 * rate.value:.0f}" + (f" [{100 * interval.low:.0f} {100 * interval.high:.0f}]" if interval else "")
