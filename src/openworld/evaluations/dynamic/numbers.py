"""The numbers of robustness tables with their intervals: of one course, and means over the courses of a scenario.

Three kinds of chance are kept apart. Over pictures: others could have been taken, given these seeds (and courses).
Over seeds: class order, shots and training could have gone otherwise; Student's t on what each seed's own curves give.
Over courses: the mean might be another on other data sets; Student's t on the courses' values.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from openworld.evaluations.dynamic.answers import Evidence, evidence
from openworld.evaluations.dynamic.comparison import Comparisons, compare_on_pictures, compare_over_seeds
from openworld.evaluations.dynamic.courses import SCENARIOS, CourseTable, Ranking, areas_by_seed, rankings
from openworld.metrics import ImageInterval, SeedSpread, curve_intervals, seed_spread
from openworld.metrics.robustness import LIMITS

NUMBERS = {
    "initial_accuracy": "Acc(0)",
    "auc": "AUC",
    "worst_accuracy": "WA",
    "variation": "EVM",
    "slope_variance": "VS",
    "positive_area": "PA",
    "negative_area": "NA",
    "delta_auc": "ΔAUC",
    "delta_pn": "ΔPN",
}
LINEAR = ("initial_accuracy", "auc", "delta_auc", "delta_pn")  # the mean over courses is that of the mean curve
BENT = "a mean over courses of a number that is no mean of accuracies; every course has its own"
OTHER_LEVELS = "the courses do not have the same levels"


@dataclass(frozen=True)
class Number:
    """One cell: a fraction or None, its interval over pictures, and the seeds' own values and courses' own values.

    `seeds` is of the numbers of the seeds' own curves, whose mean is the value only for areas and accuracies; `courses`
    is None in the table of one course.
    """

    value: float | None
    images: ImageInterval
    seeds: SeedSpread
    courses: SeedSpread | None = None

    @property
    def over_images(self) -> tuple[float, float] | None:
        """95 % over pictures, given the seeds."""
        return None if self.images.low is None else (self.images.low, self.images.high)


def course_numbers(table: CourseTable) -> dict[str, dict[str, Number]]:
    """{learner: {name: Number}} of one course."""
    return {curve.learner: _of_curve(table, place) for place, curve in enumerate(table.curves)}


@dataclass(frozen=True, eq=False)
class ScenarioTable:
    """All courses of one scenario: means over them, ranks, and tests of the mean areas."""

    scenario: str
    courses: tuple[CourseTable, ...]
    ranking: Ranking

    @property
    def title(self) -> str:
        """The scenario in words, with its course where it has but one."""
        several = f"{SCENARIOS[self.scenario]}, mean of {len(self.courses)} courses"
        return several if len(self.courses) > 1 else self.courses[0].key.title

    @property
    def learners(self) -> tuple[str, ...]:
        """In the order of the run."""
        return self.courses[0].learners

    @property
    def yardstick(self) -> str:
        """What tunes nothing."""
        return self.courses[0].yardstick

    @property
    def best(self) -> str:
        """The learner of the largest mean area."""
        return max(self.learners, key=lambda learner: self.numbers[learner]["auc"].value)

    @cached_property
    def evidence(self) -> Evidence:
        """How far the means over the courses would move with other pictures."""
        if len({course.levels for course in self.courses}) > 1:
            return Evidence(None, self.learners, reason=OTHER_LEVELS)
        return evidence([course.answers for course in self.courses])

    @cached_property
    def comparisons(self) -> Comparisons:
        """The tests of all pairs in the mean area, on the same pictures, given seeds and courses."""
        return compare_on_pictures(self.evidence, self.courses[0].levels)

    @cached_property
    def comparisons_over_seeds(self) -> Comparisons:
        """The same over seeds."""
        return compare_over_seeds({learner: self._areas(learner) for learner in self.learners})

    @cached_property
    def numbers(self) -> dict[str, dict[str, Number]]:
        """{learner: {name: Number}}; of a single course its own."""
        if len(self.courses) == 1:
            return course_numbers(self.courses[0])
        each = [course_numbers(course) for course in self.courses]
        images = {learner: self._images(learner) for learner in self.learners}
        return {
            learner: {
                name: self._mean(learner, name, [one[learner][name].value for one in each], images[learner][name])
                for name in NUMBERS
            }
            for learner in self.learners
        }

    def _images(self, learner: str) -> dict[str, ImageInterval]:
        found = _intervals(self.evidence, self.courses[0].levels, learner, self.yardstick)
        return {name: found[name] if name in LINEAR else ImageInterval(None, None, BENT) for name in NUMBERS}

    def _mean(self, learner: str, name: str, values: Sequence[float | None], images: ImageInterval) -> Number:
        if None in values:
            nothing = SeedSpread(None, None, len(values), images.reason)
            return Number(None, images, nothing, nothing)
        curves = [course.curves[course.learners.index(learner)] for course in self.courses]
        same = len({curve.seeds for curve in curves}) == 1
        own = [[getattr(seed, name) for seed in curve.per_seed] for curve in curves] if same else [[]]
        over_courses = seed_spread(values, LIMITS[name])
        return Number(
            float(np.mean(values)), images, seed_spread(np.mean(own, axis=0).tolist(), LIMITS[name]), over_courses
        )

    def _areas(self, learner: str) -> dict[int, float]:
        """{seed: its mean area over the courses that it played}."""
        each = [areas_by_seed(course.curves[course.learners.index(learner)]) for course in self.courses]
        shared = [seed for seed in each[0] if all(seed in one for one in each)]
        return {seed: float(np.mean([one[seed] for one in each])) for seed in shared}


def scenario_tables(tables: Sequence[CourseTable]) -> tuple[ScenarioTable, ...]:
    """One table per scenario, in order; all learners must have played all of its courses (see `rankings`)."""
    by_scenario = {one.scenario: one for one in rankings(tables)}
    return tuple(
        ScenarioTable(name, tuple(table for table in tables if table.key.scenario == name), ranking)
        for name, ranking in by_scenario.items()
    )


def _of_curve(table: CourseTable, place: int) -> dict[str, Number]:
    curve = table.curves[place]
    found = _intervals(table.evidence, table.levels, curve.learner, table.yardstick)
    return {name: Number(_value(curve, name), found[name], curve.robustness.spread(name)) for name in NUMBERS}


def _value(curve, name: str) -> float | None:
    return getattr(curve.robustness, name)


def _intervals(found: Evidence, levels, learner: str, yardstick: str) -> dict[str, ImageInterval]:
    if found.errors is None:
        return {name: ImageInterval(None, None, found.reason) for name in NUMBERS}
    zero_shot = None if learner == yardstick else found.learners.index(yardstick)
    return curve_intervals(found.errors, levels, found.learners.index(learner), zero_shot)
