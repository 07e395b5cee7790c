"""When answers of a learner about some names are slices of one answer about more of them, and by which numbers."""

from collections.abc import Sequence

import numpy as np
import torch

from openworld._errors import OpenworldError
from openworld.datasets.names.forms import normalise_class_name
from openworld.learners import Answer
from openworld.learners.plugin_api import answer_of

_SAME_SCORE = 1e-4  # nats; float32 log-probabilities of logits up to 100 agree to some 1e-5


def numbers_among(source: Sequence[str], variant: Sequence[str]) -> np.ndarray:
    """int64[n], the source's number of every class of a variant.

    >>> numbers_among(("cat", "wild dog", "owl"), ("Owl", "wild_dog")).tolist()
    [2, 1]
    """
    place = {normalise_class_name(name): number for number, name in enumerate(source)}
    lacking = [name for name in variant if normalise_class_name(name) not in place]
    if lacking:
        raise OpenworldError(
            f"{len(lacking)} classes of the variant are no class of the source, first {lacking[0]!r}; a variant shows "
            "classes of the source, under the same names."
        )
    return np.array([place[normalise_class_name(name)] for name in variant], dtype=np.int64)


def default_scores(logits: np.ndarray, base_count: int) -> np.ndarray:
    """float32[N], the default detection score of logits float32[N, C] over base names, then new names."""
    return answer_of(torch.from_numpy(np.ascontiguousarray(logits)), base_count).baseness.numpy()


def scored_by_default(answer: Answer, base_count: int) -> bool:
    """Whether the learner's detection scores are the default ones, so that slices of its logits give them too."""
    return np.allclose(answer.baseness, default_scores(answer.logits, base_count), rtol=0, atol=_SAME_SCORE)
