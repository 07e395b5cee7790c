"""Detectors of GMoP (Hua et al., 2025) and DeCoOp (Zhou et al., 2024): what classes each holds, and its prompt.

Detector i treats class j as pseudo new iff j mod K = i, so that every class is new exactly once. The rule, the padding
and the labels are those of huacong/OpenworldAUC @ 8bb934a and WNJXYK/DeCoOp @ 96a8812. Base is told from new by the
detector that is surest of a name of its own; training softmaxes run over a detector's own names, those at test time
over all candidates.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from openworld.backbones import PromptedNames, TwoTower
from openworld.core.errors import OpenworldError
from openworld.datasets.names.forms import normalise_class_name
from openworld.learners.engine.text_bank import NameSets, cosine_logits
from openworld.learners.engine.text_features import encode_behind


@dataclass(frozen=True)
class Partitions:
    """One division of n base classes for each of K detectors, which hold m = ceil(n (K - 1) / K) names each."""

    names: np.ndarray  # int64[K, m]; of one class too few, class i's own name fills detector i's last place
    labels: np.ndarray  # int64[K, n], column of a class in `names`; -1 where it is pseudo new, or fills a place

    def name(self, classnames: Sequence[str]) -> list[list[str]]:
        """Return the m class names of each detector."""
        return [[classnames[index] for index in indices] for indices in self.names]


def divide_classes(count: int, detectors: int, order: np.ndarray | None = None) -> Partitions:
    """Divide `count` base classes, or a permutation of them, among `detectors`, from 2 to `count`."""
    if not 2 <= detectors <= count:
        raise OpenworldError(
            f"{detectors} detector(s) cannot divide {count} base class(es); K must be at least 2 and at most the "
            "number of base classes."
        )
    order = np.arange(count) if order is None else np.asarray(order)
    width = -(-count * (detectors - 1) // detectors)
    names = np.empty((detectors, width), np.int64)
    labels = np.full((detectors, count), -1)
    for detector in range(detectors):
        pseudo_base = np.sort(order[np.arange(count) % detectors != detector])
        names[detector] = order[detector]
        names[detector, : len(pseudo_base)] = pseudo_base
        labels[detector, pseudo_base] = np.arange(len(pseudo_base))
    return Partitions(names, labels)


@dataclass(frozen=True)
class PreparedNames:
    """What the loss of a learner with K detectors needs of its n base names, computed once."""

    classnames: tuple[str, ...]
    own_prompts: PromptedNames  # K lists of the m names that each detector holds
    classifier_prompts: PromptedNames  # all names, behind the context by which images are named
    names: Tensor  # int64[K, m] and labels int64[K, n] of `Partitions`
    labels: Tensor
    zero_shot: Tensor  # float[n, D], text features by zero-shot CLIP


def prepare_names(
    clip: TwoTower, classnames: Sequence[str], parts: Partitions, lengths: tuple[int, int], zero_shot: Tensor
) -> PreparedNames:
    """Return names behind contexts of so many tokens, those of the detectors and of the classifier."""
    return PreparedNames(
        classnames=tuple(classnames),
        own_prompts=clip.prompt_names(parts.name(classnames), lengths[0]),
        classifier_prompts=clip.prompt_names(classnames, lengths[1]),
        names=torch.as_tensor(parts.names, device=clip.device),
        labels=torch.as_tensor(parts.labels, device=clip.device),
        zero_shot=zero_shot,
    )


@dataclass(frozen=True)
class Detectors:
    """K detectors among V names."""

    text: Tensor  # float[K, V, D], unit text features of all names behind each detector's context
    own_names: Tensor  # bool[K, V], the names a detector was trained to accept
    candidates: Tensor  # bool[K, V], the names that compete: its own and those of the evaluation

    def log_scores(self, embeddings: Tensor, scale: Tensor) -> Tensor:
        """Return the log of the largest softmax of an own name, over the names that a detector sees, float[K, B]."""
        logits = cosine_logits(embeddings, self.text, scale).masked_fill(~self.candidates[:, None], -torch.inf)
        return logits.log_softmax(dim=-1).masked_fill(~self.own_names[:, None], -torch.inf).amax(dim=-1)


def detectors_among(clip: TwoTower, contexts: Tensor, names: NameSets, parts: Any) -> Detectors:
    """Return detectors with contexts float[K, N, W] for an evaluation; parts: K lists of training classes."""
    # Training names first, so that a partition's class numbers are places in the vocabulary.
    vocabulary = {normalise_class_name(name): name for name in names.training + names.all}
    prompts = clip.prompt_names(list(vocabulary.values()), contexts.shape[1])
    candidates = {normalise_class_name(name) for name in names.all}
    return detectors_of(clip, contexts, prompts, parts, [name in candidates for name in vocabulary])


def detectors_of(
    clip: TwoTower, contexts: Tensor, prompts: PromptedNames, parts: Any, candidates: Sequence[bool]
) -> Detectors:
    """Return detectors among V prepared names; parts: K lists of their places; candidates: which names compete."""
    text = normalize(encode_behind(clip, contexts, prompts), dim=-1)
    places = torch.as_tensor(parts, device=clip.device)
    learned = torch.zeros(text.shape[:2], dtype=torch.bool, device=clip.device).scatter(1, places, True)
    return Detectors(text, learned, learned | torch.as_tensor(candidates, device=clip.device))
