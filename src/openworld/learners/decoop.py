"""DeCoOp (Zhou et al., 2024): detectors of unfamiliar classes decide which of several experts name an image, if any.

Each of K detectors learns all base classes but every K-th, and to be unsure of those. Its score for an image is the
largest probability of a name it has learned, among all names. The experts, as many, are trained afterwards: where its
detector's score reaches the threshold an expert learns the label, elsewhere it learns to say what zero-shot CLIP says.
At test time an image is named by the mean logits of the experts whose detectors accept it, or by zero-shot CLIP where
none does. So its logits for some names depend on which other names there are.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
import torch
from torch import Generator, Tensor
from torch.nn.functional import cross_entropy, kl_div, normalize, relu

from openworld.backbones import DualEncoder, TwoTower
from openworld.core.types import NotNegative, Range, checked
from openworld.datasets.templates import ENSEMBLE
from openworld.features import Features
from openworld.learners.engine.detector_prompts import (
    Detectors,
    PreparedNames,
    detectors_among,
    detectors_of,
    divide_classes,
    prepare_names,
)
from openworld.learners.engine.fitted import FittedLearner, Learner
from openworld.learners.engine.fitting import batches_of, require_trainable
from openworld.learners.engine.images import Answer, Images, Tensors, select_images
from openworld.learners.engine.settings import PublishedSetting
from openworld.learners.engine.text_bank import NameSets, TextBank, cosine_logits
from openworld.learners.engine.text_features import Length, Sentences, encode_behind, encode_names, start_context
from openworld.learners.engine.training import Schedule, minimise

BARE = Schedule(momentum=0, weight_decay=0, warmup=False, drop_last=False)


@checked
@dataclass(frozen=True)
class DeCoOp(Learner):
    """Two stages, one after the other, which share no learned number.

    The released settings tune 6 x 16 tokens, 49,152 numbers at ViT-B/16. OpenworldAUC's table 7 (Hua et al., 2025)
    counts 30,720, which is `classifier_context` 4. The threshold is measured after the first stage and kept with them.

    Args:
        detectors: K, detectors and as many experts; 3 published.
        detector_context, classifier_context: tokens of each detector's prompt and of each expert's.
        margin: by how many nats a detector is to be less sure of the classes it does not learn; 0.4 published.
        templates: of zero-shot CLIP, whose logits are averaged over them.
        detector_schedule: 50 epochs of 32 plain images, SGD at a constant 0.002 without momentum or weight decay.
        schedule: of the experts, 100 such epochs; the cosine moves on with every step, so that the rate falls and rises
            again with a period of 200 steps (WNJXYK/DeCoOp @ 96a8812).
    """

    detectors: Annotated[int, Range(2, 1000)] = 3
    detector_context: Length = 16
    classifier_context: Length = 16
    margin: NotNegative = 0.4
    templates: Sentences = ENSEMBLE
    detector_schedule: Schedule = replace(BARE, decay="none")
    schedule: Schedule = replace(BARE, epochs=100, decay="per step", cosine_epochs=100)

    name = "DeCoOp"
    paper = "Zhou et al., 2024"
    tunes = "K x 16 context tokens to detect, K x 16 to name"
    cost = "text tower, 2 C prompts, later 3 C"
    consumes = "embeddings"
    depends_on_other_names = True
    in_stages = True
    measured = ("threshold",)

    @classmethod
    def published(cls, dataset: str, task: PublishedSetting = "base-to-new") -> "DeCoOp":
        """Return the same settings for every data set and task."""
        return cls()

    def start(self, clip: TwoTower, classnames: Sequence[str], generator: Generator) -> Tensors:
        """Fresh contexts of the detectors and of the experts, float[K, N, W] each."""
        return {
            "detectors": start_context(clip, self.detector_context, None, generator, count=self.detectors),
            "classifiers": start_context(clip, self.classifier_context, None, generator, count=self.detectors),
        }

    def prepare(self, clip: TwoTower, classnames: Sequence[str]) -> PreparedNames:
        """Tokenised names, partitions, and zero-shot text features."""
        partitions = divide_classes(len(classnames), self.detectors)
        lengths = self.detector_context, self.classifier_context
        return prepare_names(clip, classnames, partitions, lengths, self._zero_shot(clip, classnames))

    def loss(
        self, clip: TwoTower, parameters: Tensors, images: Images, labels: Tensor, prepared: PreparedNames
    ) -> Tensors:
        """The terms of both stages and the sum of their totals; labels int64[B].

        The experts are judged by the detectors as they are, without gradient, against the learned threshold; before
        there is one, they learn from every label.
        """
        first = self.detector_loss(clip, parameters, images, labels, prepared)
        detectors = self.judge(clip, parameters, prepared)
        second = self.classifier_loss(clip, parameters, images, labels, prepared, detectors)
        return {**first, **second, "total": first["total"] + second["total"]}

    def detector_loss(
        self, clip: TwoTower, parameters: Tensors, images: Images, labels: Tensor, prepared: PreparedNames
    ) -> Tensors:
        """The first stage alone: terms and "total", a function of `detectors`."""
        text = encode_behind(clip, parameters["detectors"], prepared.own_prompts)
        logits = cosine_logits(images.embeddings, text, clip.logit_scale)
        return detector_terms(logits, prepared.labels[:, labels], self.margin)

    def classifier_loss(
        self,
        clip: TwoTower,
        parameters: Tensors,
        images: Images,
        labels: Tensor,
        prepared: PreparedNames,
        detectors: Detectors,
    ) -> Tensors:
        """The second stage alone: terms and "total", a function of `classifiers`."""
        text = encode_behind(clip, parameters["classifiers"], prepared.classifier_prompts)
        logits = cosine_logits(images.embeddings, text, clip.logit_scale)
        accepted = detectors.log_scores(images.embeddings, clip.logit_scale).exp() >= parameters.get("threshold", 0)
        return classifier_terms(logits, _mean_logits(images, prepared.zero_shot, clip.logit_scale), accepted, labels)

    @torch.no_grad()
    def judge(self, clip: TwoTower, parameters: Tensors, prepared: PreparedNames) -> Detectors:
        """The detectors among all training names, frozen."""
        prompts = clip.prompt_names(prepared.classnames, self.detector_context)
        return detectors_of(clip, parameters["detectors"], prompts, prepared.names, [True] * len(prompts))

    def fit(self, clip: TwoTower, train: Features, *, seed: int) -> FittedLearner:
        """Learn the detectors, measure the threshold, learn the experts: from plain images."""
        require_trainable(self, train)
        generator = torch.Generator().manual_seed(seed)
        start, prepared = self.start(clip, train.classnames, generator), self.prepare(clip, train.classnames)

        def detect(parameters: Tensors, images: Images, labels: Tensor) -> Tensors:
            return self.detector_loss(clip, parameters, images, labels, prepared)

        def classify(parameters: Tensors, images: Images, labels: Tensor) -> Tensors:
            return self.classifier_loss(clip, learned | parameters, images, labels, prepared, detectors)

        batches = batches_of(self, clip, train, generator, schedule=self.detector_schedule)
        learned, detecting = minimise({"detectors": start["detectors"]}, detect, batches, self.detector_schedule)
        detectors = self.judge(clip, learned, prepared)
        learned["threshold"] = self.measure(clip, train, detectors)
        batches = batches_of(self, clip, train, generator)
        experts, naming = minimise({"classifiers": start["classifiers"]}, classify, batches, self.schedule)
        return FittedLearner(self, clip, tuple(train.classnames), learned | experts, detecting + naming)

    @torch.no_grad()
    def measure(self, clip: TwoTower, train: Features, detectors: Detectors) -> Tensor:
        """The threshold, 0-d, in [0, 1]: the smallest of the detectors' Otsu thresholds on the training images."""
        images = select_images(train, clip, self.consumes, np.arange(len(train)))
        scores = detectors.log_scores(images.embeddings, clip.logit_scale).exp()
        return scores.new_tensor(min(otsu(detector.cpu().numpy()) for detector in scores))

    def text_bank(self, clip: TwoTower, parameters: Tensors, names: NameSets) -> TextBank:
        """All names by zero-shot CLIP.

        `parts` are its mean features float[C, D], the experts' unit features float[K, C, D], and the detectors.
        """
        prompts = clip.prompt_names(names.all, self.classifier_context)
        experts = normalize(encode_behind(clip, parameters["classifiers"], prompts), dim=-1)
        zero_shot = self._zero_shot(clip, names.all)
        parts = divide_classes(len(names.training), self.detectors).names
        detectors = detectors_among(clip, parameters["detectors"], names, parts)
        text = normalize(zero_shot, dim=-1)
        return TextBank(text, len(names.base), clip.logit_scale, (zero_shot, experts, detectors))

    def answer(self, clip: TwoTower, parameters: Tensors, images: Images, bank: TextBank) -> Answer:
        """Logits of the accepted experts summed and divided by K, or zero-shot logits; log of the largest score."""
        zero_shot, experts, detectors = bank.parts
        scores = detectors.log_scores(images.embeddings, bank.scale)
        accepted = (scores.exp() >= parameters["threshold"])[..., None]
        mixture = (accepted * cosine_logits(images.embeddings, experts, bank.scale)).mean(dim=0)
        logits = torch.where(accepted.any(dim=0), mixture, _mean_logits(images, zero_shot, bank.scale))
        return Answer(logits, scores.amax(dim=0))

    def _zero_shot(self, clip: DualEncoder, names: Sequence[str]) -> Tensor:
        # The mean of unit features is not a unit vector, and left so: its dot products are then mean logits.
        return torch.stack([encode_names(clip, names, (template,)) for template in self.templates]).mean(dim=0)


