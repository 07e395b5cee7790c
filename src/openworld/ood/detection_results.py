"""Every number that comes of detectors' scores of in-distribution images and of named sets of others.

Of each out-of-distribution set, and of the mean over the sets of a group (each counting the same, as OpenOOD v1.5
does): AUROC, FPR@95 and AUPR in both conventions, with 95 % intervals over images, and the detectors tested against the
best, paired, since all of them answer the same images.

A run has them by unit, a model with a seed each: `ModelRun`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import comb
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from openworld.core.errors import present
from openworld.metrics import MetricEstimate, auroc, detection_metrics, mean_over_sets, paired_test
from openworld.metrics.detection_intervals import METRICS as RESAMPLED
from openworld.metrics.detection_intervals import draw_counts, resampled
from openworld.metrics.estimate import correlation
from openworld.ood.scored_sets import FULL, GROUPS, OTHER_CLASSES, SAME_CLASSES, ScoredSets, SetScores
from openworld.results import (
    METRICS,
    Comparison,
    Metric,
    Result,
    Results,
    RunFolder,
    Value,
    against_chance,
    comparison_of,
    correct_for_many,
    interval_of,
)
from openworld.results.standing import SAME_DIGITS

if TYPE_CHECKING:
    from openworld.runs import Record

SHIFT_SEEN = Metric("shift_seen", "shift seen", better=0)
"""AUROC of in-distribution test images against images of the same classes in another appearance."""

NO_STREAM = "its scores depend on the order, and no stream held the full spectrum"

REPLICATES = 200


def detection_results(sets: ScoredSets, *, replicates: int = REPLICATES, seed: int = 0, tests: bool = True) -> Results:
    """Return every number with its interval, and the tests."""
    groups = list(_groups(sets))
    rows = [row for group in groups for row in group.rows(replicates, seed)]
    return Results("ood-benchmark", tuple(rows), _tests(groups) if tests else ())


def detection_tests(sets: ScoredSets) -> tuple[Comparison, ...]:
    """Return the tests alone: at every place the best detector against every other, and all against chance."""
    return _tests(list(_groups(sets)))


def _tests(groups: Sequence["_Group"]) -> tuple[Comparison, ...]:
    # Those against chance are one family, of the means over the sets of each group.
    from scipy.linalg import block_diag

    groups = [group for group in groups if group.group in OTHER_CLASSES]
    tests, rows, blocks = [test for group in groups for test in group.tests()], [], []
    for group in groups:
        if "in_distribution" not in group.where:
            means = {name: areas[-1] for name, areas in group.areas.items()}
            rows += [
                Result(name, METRICS["auroc"], _value(mean.value, mean.interval()), group.where)
                for name, mean in means.items()
            ]
            blocks.append(correlation(tuple(means.values())))
    # Groups share the test images alone; taken as if they shared nothing, which claims less.
    have_blocks = blocks and all(block is not None for block in blocks)
    joint = block_diag(*blocks) if have_blocks else None
    return (*tests, *against_chance(rows, joint))


def _groups(sets: ScoredSets) -> Iterator["_Group"]:
    """Yield the groups against the test images, then those of other classes against the full spectrum."""
    for inside in filter(None, (sets.test, sets.spectrum)):
        whole = inside is sets.spectrum
        where = {"in_distribution": FULL} if whole else {}
        for group in OTHER_CLASSES if whole else GROUPS:
            if sets.of(group):
                alone = sets.sequential if whole else ()
                yield _Group(inside, group, sets.of(group), {"group": group, **where}, alone)


@dataclass(frozen=True, eq=False)
class _Group:
    """The sets of a group against the in-distribution images; `left_out` detectors have no number there."""

    inside: SetScores
    group: str
    sets: tuple[SetScores, ...]
    where: Mapping[str, str]
    left_out: tuple[str, ...] = ()

    def pair(self, name: str, other: SetScores) -> tuple[np.ndarray, np.ndarray]:
        """A detector's scores of the in-distribution images, in the stream with a set where it has one, and of it."""
        return other.inside.get(name, self.inside.scores[name]), other.scores[name]

    @cached_property
    def areas(self) -> dict[str, list[MetricEstimate]]:
        """AUROC by detector, set by set, and last their mean."""
        found = {}
        for name in self.inside.scores:
            if name in self.left_out:
                continue
            each = [
                auroc(*self.pair(name, other), in_groups=self.inside.clusters, out_groups=other.clusters)
                for other in self.sets
            ]
            clusters = [(self.inside.clusters, other.clusters) for other in self.sets]
            found[name] = [*each, mean_over_sets(each, clusters)]
        return found

    @property
    def places(self) -> list[dict[str, str]]:
        return [*({**self.where, "set": other.name} for other in self.sets), dict(self.where)]

    def rows(self, replicates: int, seed: int) -> Iterator[Result]:
        counts = draw_counts([self.inside.clusters, *(each.clusters for each in self.sets)], replicates, seed)
        metric = SHIFT_SEEN if self.group in SAME_CLASSES else METRICS["auroc"]
        for name, estimates in self.areas.items():
            for estimate, where in zip(estimates, self.places, strict=True):
                yield Result(name, metric, _value(estimate.value, estimate.interval()), where)
            if self.group in OTHER_CLASSES:
                yield from self._rates(name, counts)
        for name in self.left_out:
            for where in self.places:
                for card in (metric, *(METRICS[key] for key in RESAMPLED)):
                    yield Result(name, card, Value(None, reason=NO_STREAM), where)
        for other in self.sets:
            yield Result("", METRICS["images"], Value(len(other)), {**self.where, "set": other.name})

    def _rates(self, name: str, counts: Sequence[np.ndarray]) -> Iterator[Result]:
        reports = [detection_metrics(*self.pair(name, other)) for other in self.sets]
        drawn = [
            resampled(*self.pair(name, other), counts[0], own) if len(own) else {}
            for other, own in zip(self.sets, counts[1:], strict=True)
        ]
        for key in RESAMPLED:
            values = [getattr(report, key) for report in reports]
            replicates = [each.get(key, np.zeros(0)) for each in drawn]
            numbers = zip([*values, float(np.mean(values))], [*replicates, np.mean(replicates, axis=0)], strict=True)
            for (value, own), where in zip(numbers, self.places, strict=True):
                own = own[~np.isnan(own)]
                ends = tuple(np.quantile(own, (0.025, 0.975)).tolist()) if len(own) > 1 else None
                yield Result(name, METRICS[key], _value(value, ends), where)

    def tests(self) -> Iterator[Comparison]:
        """Yield the tests of the best detector against every other, by AUROC; those of one place are one family."""
        for place, where in enumerate(self.places if self.areas else ()):
            areas = {name: each[place] for name, each in self.areas.items()}

            def test(best: str, other: str, areas=areas, where=where) -> Comparison:
                paired = paired_test(areas[best], areas[other])
                return comparison_of(best, other, METRICS["auroc"], paired, where=where)

            yield from tests_of_best({name: area.value for name, area in areas.items()}, test)


