"""Whether a finished run is good enough: requirements on its numbers, candidates on their 95 % intervals.

A requirement holds where the whole interval is on its right side, is broken where the whole interval is on the other,
and is undecided where the bound lies within. The interval is two-sided, so that a requirement that is just not met is
said to hold in at most 2.5 % of samples. Several requirements hold together only where each does.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, inf, isfinite

from openworld.core.arrays import require_fraction
from openworld.core.errors import OpenworldError, unknown_name
from openworld.results.results import Place, Result, Results
from openworld.results.run_folder import Pair
from openworld.results.value import SHARES, Metric, Value, unknown_metric

HOLDS, BROKEN, OPEN = "holds", "broken", "undecided"
_FORM = re.compile(r"\s*([a-z][a-z0-9_]*)\s*(>=|<=|>|<)\s*([-+]?[0-9.]+(?:e-?[0-9]+)?)\s*(%?)\s*", re.IGNORECASE)


@dataclass(frozen=True)
class Requirement:
    """A bound on a metric."""

    metric: str
    sign: int
    bound: float  # in the unit of data: shares as fractions

    @classmethod
    def parse(cls, text: str) -> "Requirement":
        """Read "METRIC >= NUMBER" (or <=, >, <); "50 %" is 0.5."""
        match = _FORM.fullmatch(text)
        try:
            name, sign, number, percent = match.groups() if match else ()
            return cls(name, 1 if sign[0] == ">" else -1, float(number) / (100 if percent else 1))
        except ValueError:
            raise OpenworldError(
                f'the requirement {text!r} is not understood; write it as "openworld_auc >= 0.5" or "fpr <= 20 %".'
            ) from None

    def write(self, metric: Metric) -> str:
        """The bound as people read it."""
        return f"{metric.title} {'≥' if self.sign > 0 else '≤'} {metric.write(self.bound)}"


@dataclass(frozen=True)
class Check:
    """A number held against what is required of it."""

    title: str
    required: str
    metric: Metric
    value: Value
    decision: str
    reason: str = ""
    more: int | None = None

    @property
    def sentence(self) -> str:
        """What is known, with the number and what would decide."""
        over = f" over {self.value.intervals[0].over}" if self.value.intervals else ""
        interval = self.metric.write_interval(self.value.intervals[0]) if self.value.intervals else ""
        number = f"{self.metric.write(self.value.value)} {interval}{over}".strip()
        more = f"; about {self.more:,} more {self.value.intervals[0].over} would decide" if self.more else ""
        reason = f": {self.reason}" if self.reason else ""
        return f"{self.title}: {self.required} {self.decision}{reason} ({number}{more})"


def judge(
    results: Results, requirements: Iterable[Requirement], *, entity: str = "", where: Mapping[str, Place] | None = None
) -> tuple[Check, ...]:
    """Hold every number that a requirement is about against it."""
    checks = []
    for requirement in requirements:
        metrics = results.metrics()
        if requirement.metric not in metrics:
            raise unknown_metric("this run", requirement.metric, metrics)
        if entity and entity not in results.entities:
            raise unknown_name("learner, detector or method of this run", entity, results.entities)
        numbers = results.where(entity=entity or None, metric=requirement.metric, **(where or {}))
        rows = (numbers if where else numbers.overall()).rows
        if not rows:
            place = dict(where or {})
            raise OpenworldError(f"the run has no {requirement.metric} of {entity or 'anything'} in {place}.")
        for metric in dict.fromkeys(row.metric for row in rows):
            _require_possible(requirement, metric)
        checks += [
            _judge(title, requirement.write(row.metric), row.metric, row.value, requirement)
            for title, row in zip(titles(rows), rows, strict=True)
        ]
    return tuple(checks)


def judge_difference(pairs: Sequence[Pair], margin: float) -> tuple[Check, ...]:
    """Return whether a run is worse than another by at most a margin (non-inferiority), number by number."""
    # Two runs that have one number with the same intervals, and the same for every seed, are the same run in this.
    if any(pair.comparison.metric.unit in SHARES for pair in pairs):
        require_fraction("[)", margin=margin)
    elif not 0 <= margin < inf:
        raise OpenworldError(
            f"margin is {margin:g}, expected by how much the run may be worse: a finite number of 0 or more."
        )
    checks = []
    for title, pair in zip(titles([pair.second for pair in pairs]), pairs, strict=True):
        test, metric = pair.comparison, pair.comparison.metric
        if not metric.better:
            raise OpenworldError(f"of {metric.title} neither more nor less is better, so no margin applies.")
        requirement = Requirement(metric.key, metric.better, -metric.better * margin)
        value = Value(test.difference, (test.interval,) if test.interval else (), test.reason)
        words = f"{metric.title} at most {metric.write(margin)} worse"
        same = (pair.first.value, pair.first.per_seed) == (pair.second.value, pair.second.per_seed)
        check = _judge(title, words, metric, value, requirement)
        checks.append(replace(check, decision=HOLDS, reason="the same number") if same else check)
    return tuple(checks)


def _require_possible(requirement: Requirement, metric: Metric) -> None:
    """Refuse a bound that a metric cannot break or cannot reach; whoever means percent reads how they are written."""
    low, high = metric.bounds
    bound, sign = requirement.bound, ">=" if requirement.sign > 0 else "<="
    outside = (low is not None and bound < low) or (high is not None and bound > high)
    if outside or (high is not None and requirement.sign < 0 and bound == high) or not isfinite(bound):
        ends = " and ".join(
            f"{end} {value:g}" for end, value in (("at least", low), ("at most", high)) if value is not None
        )
        percent = (
            f'; for {bound:g} % write "{metric.key} {sign} {bound:g} %"'
            if metric.unit in SHARES and 1 <= bound <= 100
            else ""
        )
        raise OpenworldError(
            f"{metric.key} {sign} {bound:g} is the same for every run: {metric.title} is {ends}{percent}."
        )


def titles(rows: Sequence[Result], between: str = ", ") -> list[str]:
    """Return whose numbers they are, and in which place: as many of its names as tell the rows apart."""
    parts = [(row.entity,) for row in rows]
    for name in dict.fromkeys(name for row in rows for name in row.where):
        longer = [(*part, str(row.where.get(name, ""))) for part, row in zip(parts, rows, strict=True)]
        if len(set(longer)) > len(set(parts)):
            parts = longer
    return [between.join(filter(None, part)) for part in parts]


def _judge(title: str, required: str, metric: Metric, value: Value, requirement: Requirement) -> Check:
    if value.value is None or not value.intervals:
        reason = value.reason or "no interval is known of it"
        return Check(title, required, metric, value, OPEN, reason)
    interval, sign, bound = value.intervals[0], requirement.sign, requirement.bound
    worst, best = sorted((sign * (interval.low - bound), sign * (interval.high - bound)))
    if worst >= 0:
        return Check(title, required, metric, value, HOLDS)
    if best < 0:
        return Check(title, required, metric, value, BROKEN)
    more, away = None, value.value - bound
    if interval.n is not None and away:  # widths shrink with the root of their number
        side = value.value - interval.low if away > 0 else interval.high - value.value
        more = max(1, ceil(interval.n * (side / away) ** 2 - 1e-6) - interval.n)
    return Check(title, required, metric, value, OPEN, more=more)
