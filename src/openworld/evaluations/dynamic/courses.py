"""From records of dynamic scenarios to tables of curves: seeds joined, each curve compared with zero-shot's, ranks.

A table holds the learners that played one course: a scenario on one data set, against a variant, another data set or
nobody. Accuracy is averaged over the seeds first; every number of a curve is of that mean (OpenPL, section 4).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from openworld._errors import OpenworldError
from openworld.evaluations.dynamic.answers import Answers, Evidence, evidence, read_answers
from openworld.evaluations.dynamic.comparison import Comparisons, compare_on_pictures, compare_over_seeds
from openworld.metrics import (
    CriticalDifference,
    FriedmanTest,
    Robustness,
    final_ranks,
    friedman_ranks,
    friedman_test,
    nemenyi,
    robustness,
)
from openworld.report.records import protocol_records
from openworld.runs import Record

PROTOCOL = "dynamic"
SCENARIOS = {
    "emerging-classes": "emerging new classes",
    "varying-ratio": "varying ratio of new classes",
    "distribution-shift": "distribution shift",
    "co-evolution": "co-evolution of pictures and classes",
}


@dataclass(frozen=True)
class CourseKey:
    """What is played: a scenario, the data set and domain tuned on, and who takes over (None: its own new classes)."""

    scenario: str
    dataset: str
    domain: str | None
    against: str | None

    @property
    def source(self) -> str:
        """Data set and domain that are tuned on."""
        return f"{self.dataset}, {self.domain}" if self.domain else self.dataset

    @property
    def title(self) -> str:
        """Scenario and data sets in words."""
        return f"{SCENARIOS[self.scenario]}: {self.source}" + (f" → {self.against}" if self.against else "")


@dataclass(frozen=True, eq=False)
class Curve:
    """One learner on one course.

    By level, means over the seeds, None where a view holds pictures of one kind only: `base` and `new`, the accuracy on
    pictures of either kind among all names of the view, and `auroc` of base against new pictures.
    """

    learner: str
    tuned_parameters: int
    seeds: tuple[int, ...]
    robustness: Robustness
    auroc: tuple[float | None, ...]
    base: tuple[float | None, ...] = ()
    new: tuple[float | None, ...] = ()

    @property
    def per_seed(self) -> tuple[Robustness, ...]:
        """The seeds' own curves, in the order of `seeds`."""
        return self.robustness.per_seed or (self.robustness,)


@dataclass(frozen=True, eq=False)
class CourseTable:
    """The curves of one course in the order of the run; `yardstick` names zero-shot's; `views` are one record's.

    `kept` leads to what every learner named right with every seed: {learner: {seed: (record, number of the course)}}.
    """

    key: CourseKey
    levels: tuple[float, ...]
    curves: tuple[Curve, ...]
    yardstick: str
    views: tuple[dict, ...]
    kept: Mapping[str, Mapping[int, tuple["Kept", int]]]

    @property
    def accuracy(self) -> np.ndarray:
        """float64[learners, levels], means over the seeds, equal where they differ in their last bits only."""
        return np.array([curve.robustness.accuracy for curve in self.curves]).round(12)

    @cached_property
    def friedman(self) -> np.ndarray:
        """float64[learners], mean rank over the levels; 1 is best, zero-shot is ranked too."""
        return friedman_ranks(self.accuracy)

    @property
    def best(self) -> Curve:
        """The curve of the largest area."""
        return max(self.curves, key=lambda curve: curve.robustness.auc)

    @property
    def learners(self) -> tuple[str, ...]:
        """Names of the curves."""
        return tuple(curve.learner for curve in self.curves)

    @cached_property
    def answers(self) -> dict[str, dict[int, Answers | None]]:
        """{learner: {seed: what it named right}}; None where a record keeps no predictions."""
        return {
            learner: {seed: kept.answers[number] for seed, (kept, number) in runs.items()}
            for learner, runs in self.kept.items()
        }

    @cached_property
    def evidence(self) -> Evidence:
        """How far the curves would move with other pictures."""
        return evidence([self.answers])

    @cached_property
    def comparisons(self) -> Comparisons:
        """The tests of all pairs in the area under the curve, on the same pictures, with these seeds."""
        return compare_on_pictures(self.evidence, self.levels)

    @cached_property
    def comparisons_over_seeds(self) -> Comparisons:
        """The same over seeds: paired t-tests of the seeds' own areas."""
        return compare_over_seeds({curve.learner: areas_by_seed(curve) for curve in self.curves})


@dataclass(eq=False)
class Kept:
    """A record with its answers, read when first asked for."""

    record: Record
    sets: dict[str, int]

    @cached_property
    def answers(self) -> tuple[Answers | None, ...]:
        """Of every course of the record."""
        return read_answers(self.record, self.sets)


@dataclass(frozen=True, eq=False)
class Ranking:
    """The learners over all courses of one scenario: Friedman and final ranks, and tests with one block per course."""

    scenario: str
    learners: tuple[str, ...]
    friedman: tuple[float, ...]
    final: tuple[float, ...]
    courses: int
    test: FriedmanTest
    difference: CriticalDifference


