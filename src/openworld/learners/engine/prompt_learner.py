"""What most prompt learners share: one context in front of every class name, learned from views of training images."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

from torch import Generator, Tensor
from torch.nn.functional import normalize

from openworld.backbones import PromptedNames, TwoTower
from openworld.features import Features
from openworld.learners.engine.fitted import FittedLearner, fit_prompts
from openworld.learners.engine.images import Answer, Images
from openworld.learners.engine.settings import PublishedSetting, unified
from openworld.learners.engine.text_bank import NameSets, TextBank, answer_by_cosine
from openworld.learners.engine.text_features import context_tokens, encode_behind, start_context


class PromptLearner:
    """Base of the learners that `fit_prompts` trains; what a learner does otherwise it says itself.

    All but `published` and `fit` is for those with settings `context_length` and `words` and one tensor "context".
    """

    openpl: ClassVar[dict[str, Any]] = {}  # settings of OpenPL, beside the schedule that it unifies

    @classmethod
    def published(cls, dataset: str, task: PublishedSetting = "base-to-new") -> Self:
        """Return the defaults, the same for every data set, and for OOD, where nothing else was published."""
        default = cls()
        if task == "openpl":
            return replace(default, **cls.openpl, schedule=unified(default.schedule, dataset))
        return default

    def start(self, clip: TwoTower, classnames: Sequence[str], generator: Generator) -> dict[str, Tensor]:
        """Make a fresh context float[N, W]."""
        return {"context": start_context(clip, self.context_length, self.words, generator)}

    def prompted_names(self, clip: TwoTower, classnames: Sequence[str]) -> PromptedNames:
        """Tokenise names behind N places for the context."""
        return clip.prompt_names(classnames, context_tokens(clip, self.context_length, self.words))

    def prepare(self, clip: TwoTower, classnames: Sequence[str]) -> PromptedNames:
        """Return what the loss needs of the names: their tokens."""
        return self.prompted_names(clip, classnames)

    def fit(self, clip: TwoTower, train: Features, *, seed: int) -> FittedLearner:
        """Learn from training images, encoded with `encoding_for(learner, Encoding(views=...))`."""
        return fit_prompts(self, clip, train, seed=seed)

    def text_bank(self, clip: TwoTower, parameters: dict[str, Tensor], names: NameSets) -> TextBank:
        """Return text features of all names behind the learned context."""
        text = encode_behind(clip, parameters["context"], self.prompted_names(clip, names.all))
        return TextBank(normalize(text, dim=-1), len(names.base), clip.logit_scale)

    def answer(self, clip: TwoTower, parameters: dict[str, Tensor], images: Images, bank: TextBank) -> Answer:
        """Return cosine logits of the frozen embeddings over all names, and the log of the largest base softmax."""
        return answer_by_cosine(images.embeddings, bank)
