"""The operating points of a setting, from its records: each learner at its thresholds, the seeds joined.

Every seed has a threshold of its own, chosen on validation images. A learner's rates are means over its seeds on
the same test images; their intervals are over images (clustered by group, over all seeds), given the thresholds.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from openworld.evaluations.recognition.outcome import Outcome
from openworld.evaluations.recognition.record import OperatingPointRecord
from openworld.metrics import Accuracy, Costs, OperatingPoint, operating_point
from openworld.results import METRICS, Metric, Result, Value, interval_of, mean, student

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
    """One learner where a rule would run it, its seeds joined.

    Args:
        learner: its label.
        rule: as given, by its keys.
        reason: how many seeds have no threshold, and why the first of these has none; "" where all have one.
        on_test: RATES, and the cost where costs are the rule.
        on_validation: REACHED.
        thresholds: "threshold", on the score, and "baseness" where the learner was fitted here.
    """

    learner: str
    rule: Mapping[str, float]
    reason: str
    on_test: Mapping[str, Result]
    on_validation: Mapping[str, Result]
    thresholds: Mapping[str, Result]

    @property
    def results(self) -> tuple[Result, ...]:
        """All of them, but for what no seed knows of the validation images."""
        reached = (row for row in self.on_validation.values() if set(row.per_seed) != {None})
        return (*self.on_test.values(), *reached, *self.thresholds.values())

    @property
    def baseness(self) -> dict[int, float | None]:
        """Seed -> threshold on baseness; {} where scores were made elsewhere."""
        row = self.thresholds.get("baseness")
        return dict(zip(row.seeds, row.per_seed, strict=True)) if row else {}

    def rate(self, name: str) -> Value:
        """One of RATES, or the cost, on test images."""
        return self.on_test[name].value


def operating_points(learners: Mapping[str, Sequence[Outcome]], place: Mapping) -> tuple[LearnerOperatingPoint, ...]:
    """Return those of every learner of which all records have one, in order; `place`: where their results are."""
    return tuple(
        _learner(learner, outcomes, place)
        for learner, outcomes in learners.items()
        if all(outcome.record.operating_point is not None for outcome in outcomes)
    )


def _learner(learner: str, outcomes: Sequence[Outcome], place: Mapping) -> LearnerOperatingPoint:
    points = [outcome.record.operating_point for outcome in outcomes]
    seeds, rule = tuple(outcome.record.seed for outcome in outcomes), points[0].rule
    reason = _why_not(seeds, points)
    joined = None if reason else _join(outcomes, [point.threshold for point in points])
    where = {**place, "rule": rule_in_words(rule)}

    def result(metric: Metric, per_seed: Iterable[float | None], value: Value | None = None, **part: str) -> Result:
        per_seed = tuple(per_seed)
        return Result(learner, metric, value or _mean(per_seed, reason), where | part, seeds, per_seed)

    on_test = {}
    for name, metric in RATES.items():
        rates = [point.test and getattr(point.test, name) for point in points]
        per_seed = [rate and rate.value for rate in rates]
        value = _rate(getattr(joined, name), rates[0].n, per_seed, metric) if joined else None
        on_test[name] = result(metric, per_seed, value)
    if "base_missed" in rule:
        value = _cost(joined, Costs(**rule)) if joined else Value(None, reason=reason)
        on_test["cost"] = Result(learner, COST, value, where)
    on_validation = {
        name: result(metric, (getattr(point.validation, name) for point in points), part="validation")
        for name, metric in REACHED.items()
    }
    thresholds = {"threshold": result(THRESHOLD, (point.threshold for point in points), part="validation")}
    if outcomes[0].record.tuned_parameters is not None:
        thresholds["baseness"] = result(BASENESS, (point.baseness for point in points), part="validation")
    return LearnerOperatingPoint(learner, rule, reason, on_test, on_validation, thresholds)


def _why_not(seeds: Sequence[int], points: Sequence[OperatingPointRecord]) -> str:
    """How many seeds have no threshold, and why the first of these has none; "" where all have one."""
    without = [(seed, point.reason) for seed, point in zip(seeds, points, strict=True) if point.reason]
    if not without:
        return ""
    several = f"in {len(without)} of {len(points)} seeds, " if len(points) > 1 else ""
    return f"{several}{without[0][1]} (seed {without[0][0]})"


def _mean(values: Sequence[float | None], reason: str) -> Value:
    value = mean(values)
    return Value(value, reason="" if value is not None else reason or "it is not known for every seed")


def _rate(joined: Accuracy, images: int, per_seed: Sequence[float | None], metric: Metric) -> Value:
    """The rate of all seeds together, with its intervals over images and over seeds."""
    if joined.value is None:
        return Value(None, reason=joined.reason)
    return Value(joined.value, (*interval_of(joined.interval, "images", images), *student(per_seed, metric)))


def _cost(joined: OperatingPoint, costs: Costs) -> Value:
    """Expected cost of an image."""
    return Value(joined.cost(costs), interval_of(joined.cost_interval(costs), "images"), joined.reason or "")


def _join(outcomes: Sequence[Outcome], thresholds: Sequence[float]) -> OperatingPoint:
    """All seeds' test images in one: scores are counted from each seed's threshold, which thereby is 0 for all."""
    sides: list[list[np.ndarray]] = [[], [], [], [], [], []]
    for outcome, threshold in zip(outcomes, thresholds, strict=True):
        base_scores, base_correct, new_scores, new_correct = outcome.test.samples
        columns = (base_scores - threshold, base_correct, new_scores - threshold, new_correct, *outcome.test.groups)
        for side, column in zip(sides, columns, strict=True):
            side.append(column)
    *samples, base_groups, new_groups = (np.concatenate(side) for side in sides)
    return operating_point(*samples, 0.0, base_groups=base_groups, new_groups=new_groups)


def preferred(points: Sequence[LearnerOperatingPoint]) -> LearnerOperatingPoint | None:
    """The learner to run by what validation images say: test images choose nothing here either.

    Of learners with a threshold for every seed: the most hits under a miss rate, the fewest misses under a hit rate,
    the least cost. Without validation images of new classes, the one that misses least.
    """
    return min((point for point in points if not point.reason), key=_badness, default=None)


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


def why_none(points: Sequence[LearnerOperatingPoint]) -> str:
    """Why no learner has a threshold: how far the rule could be taken, by the validation images."""
    by_miss = "miss_rate" in points[0].rule
    pick, worst = (min, max) if by_miss else (max, min)  # of a learner's seeds the worst, since each must keep the rule
    limits = {point.learner: _limits(point) for point in points}
    known = {learner: worst(values) for learner, values in limits.items() if None not in values}
    if not known:
        return "No learner has a threshold by this rule."
    learner = pick(known, key=known.get)
    return (
        f"No learner has a threshold by this rule for every seed. The {'least miss' if by_miss else 'largest hit'} "
        f"rate that every seed can keep on the validation images is {100 * known[learner]:.1f} %, of {learner}."
    )


def sentence(point: LearnerOperatingPoint) -> str:
    """What a learner does at its operating point, in a sentence for whoever runs it."""
    if point.reason:
        return f"{point.learner} has no threshold by this rule: {point.reason}."
    new = f"of 100 new ones, {_of_hundred(point.rate('hit'))} are flagged and named right"
    if point.rate("hit").value is None:
        new = "of new ones nothing is known, there was none in the test"
    missed = _of_hundred(point.rate("miss"))
    return f"{point.learner}: of 100 base images, {missed} are flagged or misnamed; {new}."


def whether_it_holds(point: LearnerOperatingPoint) -> str:
    """Whether the required rate holds on test images, as far as their number shows; "" for costs."""
    if point.reason:
        return f"no threshold: {_limit(point)}"
    name, key = ("miss", "miss_rate") if "miss_rate" in point.rule else ("hit", "hit_rate")
    interval = point.rate(name).over("images")
    if key not in point.rule or interval is None:
        return ""
    required = point.rule[key]
    holds, fails = (interval.high <= required, interval.low > required)
    if name == "hit":
        holds, fails = (interval.low >= required, interval.high < required)
    return "holds on test" if holds else "does not hold on test" if fails else "cannot be told at this n"


def thresholds_in_words(point: LearnerOperatingPoint) -> str:
    """One number where all seeds share it, else one a seed; on baseness where the learner was fitted here."""
    scores = point.thresholds["threshold"].per_seed
    fitted = point.thresholds["baseness"].per_seed if "baseness" in point.thresholds else scores
    values = [score if baseness is None else baseness for score, baseness in zip(scores, fitted, strict=True)]
    texts = ["none" if value is None else f"{value:.4g}" for value in values]
    return texts[0] if len(set(texts)) == 1 else " ".join(texts)


def _badness(point: LearnerOperatingPoint) -> float:
    miss, hit, cost = (point.on_validation[name].value.value for name in ("miss_rate", "hit_rate", "cost"))
    if "base_missed" in point.rule:
        return cost
    return miss if "hit_rate" in point.rule or hit is None else -hit


def _limits(point: LearnerOperatingPoint) -> tuple[float | None, ...]:
    """How far a rule on a rate could be taken on the validation images, for every seed."""
    return point.on_validation["least_miss" if "miss_rate" in point.rule else "most_hit"].per_seed


def _limit(point: LearnerOperatingPoint) -> str:
    """What keeps a learner from the rule, on the validation images, over its seeds."""
    values = _limits(point)
    if None in values:
        return point.reason
    low, high = (f"{100 * end:.1f}" for end in (min(values), max(values)))
    span = f"{low} %" if low == high else f"{low} to {high} %"
    return f"misnames {span} of base" if "miss_rate" in point.rule else f"names {span} of new right"


def _plain(share: float) -> str:
    return f"{100 * share:.4g} %"


def _of_hundred(rate: Value) -> str:
    """A rate and its interval as counts of a hundred."""
    if rate.value is None:
        return "an unknown number"
    interval = rate.over("images")
    return f"{100 * rate.value:.0f}" + (f" [{100 * interval.low:.0f} {100 * interval.high:.0f}]" if interval else "")
