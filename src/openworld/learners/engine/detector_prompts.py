"""Detector prompts at test time: each knows some names as its own, and sees them among all candidates.

GMoP (Hua et al., 2025) and DeCoOp (Zhou et al., 2024) tell base from new by the detector that is surest of a name of
its own. Training softmaxes run over a detector's own names, these over all that it sees.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import normalize

from openworld.backbones import PromptedNames, TwoTower
from openworld.datasets.names.forms import normalise_class_name
from openworld.learners.engine.text_bank import NameSets, cosine_logits
from openworld.learners.engine.text_features import encode_behind


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


def detectors_among(clip: TwoTower, contexts: Tensor, names: NameSets, parts: Sequence[Sequence[int]]) -> Detectors:
    """Return detectors with contexts float[K, N, W] for an evaluation; parts: K lists of training classes."""
    # Training names first, so that a partition's class numbers are places in the vocabulary.
    vocabulary = {normalise_class_name(name): name for name in names.training + names.all}
    prompts = clip.prompt_names(list(vocabulary.values()), contexts.shape[1])
    candidates = {normalise_class_name(name) for name in names.all}
    return detectors_of(clip, contexts, prompts, parts, [name in candidates for name in vocabulary])


def detectors_of(
    clip: TwoTower, contexts: Tensor, prompts: PromptedNames, parts: Sequence[Sequence[int]], candidates: Sequence[bool]
) -> Detectors:
    """Return detectors among V prepared names; parts: K lists of their places; candidates: which names compete."""
    text = normalize(encode_behind(clip, contexts, prompts), dim=-1)
    places = torch.as_tensor(parts, device=clip.device)
    learned = torch.zeros(text.shape[:2], dtype=torch.bool, device=clip.device).scatter(1, places, True)
    return Detectors(text, learned, learned | torch.as_tensor(candidates, device=clip.device))
