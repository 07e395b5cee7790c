"""The results of dynamic scenarios: every scenario run, and the mean over the runs of each scenario.

A result at {"scenario": ...} alone is the mean over all runs of the scenario, and one at no place that over all runs.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from openworld.evaluations.dynamic.averages import Average, ScenarioFacts, average_of
from openworld.evaluations.dynamic.curves import ScenarioCurves, scenario_curves
from openworld.results import METRICS, Result, Results, RunFolder, Value, mean


@dataclass(frozen=True)
class DynamicFacts:
    """What the results of a run have in common.

    Args:
        runs: every scenario run. scenarios: the means over the runs of each scenario, or its only run.
        baseline: the learner that tunes nothing. datasets: what was tuned on. seeds: of all records.
    """

    runs: tuple[ScenarioFacts, ...]
    scenarios: tuple[ScenarioFacts, ...]
    baseline: str
    datasets: tuple[str, ...]
    seeds: tuple[int, ...]

    @property
    def learners(self) -> tuple[str, ...]:
        """Of any scenario run, in order of appearance."""
        return tuple(dict.fromkeys(name for run in self.runs for name in run.learners))


def results(run: RunFolder) -> tuple[Results, DynamicFacts]:
    """Every number of a run, and what its numbers rest on.

    Raises:
        OpenworldError: learners that were not all run on every data set of a scenario: there are no ranks.
    """
    curves = scenario_curves(run)
    alone = [Average((one,), one.key.where) for one in curves]
    names = dict.fromkeys(one.key.scenario for one in curves)
    scenarios = [average_of([one for one in curves if one.key.scenario == name]) for name in names]
    several = [average for average in scenarios if len(average.runs) > 1]
    rows = [row for average in (*several, *alone) for row in average.rows()]
    rows += [row for average in scenarios for row in average.rank_tests()]
    tests = [test for average in (*several, *alone) for test in average.tests()]
    tests += [test for average in scenarios for test in average.rank_comparisons()]
    seeds = {seed for one in curves for curve in one.curves.values() for seed in curve.seeds}
    facts = DynamicFacts(
        runs=tuple(one.facts for one in alone),
        scenarios=tuple(average.facts for average in scenarios),
        baseline=curves[0].baseline,
        datasets=tuple(dict.fromkeys(one.key.dataset for one in curves)),
        seeds=tuple(sorted(seeds)),
    )
    return Results("dynamic", (*rows, *_over_all(curves)), tuple(tests)), facts


def _over_all(curves: Sequence[ScenarioCurves]) -> Iterator[Result]:
    """The mean area over all scenario runs, of the learners of all of them."""
    for learner in curves[0].learners if len(curves) > 1 else ():
        each = [one.curves[learner].robustness for one in curves if learner in one.curves]
        if len(each) == len(curves):
            for name in ("auc", "delta_auc"):
                value = mean([getattr(curve, name) for curve in each])
                yield Result(learner, METRICS[name], Value(value, reason=each[0].reason or ""))
