"""What a fitted learner answers at every target; about the source's base images it is asked once, for all of them.

The source itself and every other data set show these images beside new names of their own. Where logits do not
depend on the other names, one answer among all new names holds the answer at each target as a slice; detection scores
that are not the default ones are asked for again with the names of the target.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from openworld.datasets.names.forms import normalise_class_name
from openworld.evaluations.answer_slices import default_scores, scored_by_default
from openworld.evaluations.generalisation.encoded_targets import EncodedTarget
from openworld.learners import Answer, FittedLearner


def answer_targets(fitted: FittedLearner, targets: Sequence[EncodedTarget]) -> Iterator[Answer]:
    """The answers at each target, images in its order; by slices of one answer where that is exact.

    Args:
        fitted: a fitted learner.
        targets: of one task; those that show the same base images share the answer about them.
    """
    at_home = [target for target in targets if target.base is targets[0].base]
    shared = None if fitted.learner.depends_on_other_names else _SharedAnswer.of(fitted, at_home)
    for target in targets:
        yield answer_target(fitted, target, shared if target in at_home else None)


def answer_target(fitted: FittedLearner, target: EncodedTarget, shared: "_SharedAnswer | None" = None) -> Answer:
    """The answer at one target; without `shared` nothing is sliced, and `answer_targets` must equal it."""
    bank = fitted.text_bank(target.split.base_names, target.split.new_names)
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
