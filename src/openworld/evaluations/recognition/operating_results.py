"""What a run says of operating points: each learner at its thresholds, the learner to run, and whether the rule holds.

Every seed has a threshold of its own, chosen on validation images. A learner's rates are means over its seeds on
the same test images; their intervals are over images (clustered by group, over all seeds), given the thresholds.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from openworld.evaluations.recognition.operating_point import rule_in_words
from openworld.evaluations.recognition.outcome import Outcome
from openworld.results import Result, Results, Value


@dataclass(frozen=True, eq=False)
class LearnerOperatingPoint:
    """One learner where a rule would run it, its seeds joined."""

    learner: str
    rule: Mapping[str, float]  # its numbers, by their keys in a spec
    on_test: Mapping[str, Result]  # the rates, and the cost where costs are the rule, by metric
    on_validation: Mapping[str, Result]  # the threshold, and what is known of the validation images, by metric

    @property
    def reason(self) -> str:
        """How many seeds have no threshold, and why the first of these has none; "" where all have one."""
        row = self.on_validation["threshold"]
        without = [seed for seed, value in zip(row.seeds, row.per_seed, strict=True) if value is None]
        if not without:
            return ""
        several = f"in {len(without)} of {len(row.seeds)} seeds, " if len(row.seeds) > 1 else ""
        return f"{several}{row.value.reason} (seed {without[0]})"

    @property
    def baseness(self) -> dict[int, float | None]:
        """Seed -> threshold on baseness; {} where scores were made elsewhere."""
        row = self.on_validation.get("baseness_threshold")
        return dict(zip(row.seeds, row.per_seed, strict=True)) if row else {}

    def rate(self, name: str) -> Value:
        return self.on_test[name].value

    def reached(self, name: str) -> float | None:
        """What the thresholds reach on validation images, mean over the seeds; None where that is not known."""
        return self.on_validation[name].value.value if name in self.on_validation else None


def operating_points(learners: Mapping[str, Sequence[Outcome]], results: Results) -> tuple[LearnerOperatingPoint, ...]:
    """Return those of every learner of a setting of which all records have one, in order."""
    points = []
    for learner, outcomes in learners.items():
        rule = outcomes[0].facts.get("operating")
        if rule and all(outcome.facts.get("operating") for outcome in outcomes):
            rows = results.where(entity=learner, rule=rule_in_words(rule))
            on_test = {row.metric.key: row for row in rows if "part" not in row.where}
            on_validation = {row.metric.key: row for row in rows if "part" in row.where}
            points.append(LearnerOperatingPoint(learner, rule, on_test, on_validation))
    return tuple(points)


def preferred(points: Sequence[LearnerOperatingPoint]) -> LearnerOperatingPoint | None:
    """Return the learner to run by what validation images say: test images choose nothing here either."""
    return min((point for point in points if not point.reason), key=_badness, default=None)


def why_none(points: Sequence[LearnerOperatingPoint]) -> str:
    """Why no learner has a threshold: how far the rule could be taken, by the validation images."""
    by_miss = "miss_rate" in points[0].rule
    pick, worst = (min, max) if by_miss else (max, min)  # of a learner's seeds the worst, since each must keep the rule
    limits = {point.learner: _limits(point) for point in points}
    complete = {learner: [each for each in values if each is not None] for learner, values in limits.items()}
    worst_values = {learner: worst(rates) for learner, rates in complete.items() if len(rates) == len(limits[learner])}
    if not worst_values:
        return "No learner has a threshold by this rule."
    learner = pick(worst_values, key=worst_values.__getitem__)
    return (
        f"No learner has a threshold by this rule for every seed. The {'least miss' if by_miss else 'largest hit'} "
        f"rate that every seed can keep on the validation images is {100 * worst_values[learner]:.1f} %, of {learner}."
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
    return "holds on test" if holds else "does not hold on test" if fails else "undecided at this n"


def thresholds_in_words(point: LearnerOperatingPoint) -> str:
    """One number where all seeds share it, else one a seed; on baseness where the learner was fitted here."""
    scores = point.on_validation["threshold"].per_seed
    fitted = tuple(point.baseness.values()) or scores
    values = [score if baseness is None else baseness for score, baseness in zip(scores, fitted, strict=True)]
    texts = ["none" if value is None else f"{value:.4g}" for value in values]
    return texts[0] if len(set(texts)) == 1 else " ".join(texts)


def _badness(point: LearnerOperatingPoint) -> float:
    # The most hits under a miss rate, the fewest misses under a hit rate, the least cost; without validation images of
    # new classes the fewest misses.
    miss, hit, cost = map(point.reached, ("miss", "hit", "cost"))
    least = cost if "base_missed" in point.rule else miss if "hit_rate" in point.rule or hit is None else -hit
    return math.inf if least is None else least


def _limits(point: LearnerOperatingPoint) -> tuple[float | None, ...]:
    """How far a rule on a rate could be taken on the validation images, for every seed."""
    row = point.on_validation.get("least_miss" if "miss_rate" in point.rule else "most_hit")
    return row.per_seed if row else (None,)


def _limit(point: LearnerOperatingPoint) -> str:
    """What keeps a learner from the rule, on the validation images, over its seeds."""
    values = [value for value in _limits(point) if value is not None]
    if len(values) < len(_limits(point)):
        return point.reason
    low, high = (f"{100 * end:.1f}" for end in (min(values), max(values)))
    span = f"{low} %" if low == high else f"{low} to {high} %"
    return f"misnames {span} of base" if "miss_rate" in point.rule else f"names {span} of new right"


def _of_hundred(rate: Value) -> str:
    if rate.value is None:
        return "an unknown number"
    interval = rate.over("images")
    return f"{100 * rate.value:.0f}" + (f" [{100 * interval.low:.0f} {100 * interval.high:.0f}]" if interval else "")
