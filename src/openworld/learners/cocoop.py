"""CoCoOp (Zhou et al., 2022, "Conditional prompt learning"): a context that a small network moves image by image.

The network reads the unit image feature and gives one vector, which is added to every context token. Text features
therefore belong to an image: the text tower reads all class names anew for each, in training and at test time.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Generator, Tensor
from torch.nn.functional import cross_entropy, normalize, relu

from openworld.backbones import PromptedNames, TwoTower
from openworld.core.types import checked
from openworld.learners.engine.images import Answer, Images, Tensors
from openworld.learners.engine.prompt_learner import PromptLearner
from openworld.learners.engine.prompts import apply_linear, start_linear
from openworld.learners.engine.text_bank import NameSets, answer_of, cosine_logits
from openworld.learners.engine.text_features import Length, Words, encode_behind, start_context
from openworld.learners.engine.training import Schedule

# Sentences (images times names) that are encoded together at test time. Their features are held at once: 8 MB at a
# joint dimension of 512; more sentences make no pass faster, as the text tower itself works through them in parts.
SENTENCES = 4096


@checked
@dataclass(frozen=True)
class CoCoOp(PromptLearner):
    """Context plus the network's answer to the image, class name at the end.

    Args:
        context_length: N learned tokens where `words` is None.
        words: phrase that initialises the context; its tokens decide N.
        reduction: the network's hidden layer has the joint dimension over this many units, at least one.
        schedule: 10 epochs of single images at 0.002, for base-to-new and for training on ImageNet alike
            (KaiyangZhou/CoOp @ ff61507).
    """

    context_length: Length = 4
    words: Words = "a photo of a"
    reduction: Length = 16
    schedule: Schedule = Schedule(epochs=10, batch_size=1)

    name = "CoCoOp"
    paper = "Zhou et al., 2022"
    tunes = "N context tokens and a network that moves them for every image"
    cost = "text tower, once per image"
    consumes = "views"
    openpl = {"words": None}  # from random numbers; here still image by image

    def start(self, clip: TwoTower, classnames: Sequence[str], generator: Generator) -> Tensors:
        """A fresh context float[N, W], and the two layers of the network: joint dimension to hidden, hidden to W."""
        inputs, width = clip.config.joint_dimension, clip.config.text.width
        hidden = max(1, inputs // self.reduction)
        return {
            "context": start_context(clip, self.context_length, self.words, generator),
            **start_linear(clip, "hidden", inputs, hidden, generator),
            **start_linear(clip, "shift", hidden, width, generator),
        }

    def loss(
        self, clip: TwoTower, parameters: Tensors, images: Images, labels: Tensor, prepared: PromptedNames
    ) -> Tensors:
        """Cross-entropy of each image's own cosine logits; labels int64[B]."""
        return {"total": cross_entropy(conditional_logits(clip, parameters, images.embeddings, prepared), labels)}

    def text_bank(self, clip: TwoTower, parameters: Tensors, names: NameSets) -> "NameBank":
        """The tokenised names: what is compared with an image is encoded when the image is there."""
        return NameBank(self.prepare(clip, names.all), len(names.base))

    def answer(self, clip: TwoTower, parameters: Tensors, images: Images, bank: "NameBank") -> Answer:
        """Each image's own cosine logits over all names, and the log of the largest base softmax."""
        parts = images.embeddings.split(max(1, SENTENCES // len(bank.prompts)))
        logits = [conditional_logits(clip, parameters, part, bank.prompts) for part in parts if len(part)]
        no_image = images.embeddings.new_zeros(0, len(bank.prompts))
        return answer_of(torch.cat([no_image, *logits]), bank.base_count)


@dataclass(frozen=True)
class NameBank:
    """Tokenised names, base names first, and how many of them are base names."""

    prompts: PromptedNames
    base_count: int


def conditional_logits(clip: TwoTower, parameters: Tensors, embeddings: Tensor, prompts: PromptedNames) -> Tensor:
    """float[B, C], scale included: embeddings float[B, D] against names behind the context that each image moves."""
    shift = apply_linear(parameters, "shift", relu(apply_linear(parameters, "hidden", normalize(embeddings, dim=-1))))
    text = encode_behind(clip, parameters["context"] + shift[:, None], prompts)
    return cosine_logits(embeddings[:, None], text, clip.logit_scale)[:, 0]