def detector_terms(logits: Tensor, columns: Tensor, margin: float) -> Tensors:
    """Return the first stage's terms, 0-d means over the detectors, and their "total"."""
    # logits float[K, B, m] over a detector's own names; columns int64[K, B] of an image's class there, -1: pseudo new.
    # Without pseudo base images a detector's terms are zero, without one of both kinds its hinge is.
    base, logs = columns >= 0, logits.log_softmax(dim=-1)
    entropies = -(logs.exp() * logs).sum(dim=-1)
    base_entropy, unknown = _mean_over(entropies, base), _mean_over(entropies, ~base)
    hinge = relu(margin + base_entropy - unknown) * base.any(dim=1) * (~base).any(dim=1)
    cross = _mean_over(cross_entropy(logits.mT, columns, ignore_index=-1, reduction="none"), base).mean()
    means = {"base_entropy": base_entropy.mean(), "new_entropy": unknown.mean(), "hinge": hinge.mean()}
    return {"detector_cross_entropy": cross, **means, "total": cross + hinge.mean()}


def classifier_terms(logits: Tensor, zero_shot: Tensor, accepted: Tensor, labels: Tensor) -> Tensors:
    """Return the second stage's terms, 0-d means over the experts; a term without images is zero."""
    # logits float[K, B, n] of each expert and zero-shot float[B, n] over all base names; accepted bool[K, B]
    entropies = cross_entropy(logits.mT, labels.expand(len(logits), -1), reduction="none")
    targets = zero_shot.log_softmax(dim=-1).expand_as(logits)
    divergences = kl_div(logits.log_softmax(dim=-1), targets, reduction="none", log_target=True).sum(dim=-1)
    cross, divergence = _mean_over(entropies, accepted).mean(), _mean_over(divergences, ~accepted).mean()
    return {"classifier_cross_entropy": cross, "divergence": divergence, "total": cross + divergence}


def _mean_over(values: Tensor, chosen: Tensor) -> Tensor:
    """Return the mean of the chosen entries of each row of [K, B], float[K]; zero where there is none."""
    return (values * chosen).sum(dim=1) / chosen.sum(dim=1).clamp(min=1)


def _mean_logits(images: Images, zero_shot: Tensor, scale: Tensor) -> Tensor:
    """Return logits float[B, C] averaged over templates, of the mean of their unit text features [C, D]."""
    return scale * normalize(images.embeddings, dim=-1) @ zero_shot.mT


BINS = 256


def otsu(scores: np.ndarray) -> float:
    """Return the threshold that parts scores float[N] into two groups of largest variance between them (Otsu, 1979)."""
    scores = np.asarray(scores, np.float64)
    if scores.min() == scores.max():
        return float(scores[0])
    # The centre of the last bin of the lower group; of the first such bin where several are as good.
    counts, edges = np.histogram(scores, BINS)
    centres = (edges[:-1] + edges[1:]) / 2
    below, sums = np.cumsum(counts)[:-1], np.cumsum(counts * centres)
    above = len(scores) - below
    between = below * above * (sums[:-1] / below - (sums[-1] - sums[:-1]) / above) ** 2
    return float(centres[np.argmax(between)])
