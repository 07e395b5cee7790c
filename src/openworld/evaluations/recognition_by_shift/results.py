"""The results of recognition by shift: OpenworldAUC and its parts overall, by level and by cell, and every estimate.

Averages by level are made anew from the images of the records: the interval over images of a mean over seeds does not
follow from those of the seeds. Against all new images every learner is tested against every other; at every level
against the baseline, on the same images, corrected over all learners and levels of an axis and kind of base images.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from openworld.evaluations.recognition_by_shift.estimation_results import estimation_rows, open_world_rows
from openworld.evaluations.recognition_by_shift.record import PARTS, ShiftRecord
from openworld.metrics import OpenworldAUC, SeedAverage, average, openworld_auc, paired_test
from openworld.results import (
    METRICS,
    Comparison,
    Metric,
    Result,
    Results,
    RunFolder,
    Value,
    comparison_of,
    correct_for_many,
    interval_of,
    over_seeds,
    student,
)
from openworld.runs import Record

NEAR, SAME = "training appearance", "appearance of the new images"
"""In which appearance base images are shown."""

FIELDS = {NEAR: "near", SAME: "same_looks"}
BY_LEVEL = ((NEAR, "semantic"), (NEAR, "covariate"), (SAME, "covariate"))
"""Of which kind of base images, and along which axis, there are numbers by level."""

AUC = METRICS["openworld_auc"]
LEVEL_START = Metric("level_start", "level starts at degree", "fraction", 2, 0, (0.0, 2.0))


@dataclass(frozen=True, eq=False)
class RecognitionShiftFacts:
    """What the records of a run have in common.

    Args:
        records: {learner: its records, seeds in increasing order}, learners in the order of the run.
    """

    records: Mapping[str, tuple[ShiftRecord, ...]]

    @property
    def first(self) -> ShiftRecord:
        """Some record, for what all have in common."""
        return next(iter(self.records.values()))[0]

    @property
    def learners(self) -> tuple[str, ...]:
        """In the order of the run."""
        return tuple(self.records)

    @property
    def seeds(self) -> tuple[int, ...]:
        """In increasing order."""
        return tuple(sorted({record.seed for records in self.records.values() for record in records}))

    @property
    def baseline(self) -> str:
        """The learner that tunes nothing; "" where there is none."""
        return next((name for name, records in self.records.items() if not records[0].tuned_parameters), "")

    @property
    def estimators(self) -> tuple[str, ...]:
        """Labels of the estimators of accuracy."""
        return tuple(estimator["label"] for estimator in self.first.estimators)

    @property
    def open_world_estimators(self) -> tuple[str, ...]:
        """Names of the estimators of OpenworldAUC and its parts; none without estimators."""
        estimation = self.first.estimation
        return tuple(estimation.open_world.estimates) if estimation and estimation.open_world else ()

    def levels(self, axis: str) -> range:
        """The levels of an axis, from 0, the nearest."""
        return range(len(self.first.levels[axis].counts))

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of covariate and of semantic levels."""
        return len(self.first.counts), len(self.first.counts[0])


def read_results(run: RunFolder) -> tuple[Results, RecognitionShiftFacts]:
    """Return every number of a run, and what its records have in common."""
    by_learner: dict[str, list[tuple[ShiftRecord, Record]]] = {}
    for metrics, record in zip(run.metrics(ShiftRecord), run.records, strict=True):
        by_learner.setdefault(metrics.learner, []).append((metrics, record))
    for pairs in by_learner.values():
        pairs.sort(key=lambda pair: pair[0].seed)
    facts = RecognitionShiftFacts({name: tuple(record for record, _ in pairs) for name, pairs in by_learner.items()})
    images = {name: [_Images.read(record) for _, record in pairs] for name, pairs in by_learner.items()}

    overall = {name: average([seed.score(seed.new) for seed in seeds]) for name, seeds in images.items()}
    rows = [row for name, areas in overall.items() for row in _average(name, areas, facts, {"view": NEAR})]
    tests = [
        *correct_for_many(
            comparison_of(name, other, AUC, paired_test(overall[name], overall[other]), where={"view": NEAR})
            for name, other in combinations(overall, 2)
        )
    ]
    for view, axis in BY_LEVEL:
        averages = {name: _averages(seeds, facts, view, axis) for name, seeds in images.items()}
        for name, by_level in averages.items():
            for level, areas in enumerate(by_level):
                rows += _average(name, areas, facts, {"view": view, "axis": axis, "level": level})
        tests += _tests(averages, facts.baseline, {"view": view, "axis": axis})
    for name in facts.learners:
        rows += [*_cells(name, facts), *_slopes(name, facts)]
    rows += [*_counts(facts), *(estimation_rows(facts.records) if facts.estimators else ())]
    rows += open_world_rows(facts.records, SAME) if facts.open_world_estimators else ()
    return Results("recognition-by-shift", tuple(rows), tuple(tests)), facts


