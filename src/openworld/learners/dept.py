"""DePT (Zhang et al., 2024) on KgCoOp: a linear head on re-weighted channels learns what only the base classes need.

The head and the two channel affines read embeddings and text features as the towers give them, not normalised: their
length counts. At test time the head speaks up for base names alone; new names, and the detection score, which has to
compare both, come from the cosines of KgCoOp's prompt.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Generator, Tensor
from torch.nn.functional import cross_entropy, normalize

from openworld.backbones import TwoTower
from openworld.core.types import NotNegative, Share, checked
from openworld.datasets.templates import KGCOOP
from openworld.learners.engine.images import Answer, Images, Tensors
from openworld.learners.engine.prompt_learner import NamesAndTeacher, PromptLearner
from openworld.learners.engine.prompts import apply_linear, start_linear
from openworld.learners.engine.text_bank import NameSets, TextBank, answer_by_cosine, cosine_logits
from openworld.learners.engine.text_features import Length, Sentence, Words, encode_behind, encode_names, start_context
from openworld.learners.engine.training import Loop, Schedule


@checked
@dataclass(frozen=True)
class DePT(PromptLearner):
    """(1 - h) * cross-entropy of cosines + h * cross-entropy of the head + weight * guidance, h the head's share.

    It tunes 4,096 + 513 C numbers at ViT-B/16 for C base classes. The released code registers 267,264 + 513 C, which
    at C = 50 is the 292,914 of OpenworldAUC's table 7 (Hua et al., 2025): it marks a bias vector and a linear layer of
    512 x 512 as trainable that nothing ever reads. They are not kept here.

    Args:
        context_length: N learned tokens where `words` is None.
        words: phrase that initialises the context; its tokens decide N.
        head_share: of the linear head, from 0 to 1, in the loss and in base logits; 0.7 published.
        weight: of KgCoOp's guidance term; 2 published.
        template: of the frozen teacher; `published` knows each data set's.
        rate_factor: on the learning rate of the head and of the affines.
        schedule: 10 epochs of 4 images at 0.0035 (Koorye/DePT @ d4ff416).
    """

    context_length: Length = 4
    words: Words = "a photo of a"
    head_share: Share = 0.7
    weight: NotNegative = 2.0
    template: Sentence = "a photo of a {}."
    rate_factor: NotNegative = 6.5
    schedule: Schedule = Schedule(epochs=10, batch_size=4, learning_rate=3.5e-3)

    name = "DePT"
    paper = "Zhang et al., 2024"
    tunes = "N context tokens, channel affines, a linear head over base classes"
    cost = "text tower"
    consumes = "views"
    of_dataset = {"template": KGCOOP}
    openpl = None  # only base-to-new was published

    def start(self, clip: TwoTower, classnames: Sequence[str], generator: Generator) -> Tensors:
        """A fresh context float[N, W], affines that change nothing float[D], a random head float[C, D] and float[C]."""
        width = clip.config.joint_dimension
        return {
            "context": start_context(clip, self.context_length, self.words, generator),
            **{f"{side}_scale": torch.ones(width, device=clip.device) for side in ("image", "text")},
            **{f"{side}_shift": torch.zeros(width, device=clip.device) for side in ("image", "text")},
            **start_linear(clip, "head", width, len(classnames), generator),
        }

    def prepare(self, clip: TwoTower, classnames: Sequence[str]) -> NamesAndTeacher:
        """The tokenised names, and the teacher's unit text features float[C, D]."""
        return self.prompted_names(clip, classnames), encode_names(clip, classnames, (self.template,))

    def loss(
        self, clip: TwoTower, parameters: Tensors, images: Images, labels: Tensor, prepared: NamesAndTeacher
    ) -> Tensors:
        """Both cross-entropies, guidance and their weighted sum; labels int64[B].

        The head is trained on the B images and on the text features of their B labels alike.
        """
        prompts, teacher = prepared
        text = encode_behind(clip, parameters["context"], prompts)
        entropy = cross_entropy(cosine_logits(images.embeddings, text, clip.logit_scale), labels)
        rows = [_affine(parameters, "text", text[labels]), _affine(parameters, "image", images.embeddings)]
        head_entropy = cross_entropy(apply_linear(parameters, "head", torch.cat(rows)), labels.repeat(2))
        guidance = 1 - (normalize(text, dim=-1) * teacher).sum(dim=-1).mean()
        total = (1 - self.head_share) * entropy + self.head_share * head_entropy + self.weight * guidance
        return {"cross_entropy": entropy, "head_cross_entropy": head_entropy, "guidance": guidance, "total": total}

    def text_bank(self, clip: TwoTower, parameters: Tensors, names: NameSets) -> TextBank:
        """Text features of all names behind the learned context; `parts` are the head's outputs for the base names."""
        text = normalize(encode_behind(clip, parameters["context"], self.prompted_names(clip, names.all)), dim=-1)
        outputs = names.training_places()[: len(names.base)]
        # A head that knows only some of the base names would push these ahead of the others: it keeps silent.
        return TextBank(text, len(names.base), clip.logit_scale, None if -1 in outputs else outputs)

    def answer(self, clip: TwoTower, parameters: Tensors, images: Images, bank: TextBank) -> Answer:
        """Cosine logits over all names, and the log of the largest base softmax; base logits joined with the head's."""
        answer = answer_by_cosine(images.embeddings, bank)
        if bank.parts is None:
            return answer
        head = apply_linear(parameters, "head", _affine(parameters, "image", images.embeddings))[:, bank.parts]
        cosines = answer.logits[:, : bank.base_count]
        fused = (1 - self.head_share) * cosines + self.head_share * head
        return Answer(answer.logits, answer.baseness, fused)

    @property
    def loop(self) -> Loop:
        """Head and affines learn faster than the context."""
        fast = ("image_scale", "text_scale", "image_shift", "text_shift", "head_weight", "head_bias")
        return Loop(rate_factors=dict.fromkeys(fast, self.rate_factor))


def _affine(parameters: Tensors, side: str, features: Tensor) -> Tensor:
    return parameters[f"{side}_scale"] * features + parameters[f"{side}_shift"]