@dataclass(frozen=True)
class CourseRun:
    """A run of dynamic scenarios as the report sees it; `records` know how long they took."""

    tables: tuple[CourseTable, ...]
    records: tuple[Record, ...]
    given: Any
    resolved: Any
    provenance: tuple[Mapping[str, Any], ...]


def load_courses(folder: Path | str) -> tuple[CourseTable, ...]:
    """Every course of a run, records verified, in order of first appearance.

    Raises:
        OpenworldError: when there is no run, a unit is missing or damaged, or none played a dynamic scenario.
    """
    return load_course_run(folder).tables


def load_course_run(folder: Path | str) -> CourseRun:
    """The same with what the run's description says."""
    lacking = "a dynamic scenario, so there is no curve to draw"
    records, description = protocol_records(folder, PROTOCOL, lacking)
    return CourseRun(courses(records), records, *description)


def courses(records: Iterable[Record]) -> tuple[CourseTable, ...]:
    """The same from records."""
    played: dict[CourseKey, dict[str, list[_Played]]] = {}
    sets: dict[str, int] = {}
    for record in records:
        told, kept = record.metrics, Kept(record, sets)
        for number, course in enumerate(told["courses"]):
            key = CourseKey(course["scenario"], told["dataset"], told["domain"], course["against"])
            played.setdefault(key, {}).setdefault(told["learner"], []).append(_Played(told, course, kept, number))
    order = [*SCENARIOS]
    keys = sorted(played, key=lambda key: order.index(key.scenario))
    return tuple(_table(key, played[key]) for key in keys)


def rankings(tables: Sequence[CourseTable]) -> tuple[Ranking, ...]:
    """Ranks over the courses of every scenario.

    Raises:
        OpenworldError: learners that did not all play every course of a scenario: no ranks.
    """
    scenarios = dict.fromkeys(table.key.scenario for table in tables)
    return tuple(_ranking([table for table in tables if table.key.scenario == one]) for one in scenarios)


def areas_by_seed(curve: Curve) -> dict[int, float]:
    """{seed: area under its own curve}."""
    return {seed: own.auc for seed, own in zip(curve.seeds, curve.per_seed, strict=True)}


@dataclass(frozen=True, eq=False)
class _Played:
    """What one record tells of one course."""

    told: Mapping[str, Any]
    course: Mapping[str, Any]
    kept: Kept
    number: int

    @property
    def seed(self) -> int:
        return self.told["seed"]

    @property
    def accuracy(self) -> list[float]:
        return [view["accuracy"] for view in self.course["views"]]


def _table(key: CourseKey, by_learner: dict[str, list[_Played]]) -> CourseTable:
    by_seed = {name: sorted(runs, key=lambda run: run.seed) for name, runs in by_learner.items()}
    yardstick = next((name for name, runs in by_seed.items() if runs[0].told["yardstick"]), None)
    if yardstick is None:
        raise OpenworldError(f"no zero-shot learner played {key.title}; every curve is compared with its own.")
    zero_shot = {run.seed: run.accuracy for run in by_seed[yardstick]}
    views = tuple(by_seed[yardstick][0].course["views"])
    levels = tuple(view["level"] for view in views)
    compared = {name: None if name == yardstick else zero_shot for name in by_seed}
    curves = tuple(_curve(name, runs, levels, compared[name]) for name, runs in by_seed.items())
    kept = {name: {run.seed: (run.kept, run.number) for run in runs} for name, runs in by_seed.items()}
    return CourseTable(key, levels, curves, yardstick, views, kept)


def _curve(learner: str, runs: list[_Played], levels: tuple[float, ...], zero_shot: dict | None) -> Curve:
    seeds = tuple(run.seed for run in runs)
    same = None if zero_shot is None else [zero_shot[seed] for seed in seeds]
    found = robustness(levels, [run.accuracy for run in runs], same)
    views = [run.course["views"] for run in runs]
    auroc = _means([[view["auroc"]["value"] for view in one] for one in views])
    sides = [_means([[view.get(side) for view in one] for one in views]) for side in ("base_accuracy", "new_accuracy")]
    return Curve(learner, runs[0].told["tuned_parameters"], seeds, found, auroc, *sides)


def _means(by_seed: Sequence[Sequence[float | None]]) -> tuple[float | None, ...]:
    """By level the mean over the seeds, None where any of them has none."""
    return tuple(None if None in values else float(np.mean(values)) for values in zip(*by_seed, strict=True))


def _ranking(tables: list[CourseTable]) -> Ranking:
    """Over one scenario; levels are nested views of the same pictures, so that a test takes one area per course."""
    for table in tables:
        if table.learners != tables[0].learners:
            raise OpenworldError(
                f"{tables[0].key.title} was played by {', '.join(tables[0].learners)}, and {table.key.title} by "
                f"{', '.join(table.learners)}; ranks need the same learners in every course of a scenario. Run what is "
                "missing, or report the courses apart."
            )
    means = friedman_ranks(np.concatenate([table.accuracy for table in tables], axis=1))
    areas = np.array([[curve.robustness.auc for curve in table.curves] for table in tables]).T.round(12)
    learners = tuple(curve.learner for curve in tables[0].curves)
    ranks = (tuple(means.tolist()), tuple(final_ranks(means).tolist()))
    return Ranking(tables[0].key.scenario, learners, *ranks, len(tables), friedman_test(areas), nemenyi(areas))
