"""MaPLe (Khattak et al., 2023a): deep text prompts, and image prompts that are linear functions of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from openworld.backbones import PromptedNames, TwoTower
from openworld.core.types import checked
from openworld.learners.engine.images import Images, Tensors
from openworld.learners.engine.prompt_learner import PromptLearner
from openworld.learners.engine.prompts import (
    encode_prompted_image,
    encode_prompted_text,
    name_behind_phrase,
    start_linear,
    start_text_prompts,
)
from openworld.learners.engine.text_features import Length, Words
from openworld.learners.engine.training import Schedule


@checked
@dataclass(frozen=True)
class MaPLe(PromptLearner):
    """Prompts of both towers, coupled block by block.

    Args:
        context_length: N learned tokens of the text tower, each of which also gives one of the image tower.
        depth: blocks that get prompts of their own, from the first on; towers with fewer get them at every block.
        words: phrase whose first N tokens initialise the context; the others stay between context and name. None for
            Normal(0, 0.02), which the prompts of later blocks start from.
        schedule: 5 epochs of 4 images at 0.0035 (muzairkhattak/multimodal-prompt-learning @ 69bce21).
    """

    context_length: Length = 2
    depth: Length = 9
    words: Words = "a photo of a"
    schedule: Schedule = Schedule(epochs=5, batch_size=4, learning_rate=3.5e-3)

    name = "MaPLe"
    paper = "Khattak et al., 2023a"
    tunes = "N text tokens and a linear map to N image tokens in each of 9 blocks"
    cost = "both towers, with gradient"
    consumes = "pixels"
    # For OOD nothing was published: as for transfer from ImageNet. OpenPL says neither depth nor batch size: 9 and 4.
    ood = {"depth": 3, "schedule": Schedule(epochs=2, batch_size=4, learning_rate=2.6e-3)}
    openpl = {"context_length": 4, "words": None}

    def start(self, clip: TwoTower, classnames: Sequence[str], generator: Generator) -> Tensors:
        """Fresh text prompts float[D, N, W], and for each block a linear map: weight [D, V, W], bias [D, V].

        The maps of all blocks but the first start as copies of one.
        """
        depth = min(self.depth, clip.config.image.layers)
        text = start_text_prompts(clip, depth, self.context_length, self.words, generator)
        widths = clip.config.text.width, clip.config.image.width
        first, deep = (start_linear(clip, "maps", *widths, generator) for _ in range(2))
        maps = {name: torch.stack([first[name]] + [deep[name]] * (len(text) - 1)) for name in first}
        return {"text": text} | maps

    def prompted_names(self, clip: TwoTower, classnames: Sequence[str]) -> PromptedNames:
        """Tokenise names behind the words of the phrase that are not learned."""
        return name_behind_phrase(clip, classnames, self.context_length, self.words)

    def text_features(self, clip: TwoTower, parameters: Tensors, names: PromptedNames) -> Tensor:
        return encode_prompted_text(clip, parameters["text"], names)

    def image_features(self, clip: TwoTower, parameters: Tensors, images: Images) -> Tensor:
        return encode_prompted_image(clip, images.pixels, image_prompts(parameters))


def image_prompts(parameters: Tensors) -> Tensor:
    """The image prompts float[D, N, V] that the maps make of the text prompts."""
    return parameters["text"] @ parameters["maps_weight"].mT + parameters["maps_bias"].unsqueeze(-2)
