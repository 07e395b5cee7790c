"""What a run of dynamic scenarios shows: curves, accuracies by level, ranks and tests, of every run and their means.

A result at {"scenario": ...} alone is the mean over all runs of the scenario, and one at no place that over all runs.
Three kinds of chance are kept apart. Over images: others could have been taken, given these seeds (and data sets).
Over seeds: class order, shots and training could have gone otherwise; Student's t on what each seed's own curve gives.
Over data sets: the mean over the runs of a scenario might be another on others; Student's t on the runs' values.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np

from openworld import metrics
from openworld.core.errors import OpenworldError
from openworld.evaluations.dynamic.curves import OTHER_SEEDS, PLACE, ScenarioCurves, image_errors, scenario_curves
from openworld.metrics import LevelErrors, PairedTest
from openworld.metrics.estimate import share_interval
from openworld.report.layout import ENTITY, METRIC, Brief, Layout, Lines, Pivot, Ranks, Tests
from openworld.report.provenance import unit_facts
from openworld.report.report import Report
from openworld.report.sentences import counted
from openworld.results import METRICS, Result, Results, RunFolder
from openworld.results.comparison import Comparison, comparison_of, correct_for_many
from openworld.results.join import mean, mean_of, student
from openworld.results.over_datasets import ranks
from openworld.results.value import Interval, Metric, Value, interval_of

LINEAR = ("initial_accuracy", "auc", "delta_auc", "delta_pn")  # the mean over runs is that of the mean curve
AREA_RANK = Metric("area_rank", "mean rank of AUC", "fraction", 2, -1, (1.0, None))

CURVE = (
    *("auc", "delta_auc", "initial_accuracy", "worst_accuracy", "variation", "slope_variance"),
    *("positive_area", "negative_area", "delta_pn", "friedman_rank", "final_rank"),
)
LEGEND = (
    "AUC: area below the curve of accuracy. Acc(0): at the first level; WA: at the worst; EVM: mean change from level "
    "to level; VS: variance of the slope; PA and NA: areas above and below the baseline; ΔPN = PA − NA."
)

LAYOUT = Layout(
    "While the world changes",
    "auc",
    (
        Pivot("curves", "The numbers", CURVE, per=PLACE, note=LEGEND),
        Pivot(
            "levels",
            "The numbers",
            ("accuracy", "base_accuracy", "new_accuracy", "auroc"),
            rows=(METRIC, ENTITY),
            columns=("level",),
            per=PLACE,
            folded=True,
        ),
        Lines("ageing", "How does it age?", ("accuracy",), along="level", per=PLACE),
        Lines(
            "split",
            "What is lost, the old or the new?",
            ("base_accuracy", "new_accuracy", "auroc"),
            along="level",
            per=PLACE,
        ),
        Ranks("critical-difference", "Which ranks differ?", ("area_rank",), per=("scenario",)),
        Pivot("ranks", "Which ranks differ?", ("area_rank",), columns=("scenario",)),
        Pivot("friedman", "Which ranks differ?", ("friedman_p", "critical_difference"), rows=("scenario",)),
        Tests("nemenyi", "Which ranks differ?", ("area_rank",), folded=True),
        Tests("tests", "Every test", ("auc",), per=PLACE, folded=True),
        Tests(
            "over-seeds",
            "Every test, over seeds",
            of={"over": "seeds"},
            per=PLACE,
            note="Paired seed by seed, each with its own curve.",
            folded=True,
        ),
    ),
    PLACE,
)


def report(run: RunFolder) -> Report:
    results, units = read_results(run), [record.metrics for record in run.records]
    learners = tuple(dict.fromkeys(unit["learner"] for unit in units))
    baseline = next(unit["learner"] for unit in units if unit["yardstick"])
    seeds = " ".join(map(str, sorted({unit["seed"] for unit in units})))
    scenario_runs = {tuple(row.where.items()) for row in results.where(metric="auc") if "images" in row.where}
    left_out = {unit["dataset"]: len(unit["left_out"]) for unit in units if unit.get("left_out")}
    subtitle = (
        " + ".join(dict.fromkeys(unit["dataset"] for unit in units)),
        counted(len(scenario_runs), "scenario run"),
        counted(len(learners), "learner"),
        f"seeds {seeds}",
        *(f"{count} left out of {dataset}" for dataset, count in left_out.items()),
    )
    return LAYOUT.report(Brief(results, baseline, subtitle=subtitle, facts=unit_facts(run.records), run=run))


def read_results(run: RunFolder) -> Results:
    curves = scenario_curves(run)
    names = dict.fromkeys(each.where["scenario"] for each in curves)
    scenarios = [Average(tuple(each for each in curves if each.where["scenario"] == name)) for name in names]
    averages = [*(each for each in scenarios if len(each.curves) > 1), *(Average((each,)) for each in curves)]
    rows = [row for average in averages for row in average.rows()]
    rows += [row for average in scenarios for row in average.area_ranks[0]]
    tests = [test for average in averages for test in average.tests()]
    tests += [test for average in scenarios for test in average.area_ranks[1]]
    return Results("dynamic", (*rows, *_over_all(curves)), tuple(tests))


def _over_all(curves: Sequence[ScenarioCurves]) -> Iterator[Result]:
    """The mean area over all scenario runs, of the learners of all of them."""
    for learner in curves[0].learners if len(curves) > 1 else ():
        by_run = [run.curves[learner] for run in curves if learner in run.curves]
        if len(by_run) == len(curves):
            for name in ("auc", "delta_auc"):
                value = mean([getattr(curve, name) for curve in by_run])
                yield Result(learner, METRICS[name], Value(value, reason=by_run[0].reason or ""))


@dataclass(frozen=True, eq=False)
class Average:
    """Scenario runs of the same learners, of which the means are reported; of a single run its own numbers."""

    curves: tuple[ScenarioCurves, ...]

    def __post_init__(self) -> None:
        first = self.curves[0]
        for run in self.curves:
            if run.learners != first.learners:
                raise OpenworldError(
                    f"{first.title} has {', '.join(first.learners)}, and {run.title} has {', '.join(run.learners)}; "
                    "ranks need the same learners on all data sets; run what is missing, or report the runs apart."
                )

    @property
    def learners(self) -> tuple[str, ...]:
        return self.curves[0].learners

    @property
    def levels(self) -> tuple[float, ...]:
        return self.curves[0].levels

    @property
    def where(self) -> Mapping[str, str]:
        first = self.curves[0].where
        return first if len(self.curves) == 1 else {"scenario": first["scenario"]}

    @cached_property
    def errors(self) -> tuple[LevelErrors | None, str]:
        """How far the means would move with other images, or None and why that is not known."""
        return image_errors(self.curves)

    @cached_property
    def area_ranks(self) -> tuple[list[Result], list[Comparison]]:
        """Friedman's test and Nemenyi's distance, one block per run: levels are nested views of the same images."""
        areas = [[run.curves[name].auc for run in self.curves] for name in self.learners]
        return ranks(self.learners, areas, {"scenario": self.curves[0].where["scenario"]}, AREA_RANK)

    def rows(self) -> Iterator[Result]:
        """Yield the numbers of the curves, ranks over all levels of all runs, and accuracies by level."""
        over_images = {learner: self._over_images(learner) for learner in self.learners}
        for rows in zip(*(run.numbers for run in self.curves), strict=True):
            over = over_images[rows[0].entity].get(rows[0].metric.key, ())
            yield _mean_over_runs(rows, self.where, over)
        by_level = metrics.friedman_ranks(np.concatenate([run.accuracy for run in self.curves], axis=1))
        for learner, rank, final in zip(
            self.learners, by_level.tolist(), metrics.final_ranks(by_level).tolist(), strict=True
        ):
            yield Result(learner, METRICS["friedman_rank"], Value(rank), self.where)
            yield Result(learner, METRICS["final_rank"], Value(final), self.where)
        if len({run.levels for run in self.curves}) == 1:
            for rows in zip(*(run.at_levels for run in self.curves), strict=True):
                level = rows[0].where["level"]
                row = _mean_over_runs(rows, {**self.where, "level": level})
                over = self._at_level(row, level) if row.metric.key == "accuracy" else ()
                yield _mean_over_runs(rows, row.where, over)

    def tests(self) -> tuple[Comparison, ...]:
        """Return the tests of all pairs in their areas: on the same images, with these seeds; over seeds."""
        over_seeds = {**self.where, "over": "seeds"}
        return (
            *self._tests("images", self._on_images, self.where),
            *self._tests("seeds", self._over_seeds, over_seeds),
        )

    def _over_images(self, learner: str) -> dict[str, tuple[Interval, ...]]:
        """Intervals over images; of means over runs only of those that are numbers of the mean curve."""
        errors, _ = self.errors
        if errors is None:
            return {}
        baseline = self.curves[0].baseline
        zero_shot = None if learner == baseline else self.learners.index(baseline)
        intervals = metrics.curve_intervals(errors, self.levels, self.learners.index(learner), zero_shot)
        return {
            name: interval_of((over.low, over.high), "images", errors.groups)
            for name, over in intervals.items()
            if name in LINEAR or len(self.curves) == 1
        }

    def _at_level(self, row: Result, level: float) -> tuple[Interval, ...]:
        errors, _ = self.errors
        if errors is None:
            return ()
        weights = np.zeros(errors.accuracy.shape)
        weights[self.learners.index(row.entity), self.levels.index(level)] = 1.0
        return interval_of(share_interval(row.value.value, errors.spread(weights)), "images", errors.groups)

    def _tests(
        self, over: str, test: Callable[[str, str], PairedTest], where: Mapping[str, str]
    ) -> tuple[Comparison, ...]:
        pairs = combinations(self.learners, 2)
        return correct_for_many(
            comparison_of(*pair, METRICS["auc"], test(*pair), over=over, where=where) for pair in pairs
        )

    def _on_images(self, learner: str, other: str) -> PairedTest:
        errors, reason = self.errors
        if errors is None:
            return PairedTest(None, None, None, None, reason)
        return metrics.area_test(errors, self.levels, *(self.learners.index(name) for name in (learner, other)))

    def _over_seeds(self, learner: str, other: str) -> PairedTest:
        areas = [row for run in self.curves for row in run.numbers if row.metric.key == "auc"]
        ours, theirs = (mean_of([row for row in areas if row.entity == name], {}) for name in (learner, other))
        if not ours.seeds or ours.seeds != theirs.seeds:
            return PairedTest(None, None, None, None, OTHER_SEEDS)
        return metrics.seeds_test(ours.per_seed, theirs.per_seed)


def _mean_over_runs(rows: Sequence[Result], where: Mapping[str, str | float], intervals=()) -> Result:
    """The mean of the runs' values, with intervals over images, over seeds (of their own curves) and over data sets."""
    mean = mean_of(rows, where, intervals)
    over_runs = student([row.value.value for row in rows], mean.metric, "data sets")
    return replace(mean, value=replace(mean.value, intervals=(*mean.value.intervals, *over_runs)))
