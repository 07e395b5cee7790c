"""How far the learners' curves would move with other images, from the predictions of every view that records keep.

The mean over the views of several seeds, or of several scenario runs, errs as the groups of their images do together.
A group keeps its number from run to run where it belongs to the same image set.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from openworld.evaluations.dynamic.record import DynamicRecord, ScenarioRecord
from openworld.metrics import LevelErrors, level_errors
from openworld.runs import Record

GROUPS_OF_A_SET = 2**32  # numbers that groups of one image set may take
SETS = 2**31  # numbers that image sets may take: together they fit into int64
NO_PREDICTIONS = "the records keep no predictions"
OTHER_SEEDS = "the learners were not run with the same seeds"
OTHER_IMAGES = "the learners did not see the same images"
OTHER_LEVELS = "the scenario runs do not have the same levels"


@dataclass(frozen=True, eq=False)
class ViewAnswers:
    """One learner with one seed in one scenario run, by level: which images, their groups, and which it named right."""

    images: tuple[np.ndarray, ...]
    groups: tuple[np.ndarray, ...]
    correct: tuple[np.ndarray, ...]

    def same_images(self, other: "ViewAnswers") -> bool:
        """Whether both saw the same images, level by level."""
        pairs = zip(self.images + self.groups, other.images + other.groups, strict=False)
        return len(self.images) == len(other.images) and all(np.array_equal(ours, theirs) for ours, theirs in pairs)


AnswersBySeed = Mapping[str, Mapping[int, ViewAnswers | None]]
"""{learner: {seed: its answers}}; None where a record keeps no predictions."""


@dataclass(frozen=True, eq=False)
class ImageErrors:
    """The joint error of the learners' accuracies over images, or the `reason` why there is none.

    `images`: in one view at most.
    """

    errors: LevelErrors | None
    images: int = 0
    reason: str = ""


def read_answers(record: Record, metrics: DynamicRecord) -> tuple[ViewAnswers | None, ...]:
    """Read the answers of every scenario run of a record, None for each where the record keeps no predictions.

    Args:
        record: of dynamic scenarios.
        metrics: its metrics.
    """
    if "predictions" not in record.tables:
        return (None,) * len(metrics.courses)
    table, answers = record.table("predictions"), []
    for number, scenario_run in enumerate(metrics.courses):
        chosen = table["course"] == number
        rows = {name: column[chosen] for name, column in table.items()}
        answers.append(_answers(rows, scenario_run, metrics.source))
    return tuple(answers)


def image_errors(runs: Sequence[AnswersBySeed], levels: Sequence[tuple[float, ...]]) -> ImageErrors:
    """Compute the joint error of the learners' accuracies, means over the seeds of one scenario run or of several.

    Args:
        runs: of every scenario run the answers of the same learners.
        levels: of every scenario run.
    """
    if len(set(levels)) > 1:
        return ImageErrors(None, reason=OTHER_LEVELS)
    learners, groups, correct = tuple(runs[0]), [], []
    for by_learner in runs:
        reason = _obstacle([by_learner.get(learner, {}) for learner in learners])
        if reason:
            return ImageErrors(None, reason=reason)
        for seed, first in by_learner[learners[0]].items():
            groups.append(first.groups)
            answers = [by_learner[learner][seed].correct for learner in learners]
            correct.append([np.stack(level) for level in zip(*answers, strict=True)])
    return ImageErrors(level_errors(groups, correct), max(len(view) for seed in groups for view in seed))


def _obstacle(by_learner: Sequence[Mapping[int, ViewAnswers | None]]) -> str:
    """Why the answers cannot be compared image by image; "" where they can."""
    first = by_learner[0]
    if any(answers is None for by_seed in by_learner for answers in by_seed.values()):
        return NO_PREDICTIONS
    if any(by_seed.keys() != first.keys() for by_seed in by_learner):
        return OTHER_SEEDS
    same = all(by_seed[seed].same_images(answers) for by_seed in by_learner for seed, answers in first.items())
    return "" if same else OTHER_IMAGES


def _answers(rows: Mapping[str, np.ndarray], scenario_run: ScenarioRecord, source: str) -> ViewAnswers:
    part = rows["part"].astype(np.int64)
    first, second = (crc32(name.encode()) % SETS for name in (source, scenario_run.against or ""))
    groups = np.where(part == 0, first, second) * GROUPS_OF_A_SET + rows["group"]
    images = part * GROUPS_OF_A_SET + rows["id"]
    correct = rows["prediction"] == rows["label"]
    levels = [rows["level"] == view.level for view in scenario_run.views]
    return ViewAnswers(*(tuple(column[level] for level in levels) for column in (images, groups, correct)))