@dataclass(frozen=True, eq=False)
class _Images:
    """The images of one record: base test images, and the pool's, by column."""

    base: Mapping[str, np.ndarray]
    pool: Mapping[str, np.ndarray]

    @classmethod
    def read(cls, record: Record) -> "_Images":
        tables = (record.table(name) for name in ("base", "pool"))
        return cls(*({key: np.asarray(column) for key, column in table.items()} for table in tables))

    @cached_property
    def new(self) -> np.ndarray:
        """bool[N], which images of the pool are of new classes."""
        return self.pool["side"] == "new"

    def at(self, view: str, axis: str, level: int) -> OpenworldAUC:
        """The new images of a level against base images of a kind."""
        members = self.pool[f"{axis}_level"] == level
        return self.score(members & self.new, members & ~self.new if view == SAME else None)

    def score(self, new: np.ndarray, base: np.ndarray | None = None) -> OpenworldAUC:
        """Some new images against all base test images, or against some base images of the pool; bool[N]."""
        chosen = {name: self.pool[name][new] for name in ("score", "correct", "group")}
        if base is None:
            beside = self.base
            chosen["group"] = chosen["group"] + int(beside["group"].max(initial=-1)) + 1  # another image set
        else:
            beside = {name: self.pool[name][base] for name in chosen}
        groups = {"base_groups": beside["group"], "new_groups": chosen["group"]}
        return openworld_auc(beside["score"], beside["correct"], chosen["score"], chosen["correct"], **groups)


def _averages(seeds: Sequence[_Images], facts: RecognitionShiftFacts, view: str, axis: str) -> list[SeedAverage | None]:
    """The mean over the seeds at every level; None where the records say N/A."""
    known = getattr(getattr(facts.first, FIELDS[view]), axis)
    return [
        None if record is None else average([seed.at(view, axis, level) for seed in seeds])
        for level, record in enumerate(known)
    ]


def _average(name: str, of: SeedAverage | None, facts: RecognitionShiftFacts, where: Mapping) -> Iterator[Result]:
    seeds = tuple(record.seed for record in facts.records[name])
    for part in PARTS:
        if of is None:
            yield Result(name, METRICS[part], _too_few(facts), where)
            continue
        estimate, per_seed = of.estimate(part), of.seed_values(part)
        n = of.results[0].n_base + of.results[0].n_new
        intervals = (*interval_of(estimate.interval(), "images", n), *student(per_seed, METRICS[part]))
        value = Value(estimate.value, intervals, estimate.reason or "")
        yield Result(name, METRICS[part], value, where, seeds, per_seed)


def _tests(averages: Mapping[str, Sequence[SeedAverage | None]], baseline: str, where: Mapping) -> Sequence[Comparison]:
    """Every learner against the baseline at every level that is not N/A."""
    return correct_for_many(
        comparison_of(name, baseline, AUC, paired_test(area, baseline_area), where={**where, "level": level})
        for name, by_level in (averages.items() if baseline else ())
        for level, (area, baseline_area) in enumerate(zip(by_level, averages[baseline], strict=True))
        if name != baseline and area is not None
    )


def _cells(name: str, facts: RecognitionShiftFacts) -> Iterator[Result]:
    """Every cell, means over the seeds; of one seed with the interval over images."""
    records = facts.records[name]
    seeds = tuple(record.seed for record in records)
    for view, field in FIELDS.items():
        for row, column in np.ndindex(facts.shape):
            each = [getattr(record, field).cells[row][column] for record in records]
            where = {"view": view, "covariate_level": row, "semantic_level": column}
            for part in PARTS:
                if None in each:
                    yield Result(name, METRICS[part], _too_few(facts), where)
                    continue
                numbers, n = tuple(getattr(cell, part) for cell in each), each[0].n_base + each[0].n_new
                intervals = interval_of(each[0].intervals[part], "images", n) if len(each) == 1 else ()
                value = over_seeds(numbers, METRICS[part], intervals=intervals)
                yield Result(name, METRICS[part], value, where, seeds, numbers)


def _slopes(name: str, facts: RecognitionShiftFacts) -> Iterator[Result]:
    """Yield by how much each part changes from level to level: of the means of the cells at each level."""
    records = facts.records[name]
    seeds = tuple(record.seed for record in records)
    for part, title in PARTS.items():
        for axis in facts.first.levels:
            each = tuple(record.near.trend[part][axis] for record in records)
            slopes = tuple(trend.slope for trend in each)
            value = over_seeds(slopes, METRICS["slope"], reason=each[0].reason or "")
            yield Result(name, METRICS["slope"], value, {"view": NEAR, "axis": axis, "part": title}, seeds, slopes)


def _counts(facts: RecognitionShiftFacts) -> Iterator[Result]:
    """New images of every level and cell, and the degrees at which levels start."""
    images = METRICS["images"]
    for side, count in (("base", facts.first.n_base_images), ("new", sum(map(sum, facts.first.counts)))):
        yield Result("", images, Value(count), {"side": side})
    for axis, levels in facts.first.levels.items():
        for level, count in enumerate(levels.counts):
            where = {"axis": axis, "level": level}
            yield Result("new images", images, Value(count), where)
            yield Result("", LEVEL_START, Value(levels.edges[level]), where)
    for level, count in enumerate(facts.first.same_looks.base_counts):
        yield Result("base images of the pool", images, Value(count), {"axis": "covariate", "level": level})
    for row, column in np.ndindex(facts.shape):
        where = {"covariate_level": row, "semantic_level": column}
        yield Result("new images", images, Value(facts.first.counts[row][column]), where)


def _too_few(facts: RecognitionShiftFacts) -> Value:
    return Value(None, reason=f"fewer than {facts.first.least} images")
