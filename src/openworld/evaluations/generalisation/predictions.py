"""The images of every target of a task, and what a fitted learner answers there.

Labels count in one list of names, base names first. About the source's base images a learner is asked once, for all
targets that show them beside new names of their own. Where logits do not depend on the other names, one answer among
all new names holds the answer at each target as a slice; detection scores that are not the default ones are asked for
again with the names of the target. New names of another data set may stand in the sentence that is published for it:
such answers are not shared, since a name may stand in two sentences.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch

from openworld.datasets import ClassSplit, ImageSet
from openworld.datasets.names.forms import normalise_class_name
from openworld.evaluations.generalisation.spec import GeneralisationSpec, Target, kept_classes, split_as
from openworld.evaluations.image_selection import ImageSelection
from openworld.evaluations.views import ImagePool, SharedAnswer, distinct_pairs, joined_answers, numbers_among
from openworld.features import Features, View
from openworld.learners import Answer, FittedLearner
from openworld.learners.engine.settings import with_sentences_of


@dataclass(frozen=True, eq=False)
class EncodedTarget:
    """The encoded images of a target, those of base and of new classes."""

    target: Target
    base: Features
    new: Features
    sets: Mapping[str, ImageSelection]  # of the task, by part
    moved: int = 0  # added to the numbers of new images of another set, so that ids differ; 0 where both are of one

    @cached_property
    def split(self) -> ClassSplit:
        return ClassSplit.joined(self.base.classnames, self.new.classnames)

    @property
    def labels(self) -> np.ndarray:
        """int64[N], the class of every image among `names`, in `order`."""
        return np.concatenate([self.base.labels, self.new.labels + len(self.split.base)])[self.order]

    @property
    def rows(self) -> np.ndarray:
        """int64[N], increasing: the id of every image."""
        return self._ids[self.order]

    @property
    def groups(self) -> np.ndarray:
        """int64[N], equal for images of one image set that are not independent."""
        # Base images of another data set are the source's: two sets, each of which numbers its groups from 0.
        side = np.repeat([0, int(self.moved > 0)], [len(self.base), len(self.new)])
        return distinct_pairs(side, np.concatenate([self.base.groups, self.new.groups]))[self.order]

    @cached_property
    def order(self) -> np.ndarray:
        """int64[N]: the base images' places, then the new ones', sorted by id."""
        return np.argsort(self._ids, kind="stable")

    def path_of(self, number: int) -> str:
        images, row = self._locate(number)
        return images.path_of(row)

    def image(self, number: int):
        images, row = self._locate(number)
        return images.image(row)

    def _locate(self, number: int) -> tuple[ImageSet, int]:
        at_home = self.moved and number < self.moved
        return self.sets["test" if at_home else self.target.part].load(), number if at_home else number - self.moved

    @cached_property
    def _ids(self) -> np.ndarray:
        return np.concatenate([self.base.rows, self.new.rows + self.moved])


def encoded_targets(task: GeneralisationSpec, parts: Mapping[str, Features]) -> Iterator[EncodedTarget]:
    """Yield every target of a task, in order, of the encoded image sets of its sources."""
    source, beyond = parts["test"].split, len(task.image_sets["test"].load())
    at_home = parts["test"].of_classes(source.base)
    for target in task.targets:
        images = parts[target.part]
        if target.kind == "other":
            chosen = images.of_classes(kept_classes(images.classnames, target.left_out))
            yield EncodedTarget(target, at_home, chosen, task.image_sets, beyond)
        else:
            split = split_as(source, images.classnames, task.source.left_out)
            base = at_home if target.kind == "source" else images.of_classes(split.base)
            yield EncodedTarget(target, base, images.of_classes(split.new), task.image_sets)


def answer_targets(
    fitted: FittedLearner, targets: Sequence[EncodedTarget], *, own_sentences: bool = False
) -> Iterator[Answer]:
    """Yield the answers at each target, that of the source first; by slices of one answer where that is exact."""
    source = targets[0].target.data.dataset
    names = {target.target.data.dataset for target in targets} if own_sentences else set()
    away = {name: replace(fitted, learner=with_sentences_of(fitted.learner, source, name)) for name in names}
    moved = [away.get(target.target.data.dataset, fitted).learner != fitted.learner for target in targets]
    at_home = [
        target for target, other in zip(targets, moved, strict=True) if target.base is targets[0].base and not other
    ]
    shared = None if fitted.learner.depends_on_other_names else _shared(fitted, at_home)
    for target, other in zip(targets, moved, strict=True):
        new_side = away[target.target.data.dataset] if other else None
        yield answer_target(fitted, target, shared if target in at_home else None, new_side)


def _shared(fitted: FittedLearner, targets: Sequence[EncodedTarget]) -> SharedAnswer:
    """The answer about the base images of all targets among base names and every new name that some target has."""
    base, base_names = targets[0].base, targets[0].split.base_names
    names = {normalise_class_name(name): name for target in targets for name in target.split.new_names}
    pool = ImagePool((base,), (*base_names, *names.values()))
    sides = np.split(np.arange(len(pool.names)), [len(base_names)])
    return SharedAnswer(fitted, pool, np.arange(len(base)), *sides)


def answer_target(
    fitted: FittedLearner,
    target: EncodedTarget,
    shared: SharedAnswer | None = None,
    new_side: FittedLearner | None = None,
) -> Answer:
    """Return the answer at one target; without `shared` nothing is sliced, and `answer_targets` must equal it."""
    bank = fitted.text_bank(target.split.base_names, target.split.new_names)
    if new_side is not None:
        away = new_side.text_bank(target.split.base_names, target.split.new_names)
        bank = replace(bank, text=torch.cat([bank.text[: bank.base_count], away.text[bank.base_count :]]))
    if shared is None:
        base = fitted.answer(target.base, bank)
    else:
        new = numbers_among(shared.pool.names, target.split.new_names)
        base = shared.of(View(shared.images, np.concatenate([shared.base, new])))
    both = joined_answers((base, fitted.answer(target.new, bank)))
    return Answer(*(None if part is None else part[target.order] for part in vars(both).values()))
