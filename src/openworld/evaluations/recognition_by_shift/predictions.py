"""What a fitted learner answers on base test images, on the pool, and on labelled validation images, among all names.

One text bank serves them all, so that answers differ by image alone and a cell is a slice of one table.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from openworld._errors import OpenworldError
from openworld.datasets import ClassSplit
from openworld.evaluations.answer_slices import numbers_among
from openworld.evaluations.recognition_by_shift.task import ShiftTask
from openworld.evaluations.recognition_metrics import image_table
from openworld.evaluations.runtime import Machine, encoded_part
from openworld.evaluations.shift_cells import DividedPool
from openworld.features import Features
from openworld.learners import FittedLearner


@dataclass(frozen=True, eq=False)
class LearnerAnswers:
    """Of n images: the columns of `image_table`, labels by all names, and logits float32[n, C] where estimators
    need them, else None."""

    table: dict[str, np.ndarray]
    logits: np.ndarray | None


class Predictor:
    """A fitted learner that answers on image sets of a task among all names."""

    def __init__(self, task: ShiftTask, fitted: FittedLearner, split: ClassSplit, machine: Machine):
        self._task, self._fitted, self._split, self._machine = task, fitted, split, machine
        self._bank = fitted.text_bank(split.base_names, split.new_names)

    def answers(self, *parts: str) -> LearnerAnswers:
        """What it answers on some image sets, one behind the other; ids and groups go on from one to the next."""
        found, firsts = [], [0, 0]
        for part in parts:
            shown = self._by_all_names(encoded_part(self._task, part, self._machine))
            moved = replace(shown, rows=shown.rows + firsts[0], groups=shown.groups + firsts[1])
            found.append(self._answers(moved))
            images = self._task.sources[part].load()
            firsts = [firsts[0] + len(images), firsts[1] + int(images.groups.max(initial=-1)) + 1]
        tables = [one.table for one in found]
        logits = np.concatenate([one.logits for one in found]) if self._task.estimators else None
        return LearnerAnswers({name: np.concatenate([one[name] for one in tables]) for name in tables[0]}, logits)

    def _answers(self, shown: Features) -> LearnerAnswers:
        answer = self._fitted.answer(shown, self._bank)
        table = image_table(answer, shown, len(self._split.base))
        return LearnerAnswers(table, np.asarray(answer.logits) if self._task.estimators else None)

    def _by_all_names(self, shown: Features) -> Features:
        places = numbers_among(self._split.names, shown.classnames)
        return replace(shown, labels=places[shown.labels], classnames=self._split.names)


def pool_columns(found: DividedPool) -> Iterator[tuple[str, np.ndarray]]:
    """What a table of the pool holds beside the learner's answers: styles, degrees and levels."""
    yield "style", found.pool.style[found.rows].astype(np.int16)
    for half, levels in found.levels.items():
        yield half, found.degrees[half]
        yield f"{half}_level", levels.astype(np.int16)


def require_same_images(answers: LearnerAnswers, found: DividedPool) -> None:
    """Refuse answers on other images than those that were measured."""
    if not np.array_equal(answers.table["id"], found.rows):
        raise OpenworldError(
            f"{len(answers.table['id'])} images of the pool were answered and {len(found.rows)} measured; an image can "
            "be read by one model and not by the other. Start the run again with an empty cache."
        )
