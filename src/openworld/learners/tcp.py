"""TCP (Yao et al., 2024): tokens made from a class's own text feature take the context's place inside the tower.

A small network turns the frozen unit text feature of each class into N tokens, which replace the N context rows of that
class at the input of one text block. The context acts through what the rows behind it took up before.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from torch import Generator, Tensor
from torch.nn.functional import cross_entropy, normalize

from openworld.backbones import TwoTower
from openworld.backbones.blocks import quick_gelu
from openworld.core.errors import OpenworldError
from openworld.core.types import NotNegative, checked
from openworld.datasets.templates import TCP_BEHIND, TCP_TEACHER
from openworld.learners.engine.images import Images, Tensors
from openworld.learners.engine.prompt_learner import NamesAndTeacher, PromptLearner
from openworld.learners.engine.prompts import apply_linear, start_linear
from openworld.learners.engine.settings import PublishedSetting
from openworld.learners.engine.text_bank import NameSets, TextBank, cosine_logits
from openworld.learners.engine.text_features import (
    Length,
    Sentence,
    Words,
    context_tokens,
    encode_behind,
    encode_names,
    start_context,
)
from openworld.learners.engine.training import Schedule

PUBLISHED_EPOCHS = {"sun397": 25, "imagenet": 25}
"""Epochs by data set, where the released scripts evaluate another than the last of 50."""


@checked
@dataclass(frozen=True)
class TCP(PromptLearner):
    """Cross-entropy plus weight * (1 - mean cosine to the frozen text features).

    Args:
        context_length: N learned tokens where `words` is None; as many tokens are made for each class.
        words: phrase that initialises the context; its tokens decide N.
        block: text block, counted from 0, at whose input the class tokens replace the context; None for two thirds of
            the way up: 8 of 12 as published, 2 of 4.
        reduction: the network's hidden layer has the joint dimension over this many units, at least one.
        weight: of the guidance term.
        behind: what follows the context, `{}` being the name; `published` knows each data set's.
        template: of the frozen text features; `published` knows each data set's.
        schedule: 50 epochs of 32 images, Adam at 0.002 with an epsilon of 0.001
            (htyao89/Textual-based_Class-aware_prompt_tuning @ bd97bec). The released code needs that epsilon in half
            precision; it stays, because it also sets the size of the steps.
    """

    context_length: Length = 4
    words: Words = None
    block: Length | None = None
    reduction: Length = 4
    weight: NotNegative = 8.0
    behind: Sentence = "{}."
    template: Sentence = "a photo of a {}."
    schedule: Schedule = Schedule(optimizer="Adam", adam_epsilon=1e-3)

    name = "TCP"
    paper = "Yao et al., 2024"
    tunes = "N context tokens and a network that makes N tokens for every class"
    cost = "text tower"
    consumes = "views"
    of_dataset = {"behind": TCP_BEHIND, "template": TCP_TEACHER}

    @classmethod
    def published(cls, dataset: str, task: PublishedSetting = "base-to-new") -> "TCP":
        """Return them with the data set's two sentences and epochs; OpenPL's epochs are its own."""
        settings = super().published(dataset, task)
        if task == "openpl":
            return settings
        epochs = PUBLISHED_EPOCHS.get(dataset, settings.schedule.epochs)
        return replace(settings, schedule=replace(settings.schedule, epochs=epochs))

    def start(self, clip: TwoTower, classnames: Sequence[str], generator: Generator) -> Tensors:
        """A fresh context float[N, W], and the two layers of the network: joint dimension to hidden, hidden to N W."""
        inputs, width = clip.config.joint_dimension, clip.config.text.width
        hidden = max(1, inputs // self.reduction)
        context = start_context(clip, self.context_length, self.words, generator)
        return {
            "context": context,
            **start_linear(clip, "hidden", inputs, hidden, generator),
            **start_linear(clip, "tokens", hidden, len(context) * width, generator),
        }

    def prepare(self, clip: TwoTower, classnames: Sequence[str]) -> NamesAndTeacher:
        """The tokenised names, and their frozen unit text features float[C, D]."""
        fixed, suffix = self.behind.split("{}")
        length = context_tokens(clip, self.context_length, self.words)
        prompts = clip.prompt_names(classnames, length, suffix, fixed=fixed.strip())
        return prompts, encode_names(clip, classnames, (self.template,))

    def loss(
        self, clip: TwoTower, parameters: Tensors, images: Images, labels: Tensor, prepared: NamesAndTeacher
    ) -> Tensors:
        """Cross-entropy, guidance and their weighted sum; labels int64[B]."""
        text = self._text(clip, parameters, prepared)
        entropy = cross_entropy(cosine_logits(images.embeddings, text, clip.logit_scale), labels)
        guidance = 1 - (text * prepared[1]).sum(dim=-1).mean()
        return {"cross_entropy": entropy, "guidance": guidance, "total": entropy + self.weight * guidance}

    def text_bank(self, clip: TwoTower, parameters: Tensors, names: NameSets) -> TextBank:
        """Text features of all names behind the learned context and their own class tokens."""
        text = self._text(clip, parameters, self.prepare(clip, names.all))
        return TextBank(text, len(names.base), clip.logit_scale)

    def class_tokens(self, parameters: Tensors, teacher: Tensor) -> Tensor:
        """The tokens float[C, N, W] that the network makes from frozen unit text features float[C, D]."""
        hidden = quick_gelu(apply_linear(parameters, "hidden", teacher))
        return apply_linear(parameters, "tokens", hidden).unflatten(-1, parameters["context"].shape)

    def _text(self, clip: TwoTower, parameters: Tensors, prepared: NamesAndTeacher) -> Tensor:
        prompts, teacher = prepared
        tokens = {self._block(clip): self.class_tokens(parameters, teacher)}
        return normalize(encode_behind(clip, parameters["context"], prompts, replace_per_class=tokens), dim=-1)

    def _block(self, clip: TwoTower) -> int:
        layers = clip.config.text.layers
        block = 2 * layers // 3 if self.block is None else self.block
        if not 1 <= block < layers:
            raise OpenworldError(
                f"class tokens enter at the input of text block {block}, counted from 0, but {clip.name!r} has "
                f"{layers}; give a block from 1 to {layers - 1}."
            )
        return block
