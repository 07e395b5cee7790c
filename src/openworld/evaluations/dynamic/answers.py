"""What was named right in every view of a course, from the stored predictions: the ground of intervals and tests.

The mean over the views of several seeds, or of several courses, errs as the groups of their pictures do together. A
group keeps its number from course to course where it belongs to the source, which takes part in all of them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from openworld.metrics import LevelErrors, level_errors
from openworld.runs import Record

GROUPS_OF_A_SET = 2**32  # numbers that groups of one image set may take
NOT_KEPT = "the records keep no predictions"
OTHER_SEEDS = "the learners were not run with the same seeds"
OTHER_PICTURES = "the learners were not asked about the same pictures"


@dataclass(frozen=True, eq=False)
class Answers:
    """One learner with one seed on one course, by level: which pictures, their groups, and which it named right."""

    pictures: tuple[np.ndarray, ...]
    groups: tuple[np.ndarray, ...]
    correct: tuple[np.ndarray, ...]

    def same_pictures(self, other: "Answers") -> bool:
        """Whether both were asked about the same pictures, level by level."""
        pairs = zip(self.pictures + self.groups, other.pictures + other.groups, strict=False)
        return len(self.pictures) == len(other.pictures) and all(np.array_equal(one, two) for one, two in pairs)


@dataclass(frozen=True, eq=False)
class Evidence:
    """The learners' joint error over pictures, or the `reason` why there is none; `pictures` in one view at most."""

    errors: LevelErrors | None
    learners: tuple[str, ...] = ()
    pictures: int = 0
    reason: str | None = None


def read_answers(record: Record, sets: dict[str, int]) -> tuple[Answers | None, ...]:
    """The answers of every course of a record, None for each where the record keeps no predictions.

    Args:
        record: of a dynamic scenario.
        sets: numbers of image sets by name; new ones are added, so that groups keep their numbers across records.
    """
    told = record.metrics
    if "predictions" not in record.tables:
        return (None,) * len(told["courses"])
    table = record.table("predictions")
    source = sets.setdefault(f"{told['dataset']}, {told['domain']}", len(sets))
    found = []
    for number, course in enumerate(told["courses"]):
        other = sets.setdefault(str(course["against"]), len(sets))
        rows = table["course"] == number
        found.append(_answers({name: column[rows] for name, column in table.items()}, course, source, other))
    return tuple(found)


def evidence(courses: Sequence[Mapping[str, Mapping[int, Answers | None]]]) -> Evidence:
    """The joint error of the learners' accuracies, means over the seeds of one course or over several courses.

    Args:
        courses: of every course {learner: {seed: answers}}, the same learners in each.
    """
    learners, groups, correct = tuple(courses[0]), [], []
    for by_learner in courses:
        reason = _unfit(by_learner, learners)
        if reason is not None:
            return Evidence(None, learners, reason=reason)
        for seed, first in by_learner[learners[0]].items():
            groups.append(first.groups)
            answers = [by_learner[learner][seed].correct for learner in learners]
            correct.append([np.stack(level) for level in zip(*answers, strict=True)])
    return Evidence(level_errors(groups, correct), learners, max(len(view) for seed in groups for view in seed))


def _unfit(by_learner: Mapping[str, Mapping[int, Answers | None]], learners: Iterable[str]) -> str | None:
    """Why the answers cannot be compared picture by picture, or None."""
    runs = [by_learner.get(learner, {}) for learner in learners]
    if any(answers is None for run in runs for answers in run.values()):
        return NOT_KEPT
    if any(run.keys() != runs[0].keys() for run in runs):
        return OTHER_SEEDS
    same = all(run[seed].same_pictures(first) for run in runs for seed, first in runs[0].items())
    return None if same else OTHER_PICTURES


def _answers(rows: Mapping[str, np.ndarray], course: Mapping, source: int, other: int) -> Answers:
    part = rows["part"].astype(np.int64)
    groups = np.where(part == 0, source, other) * GROUPS_OF_A_SET + rows["group"]
    pictures = part * GROUPS_OF_A_SET + rows["id"]
    correct = rows["prediction"] == rows["label"]
    levels = [rows["level"] == view["level"] for view in course["views"]]
    return Answers(*(tuple(column[level] for level in levels) for column in (pictures, groups, correct)))
