"""Text features of class names: in hand-written sentences, or behind a learned context, which starts here too.

Contexts stay in float32 (or float64) while they are learned, whatever the backbone's type: in half precision the steps
of the first and last epochs would be smaller than the spacing of numbers, and be lost.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import torch
from torch import Tensor
from torch.nn.functional import normalize

from openworld.backbones import PromptedNames, TwoTower
from openworld.backbones.dual_encoder import DualEncoder
from openworld.core.arrays import require_at_least
from openworld.core.errors import OpenworldError
from openworld.core.types import Range
from openworld.datasets import templates as sentences

STANDARD_DEVIATION = 0.02


@torch.no_grad()
def encode_names(clip: DualEncoder, names: Sequence[str], templates: Sequence[str]) -> Tensor:
    """Return unit text features float32[C, D] of names in templates; "_" in a name is read as a space."""
    features = [normalize(widen(clip.encode_text(sentences.fill(template, names))), dim=-1) for template in templates]
    return normalize(torch.stack(features).mean(dim=0), dim=-1)


def encode_behind(clip: TwoTower, context: Tensor, prompts: PromptedNames, **replaced: Mapping[int, Tensor]) -> Tensor:
    """Return unnormalised features float32[C, D] of names behind a context [N, W]; [K, C, D] of [K, N, W]."""
    # The context is cast to the backbone's type on entry, its features come back wide: logits and losses on them never
    # run in half precision. `replaced`: `replace` and `replace_per_class` of `encode_prompts`, cast alike.
    narrow = {way: {block: rows.to(clip.dtype) for block, rows in blocks.items()} for way, blocks in replaced.items()}
    return widen(clip.encode_prompts(context.to(clip.dtype), prompts, **narrow))


def context_tokens(clip: TwoTower, length: int, words: str | None) -> int:
    """Return how many context tokens a learner has: those of its phrase, else `length`."""
    return length if words is None else len(clip.embed_words(words))


def start_context(
    clip: TwoTower, length: int, words: str | None, generator: torch.Generator, count: int | None = None
) -> Tensor:
    """Return Normal(0, 0.02) or a phrase's embeddings, float32[N, W]; of `count` contexts [count, N, W]."""
    if words is not None:
        return clip.embed_words(words).detach().float().clone()
    # Drawn on the CPU, so that a seed gives the same context on every device.
    shape = (length, clip.config.text.width) if count is None else (count, length, clip.config.text.width)
    return (torch.randn(shape, generator=generator) * STANDARD_DEVIATION).to(clip.device)


def require_context(context_length: int, words: str | None) -> None:
    require_at_least(1, context_length=context_length)
    if words is not None and not words.strip():
        raise OpenworldError("words is an empty phrase; give one, or None to start from random numbers.")


def require_templates(*templates: str) -> None:
    """Refuse no template at all, and a template without exactly one place for the name."""
    if not templates:
        raise OpenworldError("templates is empty; give at least one sentence with {} in the place of the name.")
    for template in templates:
        sentences.fill(template, ())


@dataclass(frozen=True)
class Sound:
    """Annotates what a function looks at, and refuses where it makes no sense."""

    require: Callable[[Any], None]

    def admit(self, value: Any, name: str, others: Mapping[str, Any]) -> Any:
        self.require(value)
        return value


HOLDS_NAME = Sound(lambda value: require_templates(*([value] if isinstance(value, str) else value)))
"""Annotates a sentence, or several, with {} in the place of the name."""
Length = Annotated[int, Range(1, 10_000)]
"""How many tokens, rows or blocks: more end in no memory."""
Words = Annotated[str | None, Sound(partial(require_context, 1))]
"""The phrase that a context starts from: not an empty one."""
Sentence = Annotated[str, HOLDS_NAME]
Sentences = Annotated[tuple[str, ...], HOLDS_NAME]


def widen(tensor: Tensor) -> Tensor:
    """Return a tensor in float32 where it comes in half precision."""
    return tensor.to(torch.promote_types(tensor.dtype, torch.float32))
