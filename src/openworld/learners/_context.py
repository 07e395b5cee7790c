"""Fresh context tokens: random, or the embeddings of a phrase."""

import torch
from torch import Tensor

STANDARD_DEVIATION = 0.02


def context_tokens(clip, length: int, words: str | None) -> int:
    """How many context tokens a learner has: those of its phrase, else `length`."""
    return length if words is None else len(clip.embed_words(words))


def start_context(clip, length: int, words: str | None, generator: torch.Generator, count: int | None = None) -> Tensor:
    """float32[N, W], or float32[count, N, W] for several contexts: Normal(0, 0.02), or a phrase's embeddings.

    Drawn on the CPU, so that a seed gives the same context on every device.
    """
    if words is not None:
        return clip.embed_words(words).detach().float().clone()
    shape = (length, clip.config.text.width) if count is None else (count, length, clip.config.text.width)
    return (torch.randn(shape, generator=generator) * STANDARD_DEVIATION).to(clip.device)
