"""NegLabel: how much of a softmax falls on class names rather than on names far from all of them (Jiang et al., 2024,
"Negative Label Guided OOD Detection with Pretrained Vision-Language Models")."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from openworld.core.errors import OpenworldError
from openworld.core.types import AboveZero, Positive, checked
from openworld.detectors.engine.texts import Texts
from openworld.detectors.plugin_api import Activations, DetectorCard, Fittable


@checked
@dataclass(frozen=True)
class NegLabel(Fittable):
    """Mean over groups of negative names of: softmax over classes and group of cosines / T, summed over the classes.

    Args:
        temperature: T > 0, of cosines; 0.01 is CLIP's scale of 100.
        groups: into how many parts the negative names are cut, at random; the last names that fill no part are left
            out. 1 for none.
        seed: of the cut. The public code permutes with torch's generator, so that single groups differ from its own.

    >>> from openworld.detectors.engine.texts import Texts
    >>> texts = Texts(torch.tensor([[1.0, 0.0]]), negative=torch.tensor([[1.0, 0.0]]))
    >>> NegLabel(groups=1).fit(Activations(texts=texts)).score(torch.tensor([[3.0, 4.0]])).tolist()
    [0.5]
    """

    temperature: AboveZero = 0.01
    groups: Positive = 100
    seed: int = 0

    card = DetectorCard("NegLabel", "Jiang et al., 2024", "class names against names far away", ("features", "texts"))

    def read(self, state: None, activations: Activations) -> Tensor:
        """Scores float[N], in [0, 1]."""
        return share_among(self, activations, "negative")


def share_among(detector: Any, activations: Activations, pool: str) -> Tensor:
    """NegLabel's score of a detector with `groups`, `seed` and `temperature`, by the names of a pool of `Texts`."""
    names, groups = name_groups(detector, activations.unit_texts, pool)
    of_groups = (activations.unit @ names[group].mT / detector.temperature for group in groups)
    return share_of_classes(activations.cosines / detector.temperature, of_groups)


def name_groups(detector: Any, texts: Texts, pool: str) -> tuple[Tensor, Tensor]:
    """Names float[M, E] of a pool, cut at random into groups of one size, int64[groups, size]; the rest is left out."""
    names, groups = getattr(texts, pool), detector.groups
    count = 0 if names is None else len(names)
    if count < groups:
        raise OpenworldError(
            f"{detector.name} needs {pool} texts, one at least for each of {groups} groups, and has {count}; encode "
            "names that `mine_negatives` chose, or set groups."
        )
    size = count // groups
    order = np.random.default_rng(detector.seed).permutation(size * groups)
    return names, torch.from_numpy(order).to(names.device).view(groups, size)


def share_of_classes(of_classes: Tensor, of_groups: Iterable[Tensor]) -> Tensor:
    """The softmax over classes float[N, C] and one group, summed over classes and averaged over groups: float[N]."""
    # e^a / (e^a + e^b) is the sigmoid of a - b, which no temperature, however small, makes overflow.
    whole = of_classes.logsumexp(dim=1)
    return torch.stack([(whole - group.logsumexp(dim=1)).sigmoid() for group in of_groups]).mean(dim=0)
