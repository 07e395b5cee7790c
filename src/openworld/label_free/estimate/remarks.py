"""What is to be said against an estimate: of the source, of reference and partners, and of the files."""

from collections.abc import Iterator

from openworld.datasets.training_images import ALIKE, SAME
from openworld.estimators import Outputs, check_reference
from openworld.estimators.quote.source_check import are_many, check_source
from openworld.label_free.estimate.reading import Pass
from openworld.tables.judged import SEEN

ALIKE_SHARE = 0.1  # of the source whose difference hashes a training image has, from which that is no chance
UNEQUAL = 0.1  # by how much the partner of GDE may differ in accuracy before that is said


def remarks(source: Pass, target: Pass) -> tuple[str, ...]:
    """Return all of it, a sentence each, without capital and full stop."""
    own, other = source.outputs, target.outputs
    if (own.reference is None) != (other.reference is None):
        lacking = "source" if own.reference is None else "target"
        distrust = (f"the {lacking} has no reference, which two views and FRAP need of both: they are left out",)
    else:
        distrust = () if own.reference is None else check_reference(own).warnings
    checked = check_source(own, other).warnings
    return (*checked, *_of_training(source), *distrust, *_of_partner(own, other), *_of_files(source, target))


def source_remarks(source: Pass) -> tuple[str, ...]:
    """Return what is to be said of the source alone."""
    distrust = () if source.outputs.reference is None else check_reference(source.outputs).warnings
    return (*check_source(source.outputs).warnings, *_of_training(source), *distrust, *_of_sample(source))


def _of_training(source: Pass) -> Iterator[str]:
    """Whether the source is of images that the model was trained on, where the file says so."""
    same, alike, n = source.seen[SAME], source.seen[ALIKE], source.sample.n
    if are_many(same, n) or same + alike >= ALIKE_SHARE * n:
        yield (
            f"the model was trained on {same:,} of the {n:,} source images, and on images much like {alike:,} others "
            f"(column {SEEN} of the scores that --out keeps): it is surer and righter there than anywhere, and every "
            "estimate too high; take labelled images that it has not been trained on"
        )


def _of_partner(source: Outputs, target: Outputs) -> Iterator[str]:
    """Whether the first partner is so much weaker or stronger that its disagreement says little of the model."""
    if not source.partners or not target.partners:
        return
    own, other = (
        float((table.argmax(axis=1) == source.labels).mean()) for table in (source.logits, source.partners[0])
    )
    if abs(own - other) > UNEQUAL:
        yield (
            f"the first partner names {other:.1%} of the source right and the model {own:.1%}: GDE compares models of "
            "one recipe, and finds too low an accuracy with a weaker one"
        )


def _of_sample(source: Pass) -> Iterator[str]:
    if not source.sample.whole:
        yield f"of {source.sample.n:,} source images a uniform sample of {len(source.sample.rows):,} is used"


def _of_files(source: Pass, target: Pass) -> Iterator[str]:
    """What was done to the files as they were read; columns that were not, of which a name may be misspelt."""
    yield from _of_sample(source)
    for side in (source, target):
        table, name = side.table, side.table.name
        if side.rounded:
            yield (
                f"{side.rounded:,} of {side.sample.n:,} rows of probabilities in {name} do not add up to 1, as "
                "rounding leaves them, and were divided by their sums; save more digits"
            )
        if any(layout.classes.order is not None for layout in table.layouts):
            yield f"the classes of {name} come in another order and were put in order by their names"
        if table.classnames is None and (source.table.classnames or target.table.classnames):
            yield f"{name} names no classes: they are taken to come in the order of the other side's names"
        unused = table.layouts[0].unused
        if unused:
            yield f"columns of {name} that were not used: {', '.join(unused[:8])}"
