"""A table of scores read once: a sample of it, and counts over all of it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from openworld._errors import OpenworldError
from openworld.datasets.training_images import ALIKE, SAME
from openworld.estimators import LabelledShift, Outputs
from openworld.estimators.quote.class_shares import moved_shares
from openworld.estimators.quote.source_check import SOFTMAX
from openworld.estimators.streaming import Sampler
from openworld.label_free.estimate.accuracy_estimate import ClassShift, ScoredSet
from openworld.label_free.estimate.score_tables import ScoreBlock, ScoreTable
from openworld.tables.probabilities import are_probabilities

Progress = Callable[[str, int], None]
"""Called with what is being done and how many images are done."""


class Pass:
    """What is kept of one reading; refuses a table without images, or of other classes than `like`."""

    def __init__(self, table: ScoreTable, doing: str, progress: Progress | None = None, like: Outputs | None = None):
        self.table = table
        self.mistakes, self.labelled = 0, 0  # of the images whose labels are known
        self.agreed, self.rounded = 0, 0  # model and reference give one name; probabilities divided by their sums
        self.seen = {SAME: 0, ALIKE: 0}  # images that the model was trained on, as the file says
        self.predicted = np.zeros(1, np.int64)  # [C], how often each class is predicted
        sampler, softmax = Sampler(), 0
        for block in blocks_of(table, doing, progress):
            outputs = block.outputs
            if like is not None and outputs.classes != like.classes:
                raise OpenworldError(
                    f"{table.name} has {outputs.classes} classes and the source {like.classes}; score both with the "
                    "same model for the same class names."
                )
            sampler.add(outputs)
            self._count(block)
            softmax += int(are_probabilities(outputs.logits).sum())
        if not sampler.n:
            raise OpenworldError(f"{table.name} holds no image; there is nothing to estimate.")
        self.sample = sampler.sample
        require_logits(table, softmax, sampler.n)

    def _count(self, block: ScoreBlock) -> None:
        outputs = block.outputs
        self.predicted = self.predicted + np.bincount(outputs.predictions, minlength=outputs.classes)
        self.rounded += block.rounded
        if outputs.labels is not None:
            self.mistakes, self.labelled = self.mistakes + outputs.mistakes, self.labelled + outputs.n
        if outputs.reference is not None:
            self.agreed += int((outputs.reference.argmax(axis=1) == outputs.predictions).sum())
        if block.seen is not None:
            self.seen = {how: count + int((block.seen == how).sum()) for how, count in self.seen.items()}

    @property
    def outputs(self) -> Outputs:
        """Of the sample."""
        return self.sample.outputs

    @property
    def side(self) -> ScoredSet:
        """What the estimate says of it."""
        accuracy = 1 - self.mistakes / self.labelled if self.labelled else None
        return ScoredSet(self.table.name, self.sample.n, self.outputs.classes, accuracy)

    def agreement(self, target: "Pass") -> tuple[float, float] | None:
        """Return the share of images that model and reference name alike, on both sides; None without a reference."""
        if self.outputs.reference is None or target.outputs.reference is None:
            return None
        return self.agreed / self.sample.n, target.agreed / target.sample.n

    def class_shift(self, target: "Pass") -> ClassShift:
        """Return how far the shares of the predicted classes have moved, and what chance alone makes of it."""
        return ClassShift(*moved_shares(self.predicted, target.predicted))

    def require_labels(self, why: str) -> None:
        """Refuse a table without labels."""
        if not self.labelled:
            raise OpenworldError(f"{self.table.name} has no labels; {why}")


def blocks_of(table: ScoreTable, doing: str, progress: Progress | None = None) -> Iterator[ScoreBlock]:
    """Return the blocks of a table, while `progress` hears how far it is."""
    done = 0
    for block in table.blocks():
        yield block
        done += block.outputs.n
        if progress:
            progress(doing, done)


def require_logits(table: ScoreTable, softmax: int, n: int) -> None:
    """Refuse logits of which more than chance makes of it are a softmax; one row in many may add up to 1."""
    if softmax == n or softmax >= max(2, SOFTMAX * n):
        rows = "all rows" if softmax == n else f"{softmax:,} of {n:,} rows"
        raise OpenworldError(
            f"the logits of {table.name} are probabilities: {rows} hold no number below 0 and add up to 1 (or to 100, "
            "which is percent); call the columns probabilities, which are read as their logarithms, and keep no logits "
            "among them."
        )


@dataclass(frozen=True)
class LabelledTable:
    """Scores of a labelled shift; family and artificial as in `LabelledShift`."""

    family: str
    table: ScoreTable
    artificial: bool = False


def read_labelled(
    shifts: Sequence[LabelledTable], source: Pass, progress: Progress | None = None
) -> Iterator[LabelledShift]:
    """Yield every labelled shift, or a uniform sample of it where it is large; refuse one without labels."""
    for shift in shifts:
        table = shift.table.ordered(source.table.classnames, f"those of {source.table.name}")
        reading = Pass(table, "reading labelled shifts", progress, source.outputs)
        reading.require_labels("a labelled shift must say what its images are: add `labels`.")
        yield LabelledShift(table.name, shift.family, reading.outputs, shift.artificial)
