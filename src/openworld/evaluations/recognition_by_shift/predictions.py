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
from openworld.learners import FittedLearner


@dataclass(frozen=True, eq=False)
class LearnerAnswers:
    """Answers on n images."""

    table: dict[str, np.ndarray]  # the columns of `image_table`, labels by all names
    logits: np.ndarray | None  # float32[n, C], where estimators need them
    base_logits: np.ndarray | None = None  # of a learner that has others for base names


class Predictor:
    """A fitted learner that answers on image sets of a task among all names."""

    def __init__(self, task: ShiftTask, fitted: FittedLearner, split: ClassSplit, machine: Machine):
        self._task, self._fitted, self._split, self._machine = task, fitted, split, machine
        self._bank = fitted.text_bank(split.base_names, split.new_names)

    def answers(self, *parts: str) -> LearnerAnswers:
        """What it answers on some image sets, one behind the other; ids and groups go on from one to the next."""
        tables, logits, base_logits, row, group = [], [], [], 0, 0
        for part in parts:
            features = encoded_part(self._task, part, self._machine)
            labels = numbers_among(self._split.names, features.classnames)[features.labels]
            features = replace(features, labels=labels, classnames=self._split.names)
            features = replace(features, rows=features.rows + row, groups=features.groups + group)
            answer = self._fitted.answer(features, self._bank)
            tables.append(image_table(answer, features, len(self._split.base)))
            logits += [np.asarray(answer.logits)] if self._task.estimators else []
            own = answer.base_logits is not None and bool(self._task.estimators)
            base_logits += [np.asarray(answer.base_logits)] if own else []
            images = self._task.sources[part].load()
            row, group = row + len(images), group + int(images.groups.max(initial=-1)) + 1
        table = {name: np.concatenate([table_of_part[name] for table_of_part in tables]) for name in tables[0]}
        return LearnerAnswers(table, *(np.concatenate(parts) if parts else None for parts in (logits, base_logits)))


def pool_columns(divided: DividedPool) -> Iterator[tuple[str, np.ndarray]]:
    """What a table of the pool holds beside the learner's answers: styles, degrees and levels."""
    yield "style", divided.pool.style[divided.rows].astype(np.int16)
    for half, levels in divided.levels.items():
        yield half, divided.degrees[half]
        yield f"{half}_level", levels.astype(np.int16)


def require_same_images(answers: LearnerAnswers, divided: DividedPool) -> None:
    """Refuse answers on other images than those that were measured."""
    if not np.array_equal(answers.table["id"], divided.rows):
        raise OpenworldError(
            f"{len(answers.table['id'])} images of the pool were answered and {len(divided.rows)} measured; an image "
            "can be read by one model and not by the other. Start the run again with an empty cache."
        )
