"""CoOp (Zhou et al., 2022): one learned context in front of every class name, trained by cross-entropy."""

from dataclasses import dataclass

from openworld.core.types import checked
from openworld.learners.engine.prompt_learner import PromptLearner
from openworld.learners.engine.text_features import Length, Words
from openworld.learners.engine.training import Schedule


@checked
@dataclass(frozen=True)
class CoOp(PromptLearner):
    """Unified context, class name at the end.

    Args:
        context_length: N learned tokens; 16 in the paper's few-shot experiments, 4 in OpenPL.
        words: initialise the context with the embeddings of this phrase, whose tokens then decide N; None for
            Normal(0, 0.02).
        schedule: 50 epochs of 32 images at 0.002, as OpenworldAUC (Hua et al., 2025) compares it.
    """

    context_length: Length = 16
    words: Words = None
    schedule: Schedule = Schedule()

    name = "CoOp"
    paper = "Zhou et al., 2022"
    tunes = "N context tokens, shared by all classes"
    cost = "text tower"
    consumes = "views"
    openpl = {"context_length": 4}
