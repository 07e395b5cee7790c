"""How far what was tuned carries: means over the targets of one kind, with their tests.

The source is no target of its own: it is what the targets are compared with. Images that targets share, such as the
source's base images beside the new classes of several data sets, count once in the interval of the mean.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from openworld.evaluations.recognition.comparison import AUC, Place, average_over_seeds
from openworld.evaluations.recognition.results import RecognitionResults, SettingResults
from openworld.metrics import MetricEstimate, mean_over_sets, paired_test
from openworld.report.sentences import counted
from openworld.results import Comparison, Result, Results, comparison_of, correct_for_many, interval_of
from openworld.results.join import mean_of

NOUNS = {"variant": "variant", "other": "other data set"}
"""Kind of target -> what targets of it are called."""

ONCE = ("tuned_parameters", "fit_seconds", "score_seconds")
"""What is the same at every target, or nearly."""


@dataclass(frozen=True, eq=False)
class TargetMean:
    """The targets of one kind: the results on each, their means, and the tests between these."""

    kind: str  # a key of NOUNS
    source: SettingResults  # the results on what was tuned on
    targets: tuple[SettingResults, ...]  # in the order of the run
    results: Results  # means over the targets

    @property
    def counted(self) -> str:
        """How many targets there are, such as "2 other data sets"."""
        return counted(len(self.targets), NOUNS[self.kind])


def target_means(results: RecognitionResults) -> tuple[TargetMean, ...]:
    """Return the means over every kind of target of a run of generalisation; () where learners lack targets."""
    by_kind: dict[str | None, list[SettingResults]] = {}
    for setting in results.settings:
        by_kind.setdefault(setting.first.facts.get("kind"), []).append(setting)
    sources = by_kind.get("source", [])
    targets = {kind: tuple(by_kind[kind]) for kind in NOUNS if kind in by_kind}
    complete = all(target.learners == results.learners for settings in targets.values() for target in settings)
    if len(sources) != 1 or not complete:
        return ()
    return tuple(TargetMean(kind, sources[0], each, _mean(kind, each)) for kind, each in targets.items())


def _mean(kind: str, targets: Sequence[SettingResults]) -> Results:
    place, groups = {"setting": f"mean over {counted(len(targets), NOUNS[kind])}"}, _groups(targets)
    estimates = {learner: _estimate(targets, learner, groups) for learner in targets[0].learners}
    rows = [row for learner, estimate in estimates.items() for row in _results(targets, learner, estimate, place)]
    tests = correct_for_many(_test(*pair, estimates, place) for pair in combinations(estimates, 2))
    return Results("generalisation", tuple(rows), tests)


def _estimate(targets: Sequence[SettingResults], learner: str, groups) -> MetricEstimate | None:
    """The mean over targets of the means over seeds; None where seeds were scored on different images."""
    averages = [average_over_seeds([outcome.test for outcome in target.outcomes[learner]]) for target in targets]
    return None if None in averages else mean_over_sets(averages, groups)


def _groups(targets: Sequence[SettingResults]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return each target's groups of base and new images, numbered over all; shared base images keep theirs."""
    pairs = [target.first.test.groups for target in targets]
    beyond = 1 + max(int(side.max(initial=0)) for pair in pairs for side in pair)
    shared = targets[0].first.facts["kind"] == "other"
    return [
        (base if shared else base + place * beyond, new + place * beyond) for place, (base, new) in enumerate(pairs, 1)
    ]


def _results(
    targets: Sequence[SettingResults], learner: str, estimate: MetricEstimate | None, place: Place
) -> Iterator[Result]:
    """The means of every number over the targets; seeds are joined where they are the same at every target."""
    for row in targets[0].results.where(entity=learner):
        key = row.metric.key
        if row.where != targets[0].place or not all(target.find(learner, key) for target in targets):
            continue
        if key in ONCE:
            yield replace(row, where=place)
        else:
            over_images = interval_of(estimate and estimate.interval(), "images") if row.metric == AUC else ()
            yield mean_of([target.result(learner, key) for target in targets], place, over_images)


def _test(learner: str, other: str, estimates: Mapping[str, MetricEstimate | None], place: Place) -> Comparison:
    pair = estimates[learner], estimates[other]
    if None in pair:
        reason = "their seeds were not scored on the same images"
        return Comparison(learner, other, AUC, None, None, reason, where=place)
    return comparison_of(learner, other, AUC, paired_test(*pair), where=place)
