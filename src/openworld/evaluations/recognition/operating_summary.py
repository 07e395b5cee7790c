"""The operating points of a table, from its records: each learner at its thresholds, the seeds joined.

Every seed has a threshold of its own, chosen on validation pictures. A learner's rates are means over its seeds on
the same test pictures; their intervals are over images (clustered by group, over all seeds), given the thresholds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from openworld.evaluations.recognition.outcome import Outcome
from openworld.evaluations.recognition.summary import Interval, Row, Table
from openworld.metrics import Accuracy, Costs, OperatingPoint, operating_point, seed_spread
from openworld.report.remembering import remembered

RATES = ("miss", "hit", "false_alarm", "detected")


@dataclass(frozen=True, eq=False)
class RunAt:
    """One learner where a rule would run it.

    Args:
        learner: its label.
        rule: as asked, by its keys.
        points: what every seed's record says, in the order of `seeds`.
        seeds: the seeds.
        joined: the rates on test pictures, means over the seeds; None with `reason` where a seed has no threshold.
        reason: how many seeds have none, and why the first has not.
        on_baseness: scores are logarithms of baseness, not made elsewhere.
    """

    learner: str
    rule: Mapping[str, float]
    points: tuple[Mapping, ...]
    seeds: tuple[int, ...]
    joined: OperatingPoint | None
    reason: str | None = None
    on_baseness: bool = False

    @property
    def thresholds(self) -> tuple[float | None, ...]:
        """Per seed: on baseness where the learner was fitted here, else on the score that came."""
        return tuple(point["threshold"] if point["baseness"] is None else point["baseness"] for point in self.points)

    @property
    def costs(self) -> Costs | None:
        """The costs, where they are the rule."""
        priced = "base_missed" in self.rule
        return Costs(**self.rule) if priced else None

    @property
    def cost(self) -> tuple[float | None, Interval | None]:
        """Expected cost per picture on test, with its interval over images; None without costs."""
        if self.joined is None or self.costs is None:
            return None, None
        return self.joined.cost(self.costs), self.joined.cost_interval(self.costs)

    def rate(self, name: str) -> Accuracy | None:
        """One of RATES."""
        return None if self.joined is None else getattr(self.joined, name)

    def over_seeds(self, name: str) -> Interval | None:
        """95 % Student's t over the seeds of one of RATES, within [0, 1]; None below two seeds that differ."""
        values = [point["test"][name]["value"] for point in self.points if point["test"] is not None]
        return None if self.joined is None or None in values else seed_spread(values).interval()

    def reached(self, name: str) -> float | None:
        """miss_rate, hit_rate or cost on the validation pictures, the mean over the seeds."""
        values = [point["validation"][name] for point in self.points]
        return None if None in values else fmean(values)


def run_at(row: Row) -> RunAt | None:
    """The operating point of one learner; None where no record of it has one."""
    points = [outcome.metrics.get("operating_point") for outcome in row.outcomes]
    if None in points:
        return None
    undecided = [(seed, point["reason"]) for seed, point in zip(row.seeds, points, strict=True) if point["reason"]]
    joined = None if undecided else _joined(row.outcomes, [point["threshold"] for point in points])
    on_baseness, reason = row.tuned_parameters is not None, None
    if undecided:
        several = f"in {len(undecided)} of {len(points)} seeds, " if len(points) > 1 else ""
        reason = f"{several}{undecided[0][1]} (seed {undecided[0][0]})"
    return RunAt(row.learner, points[0]["rule"], tuple(points), row.seeds, joined, reason, on_baseness)


@remembered  # a page asks several times, and joining the pictures of many learners takes a while
def all_run_at(table: Table) -> tuple[RunAt, ...]:
    """The operating points of a table, in its order; empty where its run has none."""
    return tuple(found for row in table.rows if (found := run_at(row)) is not None)


def preferred(found: Sequence[RunAt]) -> RunAt | None:
    """The learner to run by what validation pictures say: test pictures choose nothing here either.

    Of learners with a threshold for every seed: the most hits under a miss rate, the fewest misses under a hit rate,
    the least cost. Without validation pictures of new classes, the one that misses least.
    """
    able = [one for one in found if one.joined is not None]
    return min(able, key=_badness, default=None)


