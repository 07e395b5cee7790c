"""From records of dynamic scenarios to tables of curves: seeds joined, each curve compared with zero-shot's, ranks.

A table holds the learners that played one course: a scenario on one data set, against a variant, another data set or
nobody. Accuracy is averaged over the seeds first; every number of a curve is of that mean (OpenPL, section 4).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from openworld._errors import OpenworldError
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
from openworld.runs import Record, RunStore

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
    def title(self) -> str:
        """Scenario and data sets in words."""
        place = f"{self.dataset}, {self.domain}" if self.domain else self.dataset
        return f"{SCENARIOS[self.scenario]}: {place}" + (f" → {self.against}" if self.against else "")


@dataclass(frozen=True, eq=False)
class Curve:
    """One learner on one course; `auroc`: base against new pictures by level, mean over seeds, None where undefined."""

    learner: str
    tuned_parameters: int
    seeds: tuple[int, ...]
    robustness: Robustness
    auroc: tuple[float | None, ...]


@dataclass(frozen=True, eq=False)
class CourseTable:
    """The curves of one course in the order of the run; `yardstick` names zero-shot's; `views` are one record's."""

    key: CourseKey
    levels: tuple[float, ...]
    curves: tuple[Curve, ...]
    yardstick: str
    views: tuple[dict, ...]

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


def load_courses(folder: Path | str) -> tuple[CourseTable, ...]:
    """Every course of a run, records verified, in order of first appearance.

    Raises:
        OpenworldError: when there is no run, a unit is missing or damaged, or none played a dynamic scenario.
    """
    records = [one for one in RunStore(folder).records() if one.metrics.get("protocol") == "dynamic"]
    if not records:
        raise OpenworldError(f"{folder} holds no record of a dynamic scenario, so there is no curve to draw.")
    return courses(records)


def played_courses(folder: Path | str) -> bool:
    """Whether a folder holds a run of dynamic scenarios, whole or not."""
    resolved = RunStore(folder).description()["resolved"]
    return isinstance(resolved, dict) and resolved.get("protocol") == "dynamic"


def courses(records: Iterable[Record]) -> tuple[CourseTable, ...]:
    """The same from records."""
    played: dict[CourseKey, dict[str, list[tuple[dict, dict]]]] = {}
    for record in records:
        told = record.metrics
        for course in told["courses"]:
            key = CourseKey(course["scenario"], told["dataset"], told["domain"], course["against"])
            played.setdefault(key, {}).setdefault(told["learner"], []).append((told, course))
    order = [*SCENARIOS]
    keys = sorted(played, key=lambda key: order.index(key.scenario))
    return tuple(_table(key, played[key]) for key in keys)


def rankings(tables: Sequence[CourseTable]) -> tuple[Ranking, ...]:
    """Ranks over the courses of every scenario, for scenarios that all learners played in full."""
    scenarios = dict.fromkeys(table.key.scenario for table in tables)
    return tuple(_ranking([table for table in tables if table.key.scenario == one]) for one in scenarios)


def _table(key: CourseKey, by_learner: dict[str, list[tuple[dict, dict]]]) -> CourseTable:
    by_seed = {name: sorted(runs, key=lambda run: run[0]["seed"]) for name, runs in by_learner.items()}
    yardstick = next((name for name, runs in by_seed.items() if runs[0][0]["yardstick"]), None)
    if yardstick is None:
        raise OpenworldError(f"no zero-shot learner played {key.title}; every curve is compared with its own.")
    zero_shot = {told["seed"]: _accuracy(course) for told, course in by_seed[yardstick]}
    views = tuple(by_seed[yardstick][0][1]["views"])
    levels = tuple(view["level"] for view in views)
    compared = {name: None if name == yardstick else zero_shot for name in by_seed}
    curves = tuple(_curve(name, runs, levels, compared[name]) for name, runs in by_seed.items())
    return CourseTable(key, levels, curves, yardstick, views)


def _curve(learner: str, runs: list[tuple[dict, dict]], levels: tuple[float, ...], zero_shot: dict | None) -> Curve:
    seeds = tuple(told["seed"] for told, _ in runs)
    same = None if zero_shot is None else [zero_shot[seed] for seed in seeds]
    found = robustness(levels, [_accuracy(course) for _, course in runs], same)
    scores = zip(*([view["auroc"]["value"] for view in course["views"]] for _, course in runs), strict=True)
    auroc = tuple(None if None in values else float(np.mean(values)) for values in scores)
    return Curve(learner, runs[0][0]["tuned_parameters"], seeds, found, auroc)


def _accuracy(course: dict) -> list[float]:
    return [view["accuracy"] for view in course["views"]]


def _ranking(tables: list[CourseTable]) -> Ranking:
    """Over one scenario; levels are nested views of the same pictures, so that a test takes one area per course."""
    means = friedman_ranks(np.stack([table.accuracy for table in tables], axis=1))
    areas = np.array([[curve.robustness.auc for curve in table.curves] for table in tables]).T.round(12)
    learners = tuple(curve.learner for curve in tables[0].curves)
    ranks = (tuple(means.tolist()), tuple(final_ranks(means).tolist()))
    return Ranking(tables[0].key.scenario, learners, *ranks, len(tables), friedman_test(areas), nemenyi(areas))
