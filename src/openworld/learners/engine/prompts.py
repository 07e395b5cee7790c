"""What is learned beside a context: prompts that enter the towers block by block, and linear layers; how they start.

One tensor [D, N, W] holds a tower's prompts: N rows for the input of each of its first D blocks. In the text tower the
rows of block 0 are the context, and those of later blocks take its place; in the image tower they stand behind the
patches. After block D - 1 the rows flow on like any others (Jia et al., 2022; Khattak et al., 2023a).

A layer is two tensors, "name_weight" float[outputs, inputs] and "name_bias" float[outputs].
"""

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Generator, Tensor
from torch.nn.functional import linear

from openworld.backbones import PromptedNames, TwoTower
from openworld.core.errors import OpenworldError
from openworld.learners.engine.images import Tensors
from openworld.learners.engine.text_features import STANDARD_DEVIATION, encode_behind, start_context, widen


def start_image_prompts(clip: TwoTower, depth: int, length: int, generator: Generator) -> Tensor:
    """Return float32[D, N, W] from Normal(0, 0.02); D is `depth`, or the number of blocks if fewer."""
    # Drawn on the CPU, so that a seed gives the same on every device.
    shape = (min(depth, clip.config.image.layers), length, clip.config.image.width)
    return (torch.randn(shape, generator=generator) * STANDARD_DEVIATION).to(clip.device)


def start_text_prompts(clip: TwoTower, depth: int, length: int, words: str | None, generator: Generator) -> Tensor:
    """Return the first words of a phrase before block 0, else Normal(0, 0.02), float32[D, N, W]."""
    prompts = start_context(clip, length, None, generator, count=min(depth, clip.config.text.layers))
    if words is not None:
        learned, _ = split_phrase(clip, words, length)
        prompts[0] = start_context(clip, length, learned, generator)
    return prompts


def name_behind_phrase(clip: TwoTower, classnames: Sequence[str], length: int, words: str | None) -> PromptedNames:
    """Return class names behind N learned tokens and the words of the phrase that N does not reach."""
    fixed = "" if words is None else split_phrase(clip, words, length)[1]
    return clip.prompt_names(classnames, length, fixed=fixed)


def split_phrase(clip: TwoTower, words: str, length: int) -> tuple[str, str]:
    """Return the first words of a phrase, which make up `length` tokens, and the other words."""
    spelled = words.split()
    for count in range(1, len(spelled) + 1):
        if len(clip.embed_words(" ".join(spelled[:count]))) == length:
            return " ".join(spelled[:count]), " ".join(spelled[count:])
    raise OpenworldError(
        f"no first words of {words!r} are {length} tokens long, which the context has; "
        "give another phrase or length, or words=None to start from random numbers."
    )


def encode_prompted_text(clip: TwoTower, prompts: Tensor, names: PromptedNames) -> Tensor:
    """Return unnormalised text features float32[C, D], with prompts [D, N, W] in the text tower."""
    return encode_behind(clip, prompts[0], names, replace=dict(enumerate(prompts[1:], start=1)))


def encode_prompted_image(clip: TwoTower, pixels: Tensor, prompts: Tensor) -> Tensor:
    """Return unnormalised image features float32[B, D], with prompts [D, N, W], or none, in the tower."""
    return widen(clip.encode_image(pixels, prompts=dict(enumerate(prompts.to(clip.dtype))) or None))


def start_linear(clip: TwoTower, name: str, inputs: int, outputs: int, generator: Generator) -> Tensors:
    """Return a layer whose numbers are Uniform(-1 / sqrt(inputs), 1 / sqrt(inputs)), as torch's own layers start."""
    # Drawn on the CPU, so that a seed gives the same layer on every device.
    bound = 1 / math.sqrt(inputs)

    def draw(*shape: int) -> Tensor:
        return ((2 * torch.rand(shape, generator=generator) - 1) * bound).to(clip.device)

    return {f"{name}_weight": draw(outputs, inputs), f"{name}_bias": draw(outputs)}


def apply_linear(parameters: Mapping[str, Tensor], name: str, rows: Tensor) -> Tensor:
    """Return float[..., outputs] of rows float[..., inputs]."""
    return linear(rows, parameters[f"{name}_weight"], parameters[f"{name}_bias"])
