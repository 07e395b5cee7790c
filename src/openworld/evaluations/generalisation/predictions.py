"""What a fitted learner answers at every target; about the source's base images it is asked once, for all of them.

The source itself and every other data set show these images beside new names of their own. Where logits do not
depend on the other names, one answer among all new names holds the answer at each target as a slice; detection scores
that are not the default ones are asked for again with the names of the target. New names of another data set may stand
in the sentence that is published for it: such answers are not shared, since a name may stand in two sentences.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from openworld.datasets.names.forms import normalise_class_name
from openworld.evaluations.answer_slices import default_scores, scored_by_default
from openworld.evaluations.generalisation.encoded_targets import EncodedTarget
from openworld.learners import Answer, FittedLearner
from openworld.learners.engine.settings import with_sentences_of


def answer_targets(
    fitted: FittedLearner, targets: Sequence[EncodedTarget], *, own_sentences: bool = False
) -> Iterator[Answer]:
    """The answers at each target, images in its order; by slices of one answer where that is exact.

    Args:
        fitted: a fitted learner.
        targets: of one task, that of the source first; those that show the same base images share the answer about
            them.
        own_sentences: whether the new names of another data set stand in its own sentence.
    """
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
    """The answer at one target; without `shared` nothing is sliced, and `answer_targets` must equal it.

    Args:
        new_side: the same learner with other sentences, in which the new names stand.
    """
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
