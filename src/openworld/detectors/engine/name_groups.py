"""How much of a softmax falls on class names, against groups of negative names: what NegLabel and its heirs share."""

from collections.abc import Iterable

import numpy as np
import torch
from torch import Tensor

from openworld._errors import OpenworldError


def name_groups(names: Tensor | None, groups: int, seed: int, *, who: str, lacking: str) -> Tensor:
    """Cut negative names into groups of one size, at random: int64[groups, size].

    Args:
        names: float[M, E], embeddings of the names; None for none.
        groups: how many; the last names, which fill no group, are left out. seed: of the cut.
        who, lacking: the detector's name and what it lacks where there are too few, for the refusal.
    Raises:
        OpenworldError: fewer names than groups.
    """
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
    """Return the softmax over the classes and one group, summed over the classes and averaged over groups: float[N].

    Args:
        of_classes: float[N, C], logits. of_groups: float[N, size], logits of each group of negative names.

    >>> share_of_classes(torch.zeros(1, 3), torch.zeros(2, 1, 1))  # three of four names
    tensor([0.7500])
    """
    whole = of_classes.logsumexp(dim=1)
    return torch.stack([(whole - group.logsumexp(dim=1)).sigmoid() for group in of_groups]).mean(dim=0)
