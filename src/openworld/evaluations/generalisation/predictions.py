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

from openworld.datasets import ClassSplit
from openworld.datasets.names.forms import normalise_class_name
from openworld.evaluations.answer_slices import default_scores, scored_by_default
from openworld.evaluations.generalisation.task import GeneralisationTask, Target, kept_classes, split_as
from openworld.features import Features
from openworld.learners import Answer, FittedLearner
from openworld.learners.engine.settings import with_sentences_of


@dataclass(frozen=True, eq=False)
class EncodedTarget:
    """The encoded images of a target, those of base and of new classes."""

    target: Target
    base: Features
    new: Features
    moved: int = 0  # added to the numbers of new images of another set, so that ids differ; 0 where both are of one

    @cached_property
    def split(self) -> ClassSplit:
        """All class names, base names first."""
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
        side = np.repeat([0, int(self.moved > 0)], [len(self.base), len(self.new)])
        pairs = np.stack([side, np.concatenate([self.base.groups, self.new.groups])])
        return np.unique(pairs, axis=1, return_inverse=True)[1].reshape(-1)[self.order]

    @cached_property
    def order(self) -> np.ndarray:
        """int64[N]: the base images' places, then the new ones', sorted by id."""
        return np.argsort(self._ids, kind="stable")

    def locate(self, number: int) -> tuple[str, int]:
        """The part and the number in its image set of the image with an id."""
        if self.moved and number < self.moved:
            return "test", number
        return self.target.part, number - self.moved

    @cached_property
    def _ids(self) -> np.ndarray:
        return np.concatenate([self.base.rows, self.new.rows + self.moved])


def encoded_targets(task: GeneralisationTask, parts: Mapping[str, Features]) -> Iterator[EncodedTarget]:
    """Yield every target of a task, in order, of the encoded image sets of its sources."""
    source, beyond = parts["test"].split, len(task.sources["test"].load())
    at_home = parts["test"].of_classes(source.base)
    for target in task.targets:
        images = parts[target.part]
        if target.kind == "other":
            kept = images.of_classes(kept_classes(images.classnames, target.left_out))
            yield EncodedTarget(target, at_home, kept, beyond)
        else:
            split = split_as(source, images.classnames, task.source.left_out)
            base = at_home if target.kind == "source" else images.of_classes(split.base)
            yield EncodedTarget(target, base, images.of_classes(split.new))


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
    shared = None if fitted.learner.depends_on_other_names else _SharedAnswer.of(fitted, at_home)
    for target, other in zip(targets, moved, strict=True):
        new_side = away[target.target.data.dataset] if other else None
        yield answer_target(fitted, target, shared if target in at_home else None, new_side)


def answer_target(
    fitted: FittedLearner,
    target: EncodedTarget,
    shared: "_SharedAnswer | None" = None,
    new_side: FittedLearner | None = None,
) -> Answer:
    """Return the answer at one target; without `shared` nothing is sliced, and `answer_targets` must equal it."""
    bank = fitted.text_bank(target.split.base_names, target.split.new_names)
    if new_side is not None:
        away = new_side.text_bank(target.split.base_names, target.split.new_names)
        bank = replace(bank, text=torch.cat([bank.text[: bank.base_count], away.text[bank.base_count :]]))
    base = fitted.answer(target.base, bank) if shared is None else shared.slice(fitted, target, bank)
    both = base, fitted.answer(target.new, bank)
    parts = ([getattr(answer, name) for answer in both] for name in Answer.__annotations__)
    return Answer(*(None if part[0] is None else np.concatenate(part)[target.order] for part in parts))


@dataclass(frozen=True, eq=False)
class _SharedAnswer:
    """The answer about base images among base names and every new name that some target has."""

    answer: Answer
    places: dict[str, int]
    default: bool

    @classmethod
    def of(cls, fitted: FittedLearner, targets: Sequence[EncodedTarget]) -> "_SharedAnswer":
        base, base_names = targets[0].base, targets[0].split.base_names
        names = {normalise_class_name(name): name for target in targets for name in target.split.new_names}
        answer = fitted.answer(base, fitted.text_bank(base_names, names.values()))
        places = {name: place for place, name in enumerate(names, len(base_names))}
        return cls(answer, places, scored_by_default(answer, len(base_names)))

    def slice(self, fitted: FittedLearner, target: EncodedTarget, bank) -> Answer:
        """The part of a target, whose names `bank` holds."""
        base_count = len(target.split.base)
        new = [self.places[normalise_class_name(name)] for name in target.split.new_names]
        logits = self.answer.logits[:, [*range(base_count), *new]]
        scores = default_scores(logits, base_count) if self.default else fitted.answer(target.base, bank).baseness
        return Answer(logits, scores, self.answer.base_logits)
