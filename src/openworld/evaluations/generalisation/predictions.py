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
from openworld.evaluations.generalisation.stages import Stage
from openworld.features import Features
from openworld.learners import Answer, FittedLearner


def answer_stages(fitted: FittedLearner, stages: Sequence[Stage]) -> Iterator[Answer]:
    """The answers at each stage, images in its order; by slices of one answer where that is exact.

    Args:
        fitted: a fitted learner.
        stages: of one task; those that show the same base images share the answer about them.
    """
    at_home = [stage for stage in stages if stage.base is stages[0].base]
    shared = None if fitted.learner.depends_on_other_names else _Shared.of(fitted, at_home)
    for stage in stages:
        yield answer_stage(fitted, stage, shared if stage in at_home else None)


def answer_stage(fitted: FittedLearner, stage: Stage, shared: "_Shared | None" = None) -> Answer:
    """The answer at one stage; without `shared` nothing is sliced, and `answer_stages` must equal it."""
    bank = fitted.text_bank(stage.split.base_names, stage.split.new_names)
    base = fitted.answer(stage.base, bank) if shared is None else shared.slice(fitted, stage, bank)
    both = base, fitted.answer(stage.new, bank)
    joined = (_joined([getattr(one, name) for one in both], stage.order) for name in Answer.__annotations__)
    return Answer(*joined)


@dataclass(frozen=True, eq=False)
class _Shared:
    """The answer about base images among base names and every new name that some stage has."""

    answer: Answer
    places: dict[str, int]
    default: bool

    @classmethod
    def of(cls, fitted: FittedLearner, stages: Sequence[Stage]) -> "_Shared":
        base: Features = stages[0].base
        names = {normalise_class_name(name): name for stage in stages for name in stage.split.new_names}
        answer = fitted.answer(base, fitted.text_bank(stages[0].split.base_names, names.values()))
        places = {name: place for place, name in enumerate(names, len(stages[0].split.base))}
        return cls(answer, places, scored_by_default(answer, len(stages[0].split.base)))

    def slice(self, fitted: FittedLearner, stage: Stage, bank) -> Answer:
        """The part of a stage, whose names `bank` holds."""
        new = [self.places[normalise_class_name(name)] for name in stage.split.new_names]
        logits = self.answer.logits[:, [*range(len(stage.split.base)), *new]]
        if self.default:
            return Answer(logits, default_scores(logits, len(stage.split.base)), self.answer.base_logits)
        return Answer(logits, fitted.answer(stage.base, bank).baseness, self.answer.base_logits)


def _joined(parts: list[np.ndarray | None], order: np.ndarray) -> np.ndarray | None:
    return None if parts[0] is None else np.concatenate(parts)[order]
