"""How much of a softmax falls on class names, against groups of negative names: what NegLabel and its heirs share."""

from collections.abc import Iterable

import numpy as np
import torch
from torch import Tensor

from openworld._errors import OpenworldError


def name_groups(names: Tensor | None, groups: int, seed: int, *, who: str, lacking: str) -> Tensor:
    """Cut negative names float[M, E] at random into groups of one size, int64[groups, size]; the rest is left out."""
    count = 0 if names is None else len(names)
    if count < groups:
        raise OpenworldError(
            f"{who} needs {lacking}, one at least for each of {groups} groups, and has {count}; encode names that "
            "`mine_negatives` chose, or set groups."
        )
    size = count // groups
    order = np.random.default_rng(seed).permutation(size * groups)
    return torch.from_numpy(order).to(names.device).view(groups, size)


def share_of_classes(of_classes: Tensor, of_groups: Iterable[Tensor]) -> Tensor:
    """The softmax over classes float[N, C] and one group, summed over classes and averaged over groups: float[N]."""
    whole = of_classes.logsumexp(dim=1)
    return torch.stack([(whole - group.logsumexp(dim=1)).sigmoid() for group in of_groups]).mean(dim=0)
