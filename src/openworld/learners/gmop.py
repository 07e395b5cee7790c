"""GMoP, the gated mixture of prompts that trains for OpenworldAUC (Hua et al., 2025, section 5).

One prompt names base images; K detector prompts, each blind to some base classes, tell base from new; zero-shot CLIP
names new images. The detectors are trained by a pairwise loss in which a gate lets a pair count as much as both of its
images are named right. Follows huacong/OpenworldAUC @ 8bb934a where the paper is silent: the gate is the sigmoid of a
probability and is not detached; training softmaxes run over a detector's own names, test softmaxes over all.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

import numpy as np
import torch
from torch import Generator, Tensor
from torch.nn.functional import cross_entropy, normalize

from openworld.backbones import TwoTower
from openworld.core.types import Count, NotNegative, Range, checked
from openworld.datasets.templates import APPENDIX_C4, PHOTO, TEMPLATES
from openworld.learners.engine.detector_prompts import (
    Partitions,
    PreparedNames,
    detectors_among,
    divide_classes,
    prepare_names,
)
from openworld.learners.engine.images import Answer, Images, Tensors
from openworld.learners.engine.prompt_learner import PromptLearner
from openworld.learners.engine.settings import PublishedSetting
from openworld.learners.engine.text_bank import NameSets, TextBank, answer_by_cosine, cosine_logits
from openworld.learners.engine.text_features import HOLDS_NAME, Length, encode_behind, encode_names, start_context
from openworld.learners.engine.training import Schedule

PUBLISHED_EPOCHS = {"imagenet": 10, "caltech101": 40, "oxford_pets": 40, "oxford_flowers": 50}
"""Epochs by data set, where huacong/OpenworldAUC gives them."""

Gate = Literal["sigmoid", "detached", "logit", "0-1", "none"]


@checked
@dataclass(frozen=True)
class GMoP(PromptLearner):
    """The mixture and its ablations.

    Args:
        detectors: K detector prompts; 3 in every published run.
        detector_context, classifier_context: tokens of each detector prompt and of the base classifier's.
        alpha: weight of the detectors' cross-entropy (lambda in the paper); 0.5, on ImageNet 1.
        lam: weight of the pairwise loss; 1 in every published run.
        gate: "sigmoid" of the true class's probability (published), "detached" (the same without gradient), "logit"
            (sigmoid of the true class's logit), "0-1" (named right or not), "none" (every pair counts one).
        new_classifier: "zero-shot" (published), or "tuned": the base classifier's prompt names new images too.
        single_prompt: one prompt of `detector_context` tokens for all three roles; implies a tuned new classifier.
        partition_seed: None divides the classes by their index modulo K (published); a number divides a permutation of
            them drawn from it.
        template: of zero-shot CLIP, which names new images: a sentence, or several whose unit features are averaged;
            `published` knows those of the paper's appendix C.4 and, elsewhere, the data set's own sentence.
        schedule: 50 epochs of 32 plain images, SGD 0.002 without momentum, cosine of period 100 epochs.
    """

    detectors: Annotated[int, Range(2, 1000)] = 3
    detector_context: Length = 16
    classifier_context: Length = 4
    alpha: NotNegative = 0.5
    lam: NotNegative = 1.0
    gate: Gate = "sigmoid"
    new_classifier: Literal["zero-shot", "tuned"] = "zero-shot"
    single_prompt: bool = False
    partition_seed: Count | None = None
    template: Annotated[str | tuple[str, ...], HOLDS_NAME] = "a photo of a {}."
    schedule: Schedule = Schedule(momentum=0, weight_decay=0, warmup=False, cosine_epochs=100, drop_last=False)

    name = "GMoP"
    paper = "Hua et al., 2025"
    tunes = "4 context tokens to name base, K x 16 to detect"
    cost = "text tower, 1 + K contexts"
    consumes = "embeddings"

    @classmethod
    def published(cls, dataset: str, task: PublishedSetting = "base-to-new") -> "GMoP":
        """Return them with the data set's sentences, epochs and alpha, where published; the same for every task."""
        default = cls(template=APPENDIX_C4.get(dataset) or TEMPLATES.get(dataset, PHOTO))
        epochs = PUBLISHED_EPOCHS.get(dataset, default.schedule.epochs)
        alpha = 1.0 if dataset == "imagenet" else default.alpha
        return replace(default, alpha=alpha, schedule=replace(default.schedule, epochs=epochs))

    @property
    def sentences(self) -> tuple[str, ...]:
        """Those of zero-shot CLIP."""
        return (self.template,) if isinstance(self.template, str) else self.template

    def start(self, clip: TwoTower, classnames: Sequence[str], generator: Generator) -> Tensors:
        """Fresh contexts: classifier float[N, W] and detectors float[K, N, W], or one for all, float[N, W]."""
        if self.single_prompt:
            return {"context": start_context(clip, self.detector_context, None, generator)}
        return {
            "classifier": start_context(clip, self.classifier_context, None, generator),
            "detectors": start_context(clip, self.detector_context, None, generator, count=self.detectors),
        }

    def prepare(self, clip: TwoTower, classnames: Sequence[str]) -> PreparedNames:
        """Tokenised names, partitions, and the zero-shot text features that the new side's gate needs."""
        partitions = self.divide(len(classnames))
        length = self.detector_context if self.single_prompt else self.classifier_context
        zero_shot = encode_names(clip, classnames, self.sentences)
        return prepare_names(clip, classnames, partitions, (self.detector_context, length), zero_shot)

    def divide(self, count: int) -> Partitions:
        """The pseudo base and pseudo new classes of every detector."""
        if self.partition_seed is None:
            return divide_classes(count, self.detectors)
        return divide_classes(count, self.detectors, np.random.default_rng(self.partition_seed).permutation(count))

    def loss(
        self, clip: TwoTower, parameters: Tensors, images: Images, labels: Tensor, prepared: PreparedNames
    ) -> Tensors:
        """The three terms and their weighted sum; labels int64[B]."""
        embeddings = images.embeddings
        context = parameters["context" if self.single_prompt else "classifier"]
        base_text = encode_behind(clip, context, prepared.classifier_prompts)
        if self.single_prompt:
            detector_text = base_text[prepared.names]
        else:
            detector_text = encode_behind(clip, parameters["detectors"], prepared.own_prompts)
        base_logits = cosine_logits(embeddings, base_text, clip.logit_scale)
        detector_logits = cosine_logits(embeddings, detector_text, clip.logit_scale)
        if self.tuned_new:
            new_logits = base_logits.detach()
        else:
            new_logits = cosine_logits(embeddings, prepared.zero_shot, clip.logit_scale)
        return mixture_loss(base_logits, new_logits, detector_logits, labels, prepared.labels, self)

    def text_bank(self, clip: TwoTower, parameters: Tensors, names: NameSets) -> TextBank:
        """Base names by the tuned prompt, new names by zero-shot CLIP; `parts` are the detectors, of all names."""
        classifier = parameters["context"] if self.single_prompt else parameters["classifier"]
        tuned = names.all if self.tuned_new else names.base
        text = normalize(encode_behind(clip, classifier, clip.prompt_names(tuned, len(classifier))), dim=-1)
        if names.new and not self.tuned_new:
            text = torch.cat([text, encode_names(clip, names.new, self.sentences)])
        if self.single_prompt:
            return TextBank(text, len(names.base), clip.logit_scale)
        parts = self.divide(len(names.training)).names
        detectors = detectors_among(clip, parameters["detectors"], names, parts)
        return TextBank(text, len(names.base), clip.logit_scale, detectors)

    def answer(self, clip: TwoTower, parameters: Tensors, images: Images, bank: TextBank) -> Answer:
        """Base names by the tuned prompt, new names by zero-shot CLIP; the most convinced detector tells base from new.

        Its score is the log of the largest softmax of an own name, over the names and over the detectors.
        """
        answer = answer_by_cosine(images.embeddings, bank)
        if self.single_prompt:
            return answer
        scores = bank.parts.log_scores(images.embeddings, bank.scale)
        return replace(answer, baseness=scores.amax(dim=0))

    @property
    def tuned_new(self) -> bool:
        """Whether new images are named with the base classifier's prompt."""
        return self.single_prompt or self.new_classifier == "tuned"


def mixture_loss(
    base_logits: Tensor,
    new_logits: Tensor,
    detector_logits: Tensor,
    labels: Tensor,
    detector_labels: Tensor,
    settings: GMoP,
) -> Tensors:
    """Return GMoP's terms on the logits of one batch: means over the K detectors, and their "total"."""
    # base_logits, new_logits float[B, n] over all base names; detector_logits float[K, B, m] over a detector's own;
    # detector_labels int64[K, n]: the column of a class there, -1 where it is pseudo new. A detector whose batch lacks
    # pseudo base or pseudo new images adds zero and still counts in the mean.
    columns = detector_labels[:, labels]
    is_base = columns >= 0
    base_count, new_count = is_base.sum(dim=1), (~is_base).sum(dim=1)
    both = (base_count > 0) & (new_count > 0)
    entropies = cross_entropy(detector_logits.mT, columns, ignore_index=-1, reduction="none").sum(dim=1)
    base_gate, new_gate = _gates(base_logits, new_logits, labels, settings.gate)
    score = detector_logits.softmax(dim=-1).amax(dim=-1)
    margin = 1 - (score[:, :, None] - score[:, None, :])
    weight = (base_gate * is_base)[:, :, None] * (new_gate * ~is_base)[:, None, :]
    pairwise = (weight * margin.square()).sum(dim=(1, 2))
    cross = cross_entropy(base_logits, labels)
    detector_cross = (both * entropies / base_count.clamp(min=1)).mean()
    pair = (both * pairwise / (base_count * new_count).clamp(min=1)).mean()
    total = cross + settings.alpha * detector_cross + settings.lam * pair
    return {"cross_entropy": cross, "detector_cross_entropy": detector_cross, "pairwise": pair, "total": total}


def _gates(base_logits: Tensor, new_logits: Tensor, labels: Tensor, gate: Gate) -> tuple[Tensor, Tensor]:
    """Return how much a base image and a new image count in a pair, float[B] each."""

    def of(logits: Tensor) -> Tensor:
        if gate == "none":
            return torch.ones_like(logits[:, 0])
        if gate == "0-1":
            return (logits.argmax(dim=-1) == labels).to(logits.dtype)
        true = (logits if gate == "logit" else logits.softmax(dim=-1)).gather(1, labels[:, None])[:, 0]
        return torch.sigmoid(true.detach() if gate == "detached" else true)

    return of(base_logits), of(new_logits)
