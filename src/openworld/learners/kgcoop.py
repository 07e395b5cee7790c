"""KgCoOp (Yao et al., 2023): CoOp held close to the zero-shot text features of the same names."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor
from torch.nn.functional import cross_entropy, normalize

from openworld.backbones import TwoTower
from openworld.core.types import NotNegative, checked
from openworld.datasets.templates import KGCOOP
from openworld.learners.engine.images import Images, Tensors
from openworld.learners.engine.prompt_learner import NamesAndTeacher, PromptLearner
from openworld.learners.engine.text_bank import cosine_logits
from openworld.learners.engine.text_features import Length, Sentence, Words, encode_behind, encode_names
from openworld.learners.engine.training import Schedule


@checked
@dataclass(frozen=True)
class KgCoOp(PromptLearner):
    """Cross-entropy plus knowledge guidance: weight * (1 - mean cosine to the frozen text features).

    Args:
        context_length: N learned tokens where `words` is None.
        words: phrase that initialises the context; its tokens decide N.
        weight: lambda of the guidance term; 8 in the published runs.
        template: of the frozen teacher; `published` knows each data set's.
        schedule: 100 epochs of 128 images at 0.002 (htyao89/KgCoOp @ c43ccc3).
    """

    context_length: Length = 4
    words: Words = "a photo of a"
    weight: NotNegative = 8.0
    template: Sentence = "a photo of a {}."
    schedule: Schedule = Schedule(epochs=100, batch_size=128)

    name = "KgCoOp"
    paper = "Yao et al., 2023"
    tunes = "N context tokens, shared by all classes"
    cost = "text tower"
    consumes = "views"
    of_dataset = {"template": KGCOOP}
    openpl = {"words": None, "schedule": Schedule(batch_size=32)}  # from random numbers; it does not say the batch size

    def prepare(self, clip: TwoTower, classnames: Sequence[str]) -> NamesAndTeacher:
        """The tokenised names, and the teacher's unit text features float[C, D]."""
        return self.prompted_names(clip, classnames), encode_names(clip, classnames, (self.template,))

    def loss(
        self, clip: TwoTower, parameters: Tensors, images: Images, labels: Tensor, prepared: NamesAndTeacher
    ) -> Tensors:
        """Cross-entropy, guidance and their weighted sum; labels int64[B]."""
        prompts, teacher = prepared
        text = normalize(encode_behind(clip, parameters["context"], prompts), dim=-1)
        entropy = cross_entropy(cosine_logits(images.embeddings, text, clip.logit_scale), labels)
        guidance = 1 - (text * teacher).sum(dim=-1).mean()
        return {"cross_entropy": entropy, "guidance": guidance, "total": entropy + self.weight * guidance}
