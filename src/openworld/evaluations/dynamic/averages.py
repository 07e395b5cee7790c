"""The mean over scenario runs of the same learners: numbers of curves, ranks, accuracy by level, and tests of areas.

Three kinds of chance are kept apart. Over images: others could have been taken, given these seeds (and data sets).
Over seeds: class order, shots and training could have gone otherwise; Student's t on what each seed's own curve gives.
Over data sets: the mean over the runs of a scenario might be another on others; Student's t on the runs' values.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from openworld import metrics
from openworld._errors import OpenworldError
from openworld.evaluations.dynamic.curves import LearnerCurve, ScenarioCurves
from openworld.evaluations.dynamic.image_errors import OTHER_SEEDS, ImageErrors, image_errors
from openworld.evaluations.dynamic.record import SCENARIOS, ViewRecord
from openworld.metrics import ImageInterval, PairedTest
from openworld.metrics.estimate import share_interval
from openworld.results import (
    METRICS,
    Comparison,
    Interval,
    Metric,
    Result,
    Value,
    comparison_of,
    correct_for_many,
    interval_of,
    mean,
    student,
)
from openworld.results.over_datasets import RankedMethods

NUMBERS = (
    *("auc", "initial_accuracy", "worst_accuracy", "variation", "slope_variance"),
    *("positive_area", "negative_area", "delta_auc", "delta_pn"),
)
LINEAR = ("initial_accuracy", "auc", "delta_auc", "delta_pn")  # the mean over runs is that of the mean curve
BY_LEVEL: dict[str, Callable[[ViewRecord], float | None]] = {
    "accuracy": lambda view: view.accuracy,
    "base_accuracy": lambda view: view.base_accuracy,
    "new_accuracy": lambda view: view.new_accuracy,
    "auroc": lambda view: view.auroc.value,
}
ONE_KIND = "the view holds base images alone, or new ones alone"
AREA_RANK = Metric("area_rank", "mean rank of AUC", "fraction", 2, -1, (1.0, None))


@dataclass(frozen=True, eq=False)
class Average:
    """Scenario runs of the same learners, of which the means are reported; of a single run its own numbers.

    Args:
        curves: of every run.

    Raises:
        OpenworldError: runs of other learners.
    """

    curves: tuple[ScenarioCurves, ...]

    def __post_init__(self) -> None:
        for run in self.curves:
            if run.learners != self.learners:
                raise OpenworldError(
                    f"{self.first.key.title} has {', '.join(self.learners)}, and {run.key.title} has "
                    f"{', '.join(run.learners)}; ranks need the same learners on all data sets of a scenario. Run what "
                    "is missing, or report the runs apart."
                )

    @property
    def first(self) -> ScenarioCurves:
        """The first run."""
        return self.curves[0]

    @property
    def runs(self) -> int:
        """How many scenario runs there are."""
        return len(self.curves)

    @property
    def scenario(self) -> str:
        """Its name."""
        return self.first.key.scenario

    @property
    def where(self) -> dict[str, str]:
        """The place of its results."""
        return self.first.key.where if self.runs == 1 else {"scenario": self.scenario}

    @property
    def title(self) -> str:
        """Scenario and image sets in words, or of how many runs it is the mean."""
        mean_of = f"{SCENARIOS[self.scenario]}, mean of {self.runs} scenario runs"
        title = self.first.key.title if self.runs == 1 else mean_of
        return title[0].upper() + title[1:]

    @property
    def learners(self) -> tuple[str, ...]:
        """In the order of the run."""
        return self.first.learners

    @property
    def seeds(self) -> int:
        """How many seeds the baseline has in the first run."""
        return len(self.first.curves[self.first.baseline].seeds)

    @property
    def levels(self) -> tuple[float, ...]:
        """Of change, of the first run."""
        return self.first.levels

    @cached_property
    def errors(self) -> ImageErrors:
        """How far the means would move with other images."""
        return image_errors([run.answers for run in self.curves], [run.levels for run in self.curves])

    @property
    def groups(self) -> int:
        """Of images that are drawn together, how many; 0 where nothing is known over images."""
        return 0 if self.errors.errors is None else self.errors.errors.groups

    def rows(self) -> Iterator[Result]:
        """Numbers of the curves, ranks, and accuracies by level."""
        ranks = metrics.friedman_ranks(np.concatenate([run.accuracy for run in self.curves], axis=1))
        by_rank = zip(self.learners, ranks.tolist(), metrics.final_ranks(ranks).tolist(), strict=True)
        for learner in self.learners:
            yield from self._numbers(learner)
        for learner, rank, final in by_rank:
            yield Result(learner, METRICS["friedman_rank"], Value(rank), self.where)
            yield Result(learner, METRICS["final_rank"], Value(final), self.where)
        if len({run.levels for run in self.curves}) == 1:
            for learner in self.learners:
                yield from self._levels(learner)

    def tests(self) -> tuple[Comparison, ...]:
        """All pairs of learners in their areas: on the same images, with these seeds; and over seeds, on these images.

        Each of the two families is corrected by itself.
        """
        over_seeds = {**self.where, "over": "seeds"}
        return (
            *self._tests("images", self._on_images, self.where),
            *self._tests("seeds", self._over_seeds, over_seeds),
        )

    def rank_tests(self) -> Iterator[Result]:
        """Friedman's test and Nemenyi's distance, one block per run: levels are nested views of the same images."""
        return self._ranked.rows()

    def rank_comparisons(self) -> Iterator[Comparison]:
        """Nemenyi's tests of all pairs, where there are runs enough."""
        return self._ranked.tests()

    @cached_property
    def _ranked(self) -> RankedMethods:
        areas = [[run.curves[name].robustness.auc for run in self.curves] for name in self.learners]
        return RankedMethods(self.learners, np.array(areas), AREA_RANK, {"scenario": self.scenario})

    def _curves(self, learner: str) -> list[LearnerCurve]:
        return [run.curves[learner] for run in self.curves]

    def _by_seed(self, learner: str, number: Callable[[LearnerCurve, int], float | None]) -> dict[int, float | None]:
        """{seed: the mean over the runs of a number of its own curve}; empty where the runs have other seeds."""
        curves = self._curves(learner)
        if len({curve.seeds for curve in curves}) > 1:
            return {}
        seeds = enumerate(curves[0].seeds)
        return {seed: mean([number(curve, place) for curve in curves]) for place, seed in seeds}

    def _numbers(self, learner: str) -> Iterator[Result]:
        over_images = self._over_images(learner)
        for name in NUMBERS:
            values = [getattr(curve.robustness, name) for curve in self._curves(learner)]
            by_seed = self._by_seed(learner, lambda curve, place, name=name: getattr(curve.per_seed[place], name))
            over = over_images.get(name)
            intervals = interval_of(over and (over.low, over.high), "images", self.groups)
            reason = self._curves(learner)[0].robustness.reason or ""
            yield _result(learner, METRICS[name], values, by_seed, self.where, intervals, reason)

    def _over_images(self, learner: str) -> dict[str, ImageInterval]:
        """Intervals over images; of means over runs only of those that are numbers of the mean curve."""
        if self.errors.errors is None:
            return {}
        baseline = None if learner == self.first.baseline else self.learners.index(self.first.baseline)
        intervals = metrics.curve_intervals(self.errors.errors, self.levels, self.learners.index(learner), baseline)
        return {name: intervals[name] for name in NUMBERS if name in LINEAR or self.runs == 1}

    def _levels(self, learner: str) -> Iterator[Result]:
        for name, number in BY_LEVEL.items():
            for at, level in enumerate(self.levels):
                by_seed = self._by_seed(learner, lambda curve, place, at=at, of=number: of(curve.views[place][at]))
                values = [mean([number(views[at]) for views in curve.views]) for curve in self._curves(learner)]
                intervals = self._at_level(learner, at, mean(values)) if name == "accuracy" else ()
                where = {**self.where, "level": level}
                yield _result(learner, METRICS[name], values, by_seed, where, intervals, ONE_KIND)

    def _at_level(self, learner: str, at: int, value: float) -> tuple[Interval, ...]:
        if self.errors.errors is None:
            return ()
        weights = np.zeros(self.errors.errors.accuracy.shape)
        weights[self.learners.index(learner), at] = 1.0
        return interval_of(share_interval(value, self.errors.errors.spread(weights)), "images", self.groups)

    def _tests(
        self, over: str, test: Callable[[str, str], PairedTest], where: Mapping[str, str]
    ) -> tuple[Comparison, ...]:
        pairs = combinations(self.learners, 2)
        return correct_for_many(
            comparison_of(*pair, METRICS["auc"], test(*pair), over=over, where=where) for pair in pairs
        )

    def _on_images(self, learner: str, other: str) -> PairedTest:
        if self.errors.errors is None:
            return PairedTest(None, None, None, None, self.errors.reason)
        rows = (self.learners.index(name) for name in (learner, other))
        return metrics.area_test(self.errors.errors, self.levels, *rows)

    def _over_seeds(self, learner: str, other: str) -> PairedTest:
        first, second = (
            self._by_seed(name, lambda curve, place: curve.per_seed[place].auc) for name in (learner, other)
        )
        if not first or first.keys() != second.keys():
            return PairedTest(None, None, None, None, OTHER_SEEDS)
        return metrics.seeds_test(list(first.values()), list(second.values()))


def _result(
    learner: str,
    metric: Metric,
    values: Sequence[float | None],
    by_seed: Mapping[int, float | None],
    where: Mapping[str, str | float],
    intervals: tuple[Interval, ...],
    reason: str,
) -> Result:
    """The mean of the runs' values, with intervals over images, over seeds (of their own curves) and over data sets."""
    value, per_seed = mean(values), tuple(by_seed.values())
    if value is None:
        return Result(learner, metric, Value(None, reason=reason), where)
    if None in per_seed:
        by_seed, per_seed = {}, ()
    intervals = (*intervals, *student(per_seed, metric), *student(values, metric, "data sets"))
    deviation = metrics.seed_spread(per_seed).std if len(per_seed) > 1 else None
    return Result(learner, metric, Value(value, intervals, deviation=deviation), where, tuple(by_seed), per_seed)
