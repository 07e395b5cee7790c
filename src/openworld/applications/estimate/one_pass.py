"""A table of scores read once: a sample of it, and counts over all of it."""

from collections.abc import Callable, Iterator

import numpy as np

from openworld._errors import OpenworldError
from openworld.applications.estimate.accuracy_estimate import ScoredSet, Shift
from openworld.applications.estimate.score_tables import Block, ScoreTable
from openworld.datasets.training_images import ALIKE, SAME
from openworld.estimators import Outputs
from openworld.estimators.engine.probability_rows import are_probabilities
from openworld.estimators.quote.shift_signs import moved_shares
from openworld.estimators.quote.source_check import SOFTMAX
from openworld.estimators.streaming import Sampler

Progress = Callable[[str, int], None]
"""Called with what is being done and how many images are done."""


class Pass:
    """What is kept of one reading.

    sample: a uniform sample, or everything. predicted: int64[C], how often each class is predicted. mistakes, labelled:
    of the images whose labels are known. seen: SAME or ALIKE -> images that the model was trained on, as the file says.
    agreed: images to which judged model and reference give one name. rounded: rows of probabilities that had to be
    divided by their sums.

    Args:
        table: what to read. doing: in words, for `progress`. like: outputs of the source, whose classes must be these.
    Raises:
        OpenworldError: no image, another number of classes, logits that are probabilities.
    """

    def __init__(self, table: ScoreTable, doing: str, progress: Progress | None = None, like: Outputs | None = None):
        sampler = Sampler()
        self.table, self.mistakes, self.labelled, self.agreed, self.rounded = table, 0, 0, 0, 0
        self.predicted, softmax = np.zeros(0, np.int64), 0
        self.seen = {SAME: 0, ALIKE: 0}
        for block in blocks_of(table, doing, progress):
            outputs = block.outputs
            if like is not None:
                _require_classes(table, outputs, like)
            sampler.add(outputs)
            self._count(outputs)
            self.rounded += block.rounded
            if block.seen is not None:
                self.seen = {how: count + int((block.seen == how).sum()) for how, count in self.seen.items()}
            softmax += int(are_probabilities(outputs.logits).sum())
        if not sampler.n:
            raise OpenworldError(f"{table.name} holds no image; there is nothing to estimate.")
        self.sample = sampler.sample
        _require_logits(table, softmax, sampler.n)

    def _count(self, outputs: Outputs) -> None:
        predicted = np.bincount(outputs.predictions, minlength=outputs.classes)
        self.predicted = predicted + (self.predicted if self.predicted.size else 0)
        if outputs.labels is not None:
            self.mistakes, self.labelled = self.mistakes + outputs.mistakes, self.labelled + outputs.n
        if outputs.reference is not None:
            self.agreed += int((outputs.reference.argmax(axis=1) == outputs.predictions).sum())

    @property
    def side(self) -> ScoredSet:
        """For the judgement."""
        accuracy = 1 - self.mistakes / self.labelled if self.labelled else None
        return ScoredSet(self.table.name, self.sample.n, self.sample.outputs.classes, accuracy)

    def require_labels(self) -> None:
        """Refuse a source without labels."""
        if not self.labelled:
            raise OpenworldError(
                f"{self.table.name} has no labels; the source must say what its images are: add `labels`, or give as "
                "--source the set whose labels are known."
            )


def blocks_of(table: ScoreTable, doing: str, progress: Progress | None = None) -> Iterator[Block]:
    """The blocks of a table, while somebody is told how far it is."""
    done = 0
    for block in table.blocks():
        yield block
        done += block.outputs.n
        if progress:
            progress(doing, done)


def outputs_of(table: ScoreTable, doing: str, progress: Progress | None = None) -> Iterator[Outputs]:
    """The outputs of a table's blocks alone."""
    return (block.outputs for block in blocks_of(table, doing, progress))


def agreement(source: Pass, target: Pass) -> tuple[float, float] | None:
    """Share of images that judged model and reference name alike, on source and target; None without a reference."""
    if source.sample.outputs.reference is None or target.sample.outputs.reference is None:
        return None
    return source.agreed / source.sample.n, target.agreed / target.sample.n


def shift(source: Pass, target: Pass) -> Shift:
    """How far the shares of the predicted classes have moved, and what chance alone makes of it."""
    return Shift(*moved_shares(source.predicted, target.predicted))


def _require_logits(table: ScoreTable, softmax: int, n: int) -> None:
    """Refuse logits of which more than chance makes of it are a softmax; one row in many may add up to 1."""
    if softmax == n or softmax >= max(2, SOFTMAX * n):
        found = "all rows" if softmax == n else f"{softmax:,} of {n:,} rows"
        raise OpenworldError(
            f"the logits of {table.name} are probabilities: {found} hold no number below 0 and add up to 1 (or to 100, "
            "which is percent); call the columns probabilities, which are read as their logarithms, and keep no logits "
            "among them."
        )


def _require_classes(table: ScoreTable, outputs: Outputs, like: Outputs) -> None:
    if outputs.classes != like.classes:
        raise OpenworldError(
            f"{table.name} has {outputs.classes} classes and the source {like.classes}; score both with the same model "
            "for the same class names."
        )
