"""How far what was tuned carries: the targets of one kind side by side, and the mean over them with its tests.

The source is no target of its own: it is what the targets are compared with. Images that targets share, such as the
source's base images beside the new classes of several data sets, count once in the interval of the mean.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from openworld.evaluations.recognition.comparison import average_over_seeds
from openworld.evaluations.recognition.record import RecognitionRecord
from openworld.evaluations.recognition.results import AUC, HM, LOSSES, MEASURED, RecognitionResults, SettingResults
from openworld.metrics import Estimate, mean_over_sets, paired_test
from openworld.report.sentences import counted
from openworld.results import (
    Comparison,
    Metric,
    Result,
    Value,
    comparison_of,
    correct_for_many,
    interval_of,
    mean,
    over_seeds,
)

KINDS = {"variant": "domain generalisation", "other": "cross-data-set generalisation"}
"""Kind of target -> what scoring there is called."""

_NOUNS = {"variant": "variant", "other": "other data set"}


@dataclass(frozen=True, eq=False)
class TargetAverage:
    """The targets of one kind.

    Args:
        kind: a key of KINDS.
        source: the results on what was tuned on.
        targets: those on the targets, in the order of the run.
        mean: means over the targets; its intervals and tests are of these means, its outcomes those of the first one.
    """

    kind: str
    source: SettingResults
    targets: tuple[SettingResults, ...]
    mean: SettingResults

    @property
    def heading(self) -> str:
        """What scoring on these targets is called."""
        return KINDS[self.kind]

    @property
    def counted(self) -> str:
        """How many targets there are.

        >>> TargetAverage("other", None, (None, None), None).counted
        '2 other data sets'
        """
        return counted(len(self.targets), _NOUNS[self.kind])

    @property
    def left_out(self) -> dict[str, tuple[str, ...]]:
        """Title of a target -> its classes that are base classes of the source, where there are any."""
        found = {one.title: _record(one).left_out for one in self.targets}
        return {title: names for title, names in found.items() if names}

    @property
    def by_wordnet(self) -> bool:
        """Whether classes were compared with the source's by their names in WordNet, too."""
        return _record(self.source).wordnet


def target_averages(results: RecognitionResults) -> tuple[TargetAverage, ...]:
    """Every kind of target of a run of generalisation; () where learners lack targets."""
    by_kind: dict[str | None, list[SettingResults]] = {}
    for one in results.settings:
        by_kind.setdefault(_record(one).kind, []).append(one)
    sources = by_kind.get("source", [])
    kinds = [kind for kind in KINDS if kind in by_kind]
    if len(sources) != 1 or any(one.learners != results.learners for kind in kinds for one in by_kind[kind]):
        return ()
    (source,) = sources
    return tuple(
        TargetAverage(kind, source, tuple(by_kind[kind]), _mean(kind, source, by_kind[kind])) for kind in kinds
    )


def _record(one: SettingResults) -> RecognitionRecord:
    return next(iter(one.outcomes.values()))[0].record


def _mean(kind: str, source: SettingResults, targets: Sequence[SettingResults]) -> SettingResults:
    first = targets[0]
    title = f"average over {counted(len(targets), _NOUNS[kind])}" if len(targets) > 1 else first.title
    setting = replace(source.setting, target=title) if len(targets) > 1 else first.setting
    place, groups = {"setting": title} | setting.place, _groups(targets)
    estimates = {learner: _estimate(targets, learner, groups) for learner in first.learners}
    rows = tuple(row for learner, estimate in estimates.items() for row in _results(targets, learner, estimate, place))
    return SettingResults(setting, title, first.outcomes, rows, _tests(estimates, place))


def _estimate(targets: Sequence[SettingResults], learner: str, groups) -> Estimate | None:
    """The mean over targets of the means over seeds; None where seeds were scored on different images."""
    averages = [average_over_seeds([outcome.test for outcome in one.outcomes[learner]]) for one in targets]
    return None if None in averages else mean_over_sets(averages, groups)


def _groups(targets: Sequence[SettingResults]) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each target the groups of its base and new images, numbered over all; shared base images keep theirs."""
    own = [next(iter(one.outcomes.values()))[0].test.groups for one in targets]
    beyond = 1 + max(int(side.max(initial=0)) for sides in own for side in sides)
    numbered = []
    for place, (one, (base, new)) in enumerate(zip(targets, own, strict=True), 1):
        shared = _record(one).kind == "other"
        numbered.append((base if shared else base + place * beyond, new + place * beyond))
    return numbered


def _results(
    targets: Sequence[SettingResults], learner: str, estimate: Estimate | None, place: Mapping
) -> Iterator[Result]:
    """The means of every number over the targets; seeds are joined where they are the same at every target."""
    for metric in (AUC, HM, *MEASURED.values(), *LOSSES.values()):
        if all(one.find(learner, metric.key) for one in targets):
            found = [one.result(learner, metric.key) for one in targets]
            yield _joined(found, metric, estimate if metric == AUC else None, place)
    for key in ("tuned_parameters", "fit_seconds", "score_seconds"):
        row = targets[0].result(learner, key)
        yield Result(learner, row.metric, row.value, place, row.seeds, row.per_seed)


def _joined(found: Sequence[Result], metric: Metric, estimate: Estimate | None, place: Mapping) -> Result:
    value = mean([row.value.value for row in found])
    seeds = found[0].seeds if all(row.seeds == found[0].seeds for row in found) else ()
    per_seed = tuple(mean(values) for values in zip(*(row.per_seed for row in found), strict=True)) if seeds else ()
    if value is None:
        return Result(found[0].entity, metric, Value(None, reason="it lacks a target"), place, seeds, per_seed)
    spread = over_seeds(per_seed, metric) if per_seed and None not in per_seed else Value(value)
    ends = None if estimate is None or estimate.value is None else estimate.interval()
    intervals = (*interval_of(ends, "images"), *spread.intervals)
    return Result(found[0].entity, metric, Value(value, intervals, deviation=spread.deviation), place, seeds, per_seed)


def _tests(estimates: Mapping[str, Estimate | None], place: Mapping) -> tuple[Comparison, ...]:
    """All pairs of learners by their means over the targets, corrected together (Holm, 1979)."""
    return correct_for_many(_test(one, other, estimates, place) for one, other in combinations(estimates, 2))


def _test(one: str, other: str, estimates: Mapping[str, Estimate | None], place: Mapping) -> Comparison:
    if estimates[one] is None or estimates[other] is None:
        return Comparison(one, other, AUC, None, None, "their seeds were not scored on the same images", where=place)
    return comparison_of(one, other, AUC, paired_test(estimates[one], estimates[other]), where=place)
