"""ProDA (Lu et al., 2022): a distribution of classifiers, learned as a collection of contexts."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import torch
from torch import Generator, Tensor
from torch.nn.functional import cross_entropy, normalize

from openworld.backbones import PromptedNames, TwoTower
from openworld.core.types import NotNegative, Range, checked
from openworld.learners.engine.images import Answer, Images, Tensors
from openworld.learners.engine.prompt_learner import PromptLearner
from openworld.learners.engine.text_bank import NameSets, TextBank, answer_of
from openworld.learners.engine.text_features import Length, encode_behind, start_context
from openworld.learners.engine.training import Loop, Schedule

Prompts = tuple[dict[str, PromptedNames], PromptedNames]
"""Tokenised names by the position of the context, and the context alone."""


@checked
@dataclass(frozen=True)
class ProDA(PromptLearner):
    """Upper bound of the expected cross-entropy of Gaussian classifiers, plus weight * orthogonality of the contexts.

    The authors' code is not public; positions, bound and settings are those of ml-stat-Sustech/CLIP_Calibration
    @ 5b68fb1, with which two other ports agree in the formulas.

    Args:
        contexts: P, learned contexts; the first quarter stands after the class name, the next quarter half before and
            half after it, the others before it.
        context_length: N tokens of each.
        per_step: contexts drawn for a step; all are drawn once before any is drawn again.
        weight: lambda of the orthogonality.
        keep_underscores: leave "_" in names, as that code does.
        schedule: 100 epochs of 4 images at 0.001.
    """

    contexts: Annotated[int, Range(2, 10_000)] = 32
    context_length: Length = 16
    per_step: Length = 4
    weight: NotNegative = 0.1
    keep_underscores: bool = False
    schedule: Schedule = Schedule(epochs=100, batch_size=4, learning_rate=1e-3)

    name = "ProDA"
    paper = "Lu et al., 2022"
    tunes = "P contexts of N tokens, shared by all classes"
    cost = "text tower, 4 contexts"
    consumes = "views"
    openpl = {"context_length": 4}

    def start(self, clip: TwoTower, classnames: Sequence[str], generator: Generator) -> Tensors:
        """Fresh contexts float[P, N, W]."""
        return {"contexts": start_context(clip, self.context_length, None, generator, self.contexts)}

    def prepare(self, clip: TwoTower, classnames: Sequence[str]) -> Prompts:
        """The tokenised names for each position of the context, and the context alone."""
        return self._prompts(clip, classnames), clip.prompt_names(("",), self.context_length)

    def loss(self, clip: TwoTower, parameters: Tensors, images: Images, labels: Tensor, prepared: Prompts) -> Tensors:
        """The bound on the drawn contexts, the orthogonality of all, and their weighted sum; labels int64[B]."""
        prompts, alone = prepared
        contexts = parameters["contexts"]
        text = self._texts(clip, contexts, images.draw.tolist(), prompts)
        entropy = cross_entropy(upper_bound_logits(images.embeddings, text, labels, clip.logit_scale), labels)
        orthogonality = mean_absolute_cosine(encode_behind(clip, contexts, alone)[:, 0])
        return {
            "cross_entropy": entropy,
            "orthogonality": orthogonality,
            "total": entropy + self.weight * orthogonality,
        }

    @property
    def loop(self) -> Loop:
        """The contexts of a step are drawn."""
        return Loop(draws=self._draws)

    def text_bank(self, clip: TwoTower, parameters: Tensors, names: NameSets) -> TextBank:
        """Means of unit text features over all contexts; they are shorter than 1, and stay so."""
        text = self._texts(clip, parameters["contexts"], range(self.contexts), self._prompts(clip, names.all))
        return TextBank(text.mean(dim=0), len(names.base), clip.logit_scale)

    def answer(self, clip: TwoTower, parameters: Tensors, images: Images, bank: TextBank) -> Answer:
        """Mean of the cosine logits over the contexts for all names, and the log of the largest base softmax."""
        logits = bank.scale * normalize(images.embeddings, dim=-1) @ bank.text.mT
        return answer_of(logits, bank.base_count)

    def _prompts(self, clip: TwoTower, classnames: Sequence[str]) -> dict[str, PromptedNames]:
        return {
            position: clip.prompt_names(
                classnames, self.context_length, position=position, keep_underscores=self.keep_underscores
            )
            for position in ("front", "middle", "end")
        }

    def _position(self, context: int) -> str:
        quarter = self.contexts // 4
        return "front" if context < quarter else "middle" if context < 2 * quarter else "end"

    def _texts(
        self, clip: TwoTower, contexts: Tensor, drawn: Iterable[int], prompts: dict[str, PromptedNames]
    ) -> Tensor:
        """Unit features float[b, C, D] behind b drawn contexts, those of one position together."""
        parts = []
        for position, names in prompts.items():
            rows = [context for context in drawn if self._position(context) == position]
            if rows:
                parts.append(encode_behind(clip, contexts[rows], names))
        return normalize(torch.cat(parts), dim=-1)

    def _draws(self, generator: Generator) -> Iterator[Tensor]:
        while True:
            yield from torch.randperm(self.contexts, generator=generator).split(self.per_step)


def upper_bound_logits(embeddings: Tensor, text: Tensor, labels: Tensor, scale: Tensor) -> Tensor:
    """Return logits float[B, C] whose cross-entropy bounds the expected one: s f.m + s^2 / 2 times a variance."""
    # embeddings float[B, D] of any length; text float[b, C, D], unit features of C names behind b contexts
    images, mean = normalize(embeddings, dim=-1), text.mean(dim=0)
    variances = variances_to_label(images, text - mean, labels)
    return scale * images @ mean.mT + 0.5 * scale.square() * variances


def variances_to_label(images: Tensor, deviations: Tensor, labels: Tensor) -> Tensor:
    """Return the variance of f.(w_k - w_y) for every class k, float[B, C], at least 0, and 0 at the label y."""
    # The quadratic form in the C x C covariances of all D dimensions, divisor b + 1, without building them.
    weights = images.square()
    squares = weights @ deviations.square().sum(dim=0).mT
    shared = torch.einsum("bkd,bcd->kc", weights * deviations[:, labels], deviations)
    return (squares.gather(1, labels[:, None]) + squares - 2 * shared) / (len(deviations) + 1)


def mean_absolute_cosine(features: Tensor) -> Tensor:
    """Return the mean |cosine| over all pairs of different rows of float[P, D], 0-d."""
    unit = normalize(features, dim=-1)
    pairs = ~torch.eye(len(unit), dtype=torch.bool, device=unit.device)
    return (unit @ unit.mT)[pairs].abs().mean()