def tests_of_best(
    values: Mapping[Any, float | None], compare: Callable[[Any, Any], Comparison]
) -> Iterable[Comparison]:
    """Return the tests of the best of several against every other, corrected as some of all pairs."""
    measured = {each: value for each, value in values.items() if value is not None}
    ranked = sorted(measured, key=lambda each: -round(measured[each], SAME_DIGITS))
    return correct_for_many((compare(ranked[0], other) for other in ranked[1:]), among=comb(len(measured), 2))


def _value(number: float | None, ends: tuple[float, float] | None) -> Value:
    if number is None:
        return Value(None, reason="a side has no image")
    return Value(float(number), interval_of(ends, "images"))


@dataclass(frozen=True, eq=False)
class ModelUnit:
    """A model with a seed: what it was, its rows by label of detector, and its record if it has one."""

    facts: Mapping[str, Any]
    rows: Results
    errors: Mapping[str, Any] = field(default_factory=dict)
    stored: "Record | None" = None

    @property
    def model(self) -> str:
        return self.facts["model"]

    @property
    def record(self) -> "Record":
        """Its record; refuse a unit of scores alone."""
        return present(self.stored, f"the record of {self.model}")


@dataclass(frozen=True, eq=False)
class ModelRun:
    """The units of a run, models in the order of its spec, seeds in increasing order."""

    units: tuple[ModelUnit, ...]
    spec: Mapping[str, Any]  # as resolved; of scores that came without a model what reports look at

    @staticmethod
    def errors_of(record: "Record") -> Mapping[str, Any]:
        """Return the errors of a unit's numbers over images, where rows alone do not do."""
        return {}

    @classmethod
    def read(cls, run: RunFolder) -> Self:
        from openworld.evaluations.rows import read_rows  # which tables of scores do without

        units = [ModelUnit(record.metrics, read_rows(record), cls.errors_of(record), record) for record in run.records]
        order = [model.get("label") for model in (run.resolved or {}).get("models", ())] + [own.model for own in units]
        units.sort(key=lambda unit: (order.index(unit.model), unit.facts["seed"]))
        return cls(tuple(units), run.resolved or {})

    @cached_property
    def models(self) -> dict[str, tuple[ModelUnit, ...]]:
        """The units of every model, by its label."""
        names = dict.fromkeys(unit.model for unit in self.units)
        return {name: tuple(unit for unit in self.units if unit.model == name) for name in names}

    def title(self, model: str, detector: str) -> str:
        """A detector, with its model where there are several."""
        return f"{detector} of {model}" if len(self.models) > 1 else detector

    def titled_rows(self) -> list[list[Result]]:
        """The rows of every unit, those of detectors by their titles."""
        return [
            [
                row
                if row.metric == METRICS["accuracy"] or not row.entity
                else replace(row, entity=self.title(unit.model, row.entity))
                for row in unit.rows
            ]
            for unit in self.units
        ]

    def provenance(self) -> Iterator[tuple[str, str]]:
        """Yield what records say of training and of detectors that are known to fail."""
        from openworld.report.learner_facts import LearnerFacts
        from openworld.runs import read_spec

        for unit in self.units:
            name = f"{unit.model}, seed {unit.facts['seed']}"
            if unit.facts["learner"]:
                training, settings = read_spec(unit.facts["learner"], LearnerFacts).sentences()
                yield f"training, {name}", training
                yield f"settings, {name}", settings
            for warning in unit.facts["warnings"]:
                yield f"warning, {name}", warning
