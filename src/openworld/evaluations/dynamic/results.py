"""The results of dynamic scenarios: every scenario run, and the mean over the runs of each scenario.

A result at {"scenario": ...} alone is the mean over all runs of the scenario, and one at no place that over all runs.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from openworld.evaluations.dynamic.averages import Average
from openworld.evaluations.dynamic.curves import ScenarioCurves, scenario_curves
from openworld.results import METRICS, Result, Results, RunFolder, Value, mean


@dataclass(frozen=True)
class DynamicFacts:
    """What the results of a run have in common.

    Args:
        runs: every scenario run.
        scenarios: the means over the runs of each scenario, or its only run.
    """

    runs: tuple[Average, ...]
    scenarios: tuple[Average, ...]

    @property
    def baseline(self) -> str:
        """The learner that tunes nothing."""
        return self.runs[0].first.baseline

    @property
    def datasets(self) -> tuple[str, ...]:
        """What was tuned on."""
        return tuple(dict.fromkeys(run.first.key.dataset for run in self.runs))

    @property
    def learners(self) -> tuple[str, ...]:
        """Of any scenario run, in order of appearance."""
        return tuple(dict.fromkeys(name for run in self.runs for name in run.learners))

    @property
    def seeds(self) -> tuple[int, ...]:
        """Of all records, in increasing order."""
        curves = (curve for run in self.runs for curve in run.first.curves.values())
        return tuple(sorted({seed for curve in curves for seed in curve.seeds}))


def read_results(run: RunFolder) -> tuple[Results, DynamicFacts]:
    """Return every number of a run, and what its numbers rest on.

    Raises:
        OpenworldError: learners that were not all run on every data set of a scenario: there are no ranks.
    """
    curves = scenario_curves(run)
    runs = tuple(Average((each,)) for each in curves)
    by_scenario = [
        [run for run in runs if run.scenario == name] for name in dict.fromkeys(run.scenario for run in runs)
    ]
    scenarios = tuple(Average(tuple(run.first for run in same)) if len(same) > 1 else same[0] for same in by_scenario)
    averages = (*(average for average in scenarios if average.runs > 1), *runs)
    rows = [row for average in averages for row in average.rows()]
    rows += [row for average in scenarios for row in average.rank_tests()]
    tests = [test for average in averages for test in average.tests()]
    tests += [test for average in scenarios for test in average.rank_comparisons()]
    return Results("dynamic", (*rows, *_over_all(curves)), tuple(tests)), DynamicFacts(runs, scenarios)


def _over_all(curves: Sequence[ScenarioCurves]) -> Iterator[Result]:
    """The mean area over all scenario runs, of the learners of all of them."""
    for learner in curves[0].learners if len(curves) > 1 else ():
        by_run = [run.curves[learner].robustness for run in curves if learner in run.curves]
        if len(by_run) == len(curves):
            for name in ("auc", "delta_auc"):
                value = mean([getattr(curve, name) for curve in by_run])
                yield Result(learner, METRICS[name], Value(value, reason=by_run[0].reason or ""))
