"""Scenario runs: rows of units joined over seeds, their Dynamic Robustness Curves, and who named which image right.

Accuracy is averaged over the seeds first; every number of a curve is of that mean (OpenPL, section 4).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args
from zlib import crc32

import numpy as np

from openworld.core.errors import OpenworldError
from openworld.evaluations.rows import rows_of_run
from openworld.metrics import LevelErrors, Robustness, level_errors, robustness
from openworld.results import METRICS, Result, Results, RunFolder, Value, join_seeds
from openworld.runs import Record

Scenario = Literal["emerging-classes", "varying-ratio", "distribution-shift", "co-evolution"]
SCENARIOS = get_args(Scenario)

PLACE = ("scenario", "images", "target")
"""What tells scenario runs apart: the images tuned on, and those that take over, if any."""

NUMBERS = (
    *("auc", "initial_accuracy", "worst_accuracy", "variation", "slope_variance"),
    *("positive_area", "negative_area", "delta_auc", "delta_pn"),
)
SET_BITS = 2**32  # an image's group or number, behind the number of its image set: together they fit into int64
OTHER_SEEDS = "the learners were not run with the same seeds"


Answers = Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]]
"""Of one learner with one seed in one scenario run, by level: which images, their groups, which it named right."""


@dataclass(frozen=True, eq=False)
class ScenarioCurves:
    """One scenario run."""

    where: Mapping[str, str]  # the place of its results
    dataset: str  # what was tuned on
    levels: tuple[float, ...]
    curves: Mapping[str, Robustness]  # {learner: the mean curve over its seeds}, in the order of the run
    at_levels: Results  # rows of learners at levels, means over their seeds
    baseline: str  # the learner that tunes nothing
    answers: Mapping[str, Mapping[int, Answers]]  # {learner: {seed: what it named right}}; () where none are kept

    @property
    def title(self) -> str:
        return _title(self.where)

    @property
    def learners(self) -> tuple[str, ...]:
        return tuple(self.curves)

    @cached_property
    def accuracy(self) -> np.ndarray:
        """float64[learners, levels], means over the seeds, equal where they differ in their last bits only."""
        return np.array([curve.accuracy for curve in self.curves.values()]).round(12)

    @cached_property
    def numbers(self) -> tuple[Result, ...]:
        """The numbers of every learner's mean curve, with those of each seed's own curve."""
        rows = []
        for learner, curve in self.curves.items():
            seeds = tuple(self.answers[learner])
            for name in NUMBERS:
                per_seed = tuple(getattr(own, name) for own in curve.per_seed or (curve,))
                value = Value(getattr(curve, name), reason=curve.reason or "")
                rows.append(Result(learner, METRICS[name], value, self.where, seeds, per_seed))
        return tuple(rows)


def scenario_curves(run: RunFolder) -> tuple[ScenarioCurves, ...]:
    """Join the units of every scenario run, in the order of the paper's scenarios."""
    rows, units = Results("dynamic", join_seeds(rows_of_run(run))), {}
    for record in run.records:
        for course, answers in zip(record.metrics["courses"], _answers(record), strict=True):
            place = tuple((key, course[key]) for key in PLACE if course[key])
            units.setdefault(place, []).append((record.metrics, answers))
    ordered = sorted(units, key=lambda place: SCENARIOS.index(dict(place)["scenario"]))
    return tuple(_curves(dict(place), units[place], rows) for place in ordered)


def _curves(
    where: Mapping[str, str], units: Sequence[tuple[Mapping[str, Any], Answers]], rows: Results
) -> ScenarioCurves:
    """One scenario run, of units as (facts, answers)."""
    here = rows.where(**where)
    here = Results("dynamic", tuple(row for row in here if row.where.keys() == {*where, "level"}))
    baseline = next((facts["learner"] for facts, _ in units if facts["yardstick"]), None)
    if baseline is None:
        raise OpenworldError(f"no zero-shot learner was run in {_title(where)}; every curve is compared with its own.")

    accuracy = {}
    for learner in dict.fromkeys(facts["learner"] for facts, _ in units):
        of_learner = [*here.where(entity=learner, metric="accuracy")]
        by_seed = zip(*(row.per_seed for row in of_learner), strict=True)
        accuracy[learner] = dict(zip(of_learner[0].seeds, by_seed, strict=True))
    places = (row.where["level"] for row in here.where(entity=baseline, metric="accuracy"))
    levels = tuple(level for level in places if not isinstance(level, str))

    curves, answers = {}, {}
    for learner, by_seed in accuracy.items():
        compared = None if learner == baseline else [accuracy[baseline][seed] for seed in by_seed]
        curves[learner] = robustness(levels, [*by_seed.values()], compared)
        of_seeds = {facts["seed"]: own for facts, own in units if facts["learner"] == learner}
        answers[learner] = {seed: of_seeds[seed] for seed in by_seed}
    return ScenarioCurves(where, units[0][0]["dataset"], levels, curves, here, baseline, answers)


def _title(where: Mapping[str, str]) -> str:
    target = f" → {where['target']}" if "target" in where else ""
    return f"{where['scenario']}: {where['images']}{target}"


def _answers(record: Record) -> Iterator[Answers]:
    """Yield the answers of every scenario run of a record, () where the record keeps no predictions."""
    table = record.table("predictions") if "predictions" in record.tables else None
    for number, course in enumerate(record.metrics["courses"]):
        if table is None:
            yield ()
            continue
        chosen = table["course"] == number
        rows = {name: column[chosen] for name, column in table.items()}
        part = rows["part"].astype(np.int64)
        # A group keeps its number from run to run where it belongs to the same image set, known by a hash of its name.
        sets = [crc32(name.encode()) % 2**31 for name in (course["images"], course["target"] or "")]
        groups = np.where(part == 0, *sets) * SET_BITS + rows["group"]
        images, correct = part * SET_BITS + rows["id"], rows["prediction"] == rows["label"]
        levels = [rows["level"] == view["level"] for view in course["views"]]
        yield [(images[level], groups[level], correct[level]) for level in levels]


def image_errors(runs: Sequence[ScenarioCurves]) -> tuple[LevelErrors | None, str]:
    """Return the joint error of the learners' accuracies over images, or None and why there is none."""
    if len({run.levels for run in runs}) > 1:
        return None, "the scenario runs do not have the same levels"
    groups, correct = [], []
    for run in runs:
        every = [*run.answers.values()]
        if not all(answers for by_seed in every for answers in by_seed.values()):
            return None, "the records keep no predictions"
        if any(by_seed.keys() != every[0].keys() for by_seed in every):
            return None, OTHER_SEEDS
        for seed, answers in every[0].items():
            images = [[column for level in by_seed[seed] for column in level[:2]] for by_seed in every]
            if any(len(each) != len(images[0]) or not all(map(np.array_equal, each, images[0])) for each in images):
                return None, "the learners did not see the same images"
            groups.append([own_groups for _, own_groups, _ in answers])
            levels = zip(*(by_seed[seed] for by_seed in every), strict=True)
            correct.append([np.stack([right for _, _, right in level]) for level in levels])
    return level_errors(groups, correct), ""
