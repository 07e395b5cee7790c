"""ProGrad (Zhu et al., 2023): CoOp whose steps never work against zero-shot CLIP.

The gradient of the cross-entropy loses the part that points against the gradient of a second loss, the cross-entropy to
zero-shot CLIP's predictions on the same view. That loss itself is never minimised.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Generator, Tensor
from torch.nn.functional import cross_entropy, normalize

from openworld.backbones import PromptedNames, TwoTower
from openworld.core.errors import OpenworldError
from openworld.core.types import AboveZero, NotNegative, checked
from openworld.datasets.templates import PHOTO, PROGRAD
from openworld.learners.engine.images import Images, Tensors
from openworld.learners.engine.prompt_learner import NamesAndTeacher, PromptLearner
from openworld.learners.engine.settings import PublishedSetting, unified
from openworld.learners.engine.text_bank import cosine_logits
from openworld.learners.engine.text_features import Length, Sentence, Words, encode_behind, encode_names, start_context
from openworld.learners.engine.training import Loop, Schedule


@checked
@dataclass(frozen=True)
class ProGrad(PromptLearner):
    """CoOp under a projected gradient.

    Args:
        context_length: N learned tokens.
        words: phrase of at most N words that the context starts with, at its end, behind rows of zeros; where a comma
            makes it one token longer than its words, the last word is not learned, but stays between context and
            name. None for Normal(0, 0.02) in all N rows.
        strength: lambda, how much of the opposing part is taken out; 1 in the released scripts, 0.8 for 8 and 16 shots
            of Flowers, DTD and EuroSAT classified among all their classes.
        temperature: T of the second loss.
        template: of zero-shot CLIP; `published` knows each data set's.
        schedule: 100 epochs of 32 images at 0.002 (BeierZhu/Prompt-align @ 1b76203, base-to-new on 4 shots of a
            ResNet-50; nothing was published for transformers).
    """

    context_length: Length = 16
    words: Words = "a photo of a"
    strength: NotNegative = 1.0
    temperature: AboveZero = 1.0
    template: Sentence = "a photo of a {}."
    schedule: Schedule = Schedule(epochs=100)

    name = "ProGrad"
    paper = "Zhu et al., 2023"
    tunes = "N context tokens, shared by all classes"
    cost = "text tower, backwards twice"
    consumes = "views"

    def __post_init__(self):
        if self.words is not None and len(self.words.split()) > self.context_length:
            raise OpenworldError(
                f"the context of {self.context_length} tokens cannot hold the words {self.words!r}; give fewer words, "
                "more context_length, or words None to start from random numbers."
            )

    @classmethod
    def published(cls, dataset: str, task: PublishedSetting = "base-to-new") -> "ProGrad":
        """Return them with the sentence that the context starts from, too; OpenPL takes 4 tokens of random numbers."""
        template = PROGRAD.get(dataset, PHOTO)
        if task == "openpl":
            schedule = unified(Schedule(), dataset)
            return cls(context_length=4, words=None, template=template, schedule=schedule)
        default = cls(words=template.removesuffix(" {}."), template=template)
        epochs = 50 if dataset == "imagenet" else default.schedule.epochs
        return replace(default, schedule=replace(default.schedule, epochs=epochs))

    def start(self, clip: TwoTower, classnames: Sequence[str], generator: Generator) -> Tensors:
        """A fresh context float[N, W]."""
        if self.words is None:
            return {"context": start_context(clip, self.context_length, None, generator)}
        tokens = clip.embed_words(self.words).float()
        learned = tokens[: len(tokens) - len(clip.embed_words(self._fixed(clip)))]
        return {
            "context": torch.cat([learned.new_zeros(self.context_length - len(learned), learned.shape[1]), learned])
        }

    def prepare(self, clip: TwoTower, classnames: Sequence[str]) -> NamesAndTeacher:
        """The tokenised names, and zero-shot CLIP's unit text features float[C, D]."""
        return self.prompted_names(clip, classnames), encode_names(clip, classnames, (self.template,))

    def loss(
        self, clip: TwoTower, parameters: Tensors, images: Images, labels: Tensor, prepared: NamesAndTeacher
    ) -> Tensors:
        """The cross-entropy, also as "total", and the "knowledge" loss that its gradient heeds; labels int64[B]."""
        prompts, teacher = prepared
        logits = cosine_logits(images.embeddings, encode_behind(clip, parameters["context"], prompts), clip.logit_scale)
        zero_shot = cosine_logits(images.embeddings, teacher, clip.logit_scale)
        target = (zero_shot / self.temperature).softmax(dim=-1)
        knowledge = self.temperature**2 * cross_entropy(logits / self.temperature, target)
        entropy = cross_entropy(logits, labels)
        return {"cross_entropy": entropy, "knowledge": knowledge, "total": entropy}

    @property
    def loop(self) -> Loop:
        """Steps go along `gradient`."""
        return Loop(gradient=self.gradient)

    def gradient(self, terms: Mapping[str, Tensor], parameters: Mapping[str, Tensor]) -> Tensors:
        """What a step descends along: the cross-entropy's gradient without its part against the knowledge loss's."""
        tensors = list(parameters.values())
        wanted = torch.autograd.grad(terms["cross_entropy"], tensors, retain_graph=True)
        heeded = torch.autograd.grad(terms["knowledge"], tensors)
        pairs = zip(parameters, wanted, heeded, strict=True)
        return {name: project(gradient, knowledge, self.strength) for name, gradient, knowledge in pairs}

    def prompted_names(self, clip: TwoTower, classnames: Sequence[str]) -> PromptedNames:
        return clip.prompt_names(classnames, self.context_length, fixed=self._fixed(clip))

    def _fixed(self, clip: TwoTower) -> str:
        """The words at the end of the phrase that are not learned: as many tokens as it has more than words."""
        words = [] if self.words is None else self.words.split()
        spare, last = len(clip.embed_words(" ".join(words))) - len(words), len(words)
        while len(clip.embed_words(" ".join(words[last:]))) < spare:
            last -= 1
        return " ".join(words[last:])


def project(gradient: Tensor, other: Tensor, strength: float = 1.0) -> Tensor:
    """Return `gradient` without its part against `other`, both as one vector; unchanged where they agree."""
    # A gradient of length zero has no direction: `normalize` leaves it zero, and nothing is taken out.
    direction = normalize(other.flatten(), dim=0).view_as(other)
    against = (gradient * direction).sum().clamp(max=0)
    return gradient - strength * against * direction
