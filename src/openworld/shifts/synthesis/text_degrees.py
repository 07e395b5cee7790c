"""Shift degrees of prompts: their text features against the reference images, before any picture is made.

So Syn-IS is divided (Long et al., 2024, section 2.3). Texts and images of a two-tower model lie apart, so these degrees
are larger than those of the pictures that come of them, and need cuts of their own.
"""

from collections.abc import Callable
from functools import reduce

import numpy as np

from openworld._arrays import require_at_least
from openworld._errors import OpenworldError
from openworld.shifts.decomposition import Decomposition
from openworld.shifts.degrees import K, ShiftDegrees, join_degrees, merge_degrees, shift_degrees
from openworld.shifts.synthesis.prompts import Prompts

CHUNK = 2**14


def prompt_degrees(
    prompts: Prompts,
    encode: Callable,
    decomposition: Decomposition,
    reference,
    *,
    k: int = K,
    chunk: int = CHUNK,
) -> ShiftDegrees:
    """How far each prompt is from the reference images, in meaning and in looks.

    Memory: `shift_degrees`' for one chunk and one block, and 32 k bytes per prompt (some 330 MB for a million with
    k = 10).

    Args:
        prompts: N of them.
        encode: list of n texts -> float[n, D], the text tower of the model that made the reference's features.
        decomposition: of that model.
        reference: float[M, D], in-distribution images; or a tuple of blocks float[m, D] that together are it, such as
            arrays that stay on the disk.
        k: which neighbour, from 1. chunk: prompts encoded at a time; changes nothing else.

    Returns:
        ShiftDegrees of the N prompts, in their order.

    Raises:
        OpenworldError: another width, another number of rows than texts, an empty reference.
    """
    require_at_least(1, chunk=chunk)
    blocks = reference if isinstance(reference, tuple) else (reference,)
    firsts = np.cumsum([0, *map(len, blocks)])
    chunks = []
    for start in range(0, len(prompts), chunk):
        texts = prompts.texts(start, start + chunk)
        features = encode(texts)
        if len(features) != len(texts):
            raise OpenworldError(f"encode gave {len(features)} rows for {len(texts)} texts; expected one row each.")
        shards = (
            shift_degrees(decomposition, features, block, k=k, first=int(first))
            for block, first in zip(blocks, firsts, strict=False)
        )
        chunks.append(reduce(lambda merged, other: merge_degrees([merged, other]), shards))
    return join_degrees(chunks)
