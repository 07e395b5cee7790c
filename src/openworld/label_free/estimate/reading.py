"""A table of scores read once: a sample of it, counts over all of it, and what is to be said against it."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from openworld.core.errors import OpenworldError
from openworld.datasets.training_images import ALIKE, SAME
from openworld.estimators import LabelledShift, Outputs, check_reference
from openworld.estimators.quote.source_check import SOFTMAX, are_many, check_source
from openworld.estimators.streaming import Sampler
from openworld.label_free.estimate.accuracy_estimate import ScoredSet
from openworld.label_free.estimate.inputs import NamedShift
from openworld.label_free.estimate.score_tables import ScoreBlock, ScoreTable, open_table
from openworld.tables.judged import SEEN
from openworld.tables.probabilities import are_probabilities

ALIKE_SHARE = 0.1  # of the source whose difference hashes a training image has, from which that is no chance
UNEQUAL = 0.1  # by how much the partner of GDE may differ in accuracy before that is said

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
            softmax += int(are_probabilities(outputs.logits).sum())
            self.predicted = self.predicted + np.bincount(outputs.predictions, minlength=outputs.classes)
            self.rounded += block.rounded
            if outputs.labels is not None:
                self.mistakes, self.labelled = self.mistakes + outputs.mistakes, self.labelled + outputs.n
            if outputs.reference is not None:
                self.agreed += int((outputs.reference.argmax(axis=1) == outputs.predictions).sum())
            if block.seen is not None:
                self.seen = {how: count + int((block.seen == how).sum()) for how, count in self.seen.items()}
        if not sampler.n:
            raise OpenworldError(f"{table.name} holds no image; there is nothing to estimate.")
        self.sample, self.outputs = sampler.sample, sampler.sample.outputs
        require_logits(table, softmax, sampler.n)

    @property
    def side(self) -> ScoredSet:
        accuracy = 1 - self.mistakes / self.labelled if self.labelled else None
        return ScoredSet(self.table.name, self.sample.n, self.outputs.classes, accuracy)

    def require_labels(self, why: str) -> None:
        if not self.labelled:
            raise OpenworldError(f"{self.table.name} has no labels; {why}")


def blocks_of(table: ScoreTable, doing: str, progress: Progress | None = None) -> Iterator[ScoreBlock]:
    done = 0
    for block in table.scores():
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


def read_labelled(
    shifts: Sequence[NamedShift], source: Pass, progress: Progress | None = None
) -> Iterator[LabelledShift]:
    """Yield every labelled shift, or a uniform sample of it where it is large; refuse one without labels."""
    for shift in shifts:
        table = open_table([shift.place], title=shift.title, classnames=source.table.classnames)
        reading = Pass(table, "reading labelled shifts", progress, source.outputs)
        reading.require_labels("a labelled shift must say what its images are: add `labels`.")
        yield LabelledShift(table.name, shift.family, reading.outputs, shift.artificial)


def source_remarks(source: Pass) -> tuple[str, ...]:
    """Return what is to be said of the source alone, a sentence each, without capital and full stop."""
    distrust = () if source.outputs.reference is None else check_reference(source.outputs).warnings
    return (*check_source(source.outputs).warnings, *_of_training(source), *distrust, *_of_sample(source))


def remarks(source: Pass, target: Pass) -> tuple[str, ...]:
    """Return what is to be said against an estimate: of the source, of reference and partners, and of the files."""
    home, new = source.outputs, target.outputs
    said = [*check_source(home, new).warnings, *_of_training(source)]
    if (home.reference is None) != (new.reference is None):
        lacking = "source" if home.reference is None else "target"
        said.append(f"the {lacking} has no reference, which two views and FRAP need of both: they are left out")
    elif home.reference is not None:
        said += check_reference(home).warnings
    if home.partners and new.partners:  # a weaker or stronger one's disagreement says little of the model
        tables = home.logits, home.partners[0]
        model, partner = (float((table.argmax(axis=1) == home.labels).mean()) for table in tables)
        if abs(model - partner) > UNEQUAL:
            said.append(
                f"the first partner names {partner:.1%} of the source right and the model {model:.1%}: GDE compares "
                "models of one recipe, and finds too low an accuracy with a weaker one"
            )
    said += _of_sample(source)
    for side in (source, target):
        table, name = side.table, side.table.name
        if side.rounded:
            said.append(
                f"{side.rounded:,} of {side.sample.n:,} rows of probabilities in {name} do not add up to 1, as "
                "rounding leaves them, and were divided by their sums; save more digits"
            )
        if any(layout.classes.order is not None for layout in table.layouts):
            said.append(f"the classes of {name} come in another order and were put in order by their names")
        if table.classnames is None and (source.table.classnames or target.table.classnames):
            said.append(f"{name} names no classes: they are taken to come in the order of the other side's names")
        unused = table.layouts[0].unused  # of which a name may be misspelt
        if unused:
            said.append(f"columns of {name} that were not used: {', '.join(unused[:8])}")
    return tuple(said)


def _of_training(source: Pass) -> Iterator[str]:
    """Say where the source is of images that the model was trained on, as far as the file tells."""
    same, alike, n = source.seen[SAME], source.seen[ALIKE], source.sample.n
    if are_many(same, n) or same + alike >= ALIKE_SHARE * n:
        yield (
            f"the model was trained on {same:,} of the {n:,} source images, and on images much like {alike:,} others "
            f"(column {SEEN} of the scores that --out keeps): it is surer and righter there than anywhere, and every "
            "estimate too high; take labelled images that it has not been trained on"
        )


def _of_sample(source: Pass) -> Iterator[str]:
    if not source.sample.whole:
        yield f"of {source.sample.n:,} source images a uniform sample of {len(source.sample.rows):,} is used"
