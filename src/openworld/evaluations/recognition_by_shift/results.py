"""The results of recognition by shift: the rows of its units joined over seeds, tests, and the errors of estimates.

The interval over images of a mean over seeds does not follow from those of the seeds: it is made anew from the images
that the records keep. Against all new images every learner is tested against every other; at every level against the
baseline, on the same images, corrected over all learners and levels of an axis and kind of base images.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from openworld.evaluations.recognition_by_shift.estimation_results import accuracy_errors, open_world_errors
from openworld.evaluations.recognition_by_shift.quantities import ALARM, AUC, BY_LEVEL, NEAR, PARTS, SAME
from openworld.evaluations.rows import rows_of_run
from openworld.metrics import OpenworldAUC, SeedAverage, average, openworld_auc, paired_test
from openworld.results import (
    Comparison,
    Interval,
    Result,
    Results,
    RunFolder,
    Value,
    comparison_of,
    correct_for_many,
    interval_of,
    join_seeds,
    mean,
)
from openworld.runs import Record


def baseline_of(run: RunFolder) -> str:
    """Return the learner that tunes nothing; "" where there is none."""
    return next((record.metrics["learner"] for record in run.records if not record.metrics["tuned_parameters"]), "")


def read_results(run: RunFolder) -> Results:
    """Return every number of a run."""
    by_learner: dict[str, list[Record]] = {}
    for record in sorted(run.records, key=lambda record: record.metrics["seed"]):
        by_learner.setdefault(record.metrics["learner"], []).append(record)
    learners = [*dict.fromkeys(record.metrics["learner"] for record in run.records)]
    areas = _Areas({name: [_Images.read(record) for record in by_learner[name]] for name in learners})

    rows = [_alarm(row) if row.metric == ALARM else row for row in join_seeds(rows_of_run(run), areas.over_images)]
    known = Results("recognition-by-shift", tuple(rows))
    errors = (*accuracy_errors(known), *open_world_errors(known))

    here = {"view": NEAR}
    tests = [*_tests(areas, combinations(learners, 2), [here])]
    baseline = baseline_of(run)
    pairs = [(name, baseline) for name in learners if name != baseline] if baseline else []
    for view, axis in BY_LEVEL:
        levels = known.where(entity=learners[0], metric=AUC.key, view=view, axis=axis)
        tests += _tests(areas, pairs, [row.where for row in levels if row.value.value is not None])
    return Results("recognition-by-shift", (*rows, *errors), tuple(tests))


def _alarm(row: Result) -> Result:
    """The share of the seeds where it is known whether the alarm stands."""
    known = [value for value in row.per_seed if value is not None]
    return Result(row.entity, ALARM, Value(mean(known), reason="" if known else row.value.reason), row.where)


def _tests(areas: "_Areas", pairs, places: Sequence[Mapping]) -> Sequence[Comparison]:
    """Pairs of learners in OpenworldAUC at some places, corrected together."""
    return correct_for_many(
        comparison_of(name, other, AUC, paired_test(areas.at(name, where), areas.at(other, where)), where=where)
        for name, other in pairs
        for where in places
    )


@dataclass(frozen=True, eq=False)
class _Images:
    """The images of one record: base test images, and the pool's, by column."""

    base: Mapping[str, np.ndarray]
    pool: Mapping[str, np.ndarray]

    @classmethod
    def read(cls, record: Record) -> "_Images":
        tables = (record.table(name) for name in ("base", "pool"))
        return cls(*({key: np.asarray(column) for key, column in table.items()} for table in tables))

    def score(self, where: Mapping) -> OpenworldAUC:
        """The new images of a place against all base test images, or against base images of the pool there."""
        new = self.pool["side"] == "new"
        members = self.pool[f"{where['axis']}_level"] == where["level"] if "axis" in where else np.ones_like(new)
        chosen = {name: self.pool[name][members & new] for name in ("score", "correct", "group")}
        if where["view"] == SAME:
            beside = {name: self.pool[name][members & ~new] for name in chosen}
        else:
            beside = self.base
            chosen["group"] = chosen["group"] + int(beside["group"].max(initial=-1)) + 1  # another image set
        groups = {"base_groups": beside["group"], "new_groups": chosen["group"]}
        return openworld_auc(beside["score"], beside["correct"], chosen["score"], chosen["correct"], **groups)


@dataclass(frozen=True, eq=False)
class _Areas:
    """OpenworldAUC of learners from their images, seeds in increasing order: means over the seeds."""

    images: Mapping[str, Sequence[_Images]]
    made: dict[tuple, SeedAverage] = field(default_factory=dict)

    def at(self, learner: str, where: Mapping) -> SeedAverage:
        """The mean over the seeds at a place, made once."""
        key = learner, tuple(where.items())
        if key not in self.made:
            self.made[key] = average([seed.score(where) for seed in self.images[learner]])
        return self.made[key]

    def over_images(self, row: Result) -> tuple[Interval, ...] | None:
        """The intervals over images of a learner's row at a level or overall; None for others."""
        if row.metric.key not in PARTS or not row.where.keys() <= {"view", "axis", "level"}:
            return None
        if row.value.value is None:
            return ()
        areas = self.at(row.entity, row.where)
        n = areas.results[0].n_base + areas.results[0].n_new
        return interval_of(areas.estimate(row.metric.key).interval(), "images", n)
