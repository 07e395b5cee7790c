"""From records of dynamic scenarios to Dynamic Robustness Curves: seeds joined, compared with the baseline's.

Accuracy is averaged over the seeds first; every number of a curve is of that mean (OpenPL, section 4).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from openworld._errors import OpenworldError
from openworld.evaluations.dynamic.image_errors import ViewAnswers, read_answers
from openworld.evaluations.dynamic.record import SCENARIOS, DynamicRecord, ScenarioRecord, ViewRecord
from openworld.metrics import Robustness, robustness
from openworld.results import RunFolder


@dataclass(frozen=True)
class ScenarioKey:
    """A scenario, the data set that learners were tuned on, alone and with its domain, and what takes over, if any."""

    scenario: str
    dataset: str
    source: str
    against: str | None

    @property
    def title(self) -> str:
        """Scenario and image sets in words."""
        return f"{SCENARIOS[self.scenario]}: {self.source}" + (f" → {self.against}" if self.against else "")

    @property
    def newcomer(self) -> str:
        """The image set whose classes or images are new."""
        return f"→ {self.against}" if self.against else self.source

    @property
    def where(self) -> dict[str, str]:
        """What tells its results apart."""
        target = {"target": self.against} if self.against else {}
        return {"scenario": self.scenario, "images": self.source} | target


@dataclass(frozen=True, eq=False)
class LearnerCurve:
    """One learner in one scenario run: the mean curve with its numbers, and of every seed the views."""

    seeds: tuple[int, ...]
    robustness: Robustness
    views: tuple[tuple[ViewRecord, ...], ...]

    @property
    def per_seed(self) -> tuple[Robustness, ...]:
        """The seeds' own curves, in the order of `seeds`."""
        return self.robustness.per_seed or (self.robustness,)


@dataclass(frozen=True, eq=False)
class ScenarioCurves:
    """One scenario run: the curves by learner, in the order of the run.

    Args:
        key: which scenario, on what.
        levels: of change, increasing.
        curves: {learner: its curve}.
        baseline: the learner that tunes nothing, with which every other is compared.
        answers: {learner: {seed: what it named right}}.
    """

    key: ScenarioKey
    levels: tuple[float, ...]
    curves: Mapping[str, LearnerCurve]
    baseline: str
    answers: Mapping[str, Mapping[int, ViewAnswers | None]]

    @property
    def learners(self) -> tuple[str, ...]:
        """In the order of the run."""
        return tuple(self.curves)

    @cached_property
    def accuracy(self) -> np.ndarray:
        """float64[learners, levels], means over the seeds, equal where they differ in their last bits only."""
        return np.array([curve.robustness.accuracy for curve in self.curves.values()]).round(12)


UnitRun = tuple[DynamicRecord, ScenarioRecord, ViewAnswers | None]
"""One scenario run of one learner with one seed."""


def scenario_curves(run: RunFolder) -> tuple[ScenarioCurves, ...]:
    """Join the records of every scenario run, in the order of the paper's scenarios.

    Raises:
        OpenworldError: records of another evaluation, or a scenario run without zero-shot CLIP.
    """
    by_key: dict[ScenarioKey, dict[str, list[UnitRun]]] = {}
    for record, metrics in zip(run.records, run.metrics(DynamicRecord), strict=True):
        for scenario_run, answers in zip(metrics.courses, read_answers(record, metrics), strict=True):
            key = ScenarioKey(scenario_run.scenario, metrics.dataset, metrics.source, scenario_run.against)
            by_key.setdefault(key, {}).setdefault(metrics.learner, []).append((metrics, scenario_run, answers))
    order = list(SCENARIOS)
    return tuple(_join(key, by_key[key]) for key in sorted(by_key, key=lambda key: order.index(key.scenario)))


def _join(key: ScenarioKey, by_learner: Mapping[str, list[UnitRun]]) -> ScenarioCurves:
    by_seed = {name: sorted(units, key=lambda unit: unit[0].seed) for name, units in by_learner.items()}
    baseline = next((name for name, units in by_seed.items() if units[0][0].yardstick), None)
    if baseline is None:
        raise OpenworldError(f"no zero-shot learner was run in {key.title}; every curve is compared with its own.")
    zero_shot = {metrics.seed: _accuracy(run) for metrics, run, _ in by_seed[baseline]}
    levels = tuple(view.level for view in by_seed[baseline][0][1].views)
    curves, answers = {}, {}
    for name, units in by_seed.items():
        seeds = tuple(metrics.seed for metrics, _, _ in units)
        compared = None if name == baseline else [zero_shot[seed] for seed in seeds]
        curve = robustness(levels, [_accuracy(run) for _, run, _ in units], compared)
        curves[name] = LearnerCurve(seeds, curve, tuple(run.views for _, run, _ in units))
        answers[name] = {metrics.seed: answer for metrics, _, answer in units}
    return ScenarioCurves(key, levels, curves, baseline, answers)


def _accuracy(run: ScenarioRecord) -> list[float]:
    return [view.accuracy for view in run.views]