def why_none(found: Sequence[RunAt]) -> str:
    """What to say where no learner has a threshold: how far the rule could be taken, by the validation pictures."""
    name, pick = ("least_miss", min) if "miss_rate" in found[0].rule else ("most_hit", max)
    worst = max if pick is min else min  # of a learner's seeds, since each must keep the rule
    reach = {one.learner: [point["validation"][name] for point in one.points] for one in found}
    known = {learner: worst(values) for learner, values in reach.items() if None not in values}
    if not known:
        return "No learner has a threshold by this rule."
    learner = pick(known, key=known.get)
    told = "least miss rate" if pick is min else "largest hit rate"
    return (
        f"No learner has a threshold by this rule for every seed. The {told} that every seed can keep on the "
        f"validation pictures is {100 * known[learner]:.1f} %, of {learner}."
    )


def rule_in_words(rule: Mapping[str, float]) -> str:
    """A rule as people say it.

    >>> rule_in_words({"miss_rate": 0.2})
    'miss at most 20 % of the base pictures'
    >>> rule_in_words({"base_missed": 1.0, "new_unhit": 5.0, "new_share": 0.1})
    'least cost: base missed 1, new not hit 5, 10 % of the pictures new'
    """
    if "miss_rate" in rule:
        return f"miss at most {_plain(rule['miss_rate'])} of the base pictures"
    if "hit_rate" in rule:
        return f"hit at least {_plain(rule['hit_rate'])} of the new pictures"
    named = {"base_missed": "base missed", "new_unhit": "new not hit", "base_kept": "base kept", "new_hit": "new hit"}
    told = [f"{words} {rule[name]:g}" for name, words in named.items() if name in rule]
    mix = f"{_plain(rule['new_share'])} of the pictures new" if "new_share" in rule else "new pictures as often as here"
    return f"least cost: {', '.join([*told, mix])}"


def sentence(found: RunAt) -> str:
    """What a learner does at its operating point, in a sentence for whoever runs it."""
    if found.joined is None:
        return f"{found.learner} has no threshold by this rule: {found.reason}."
    miss, hit = found.joined.miss, found.joined.hit
    new = f"of 100 new ones, {_of_hundred(hit)} are flagged and named right"
    if hit.value is None:
        new = "of new ones nothing is known, there was none in the test"
    return f"{found.learner}: of 100 base pictures, {_of_hundred(miss)} are flagged or misnamed; {new}."


def _badness(one: RunAt) -> float:
    if "base_missed" in one.rule:
        return one.reached("cost")
    hit = one.reached("hit_rate")
    return one.reached("miss_rate") if "hit_rate" in one.rule or hit is None else -hit


def _joined(outcomes: Sequence[Outcome], thresholds: Sequence[float]) -> OperatingPoint:
    """All seeds' test pictures in one: scores are counted from each seed's threshold, which thereby is 0 for all."""
    sides: list[list[np.ndarray]] = [[], [], [], [], [], []]
    for outcome, threshold in zip(outcomes, thresholds, strict=True):
        base_scores, base_correct, new_scores, new_correct = outcome.samples
        columns = (base_scores - threshold, base_correct, new_scores - threshold, new_correct, *outcome.groups)
        for side, column in zip(sides, columns, strict=True):
            side.append(column)
    *samples, base_groups, new_groups = (np.concatenate(side) for side in sides)
    return operating_point(*samples, 0.0, base_groups=base_groups, new_groups=new_groups)


def _plain(share: float) -> str:
    return f"{100 * share:.4g} %"


def _of_hundred(rate: Accuracy) -> str:
    """A rate and its interval as counts of a hundred."""
    if rate.value is None:
        return "an unknown number"
    interval = "" if rate.interval is None else f" [{100 * rate.interval[0]:.0f} {100 * rate.interval[1]:.0f}]"
    return f"{100 * rate.value:.0f}{interval}"
