"""What most prompt learners share: one context in front of every class name, learned from views of training images."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

from torch import Generator, Tensor
from torch.nn.functional import cross_entropy, normalize

from openworld.backbones import PromptedNames, TwoTower
from openworld.features import Features
from openworld.learners.engine.fitted import FittedLearner, Learner
from openworld.learners.engine.fitting import fit_prompts
from openworld.learners.engine.images import Answer, Images, Tensors
from openworld.learners.engine.settings import PublishedSetting, unified
from openworld.learners.engine.text_bank import NameSets, TextBank, answer_by_cosine, cosine_logits
from openworld.learners.engine.text_features import context_tokens, encode_behind, start_context

NamesAndTeacher = tuple[PromptedNames, Tensor]
"""Tokenised names, and the unit text features float[C, D] of a frozen teacher."""


class PromptLearner(Learner):
    """Base of the learners that `fit_prompts` trains; what a learner does otherwise it says itself.

    Unless it says so: its settings are `context_length` and `words`, it learns one tensor "context", and a loss by the
    cross-entropy of cosines between `image_features` and `text_features`, by which it answers, too.
    """

    depends_on_other_names = False
    # Published settings other than the defaults: setting -> data set -> value; for OOD; and of OpenPL, beside the
    # schedule that it unifies, or None where OpenPL has none of its own.
    of_dataset: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    ood: ClassVar[Mapping[str, Any]] = {}
    openpl: ClassVar[Mapping[str, Any] | None] = {}

    @classmethod
    def published(cls, dataset: str, task: PublishedSetting = "base-to-new") -> Self:
        """Return the defaults with what was published for the data set and for the task."""
        default: Any = cls(**{name: values[dataset] for name, values in cls.of_dataset.items() if dataset in values})
        if task == "openpl" and cls.openpl is not None:
            default = replace(default, **cls.openpl)
            return replace(default, schedule=unified(default.schedule, dataset))
        return replace(default, **cls.ood) if task == "ood" else default

    def start(self, clip: TwoTower, classnames: Sequence[str], generator: Generator) -> Tensors:
        """Make a fresh context float[N, W]."""
        settings: Any = self
        return {"context": start_context(clip, settings.context_length, settings.words, generator)}

    def prompted_names(self, clip: TwoTower, classnames: Sequence[str]) -> PromptedNames:
        """Tokenise names behind N places for the context."""
        settings: Any = self
        return clip.prompt_names(classnames, context_tokens(clip, settings.context_length, settings.words))

    def prepare(self, clip: TwoTower, classnames: Sequence[str]) -> Any:
        """Return what the loss needs of the names: their tokens."""
        return self.prompted_names(clip, classnames)

    def fit(self, clip: TwoTower, train: Features, *, seed: int) -> FittedLearner:
        """Learn from training images, encoded with `encoding_for(learner, Encoding(views=...))`."""
        learner: Any = self
        return fit_prompts(learner, clip, train, seed=seed)

    def text_features(self, clip: TwoTower, parameters: Tensors, names: Any) -> Tensor:
        """Return features float[C, D], of any length, of `prompted_names`."""
        return encode_behind(clip, parameters["context"], names)

    def image_features(self, clip: TwoTower, parameters: Tensors, images: Images) -> Tensor:
        """Return features float[B, D], of any length: the frozen embeddings."""
        return images.embeddings

    def loss(self, clip: TwoTower, parameters: Tensors, images: Images, labels: Tensor, prepared: Any) -> Tensors:
        """Return the cross-entropy of cosine logits; labels int64[B]."""
        text = self.text_features(clip, parameters, prepared)
        image = self.image_features(clip, parameters, images)
        return {"total": cross_entropy(cosine_logits(image, text, clip.logit_scale), labels)}

    def text_bank(self, clip: TwoTower, parameters: Tensors, names: NameSets) -> Any:
        """Return unit text features of all names."""
        text = self.text_features(clip, parameters, self.prompted_names(clip, names.all))
        return TextBank(normalize(text, dim=-1), len(names.base), clip.logit_scale)

    def answer(self, clip: TwoTower, parameters: Tensors, images: Images, bank: Any) -> Answer:
        """Return cosine logits over all names, and the log of the largest base softmax."""
        return answer_by_cosine(self.image_features(clip, parameters, images), bank)
