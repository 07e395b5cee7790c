"""IVLP, independent vision-language prompts (Khattak et al., 2023a): deep prompts in both towers, not coupled."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from torch import Generator, Tensor

from openworld.backbones import PromptedNames, TwoTower
from openworld.core.types import Range, checked
from openworld.learners.engine.images import Images, Tensors
from openworld.learners.engine.prompt_learner import PromptLearner
from openworld.learners.engine.prompts import (
    encode_prompted_image,
    encode_prompted_text,
    name_behind_phrase,
    start_image_prompts,
    start_text_prompts,
)
from openworld.learners.engine.text_features import Length, Words
from openworld.learners.engine.training import Schedule


@checked
@dataclass(frozen=True)
class IVLP(PromptLearner):
    """A context with deep text prompts, and deep image prompts.

    Args:
        text_length: N learned tokens of the text tower.
        image_length: rows behind the patches in the image tower.
        text_depth, image_depth: blocks of each tower that get prompts of their own, from the first on; a tower with
            fewer gets them at every block. An image depth of 0 leaves the image tower alone.
        words: phrase whose first N tokens initialise the context; the others stay between context and name. None for
            Normal(0, 0.02), which all other prompts start from.
        schedule: 5 epochs of 4 images at 0.0035 (muzairkhattak/multimodal-prompt-learning @ 69bce21, also for 2 + 2
            prompts and depth 12).
    """

    text_length: Length = 2
    image_length: Length = 2
    text_depth: Length = 12
    image_depth: Annotated[int, Range(0, 10_000)] = 12
    words: Words = "a photo of a"
    schedule: Schedule = Schedule(epochs=5, batch_size=4, learning_rate=3.5e-3)

    name = "IVLP"
    paper = "Khattak et al., 2023a"
    tunes = "N text and N image tokens in each of 12 blocks"
    cost = "both towers, with gradient"
    consumes = "pixels"
    # OpenPL says neither depth nor batch size: 9 and 4 here, as muzairkhattak/PromptSRC @ bb95c77 runs IVLP with 4 + 4.
    openpl = {"text_length": 4, "image_length": 4, "text_depth": 9, "image_depth": 9, "words": None}

    def start(self, clip: TwoTower, classnames: Sequence[str], generator: Generator) -> Tensors:
        """Fresh text prompts and image prompts, each float[D, N, W]."""
        return {
            "text": start_text_prompts(clip, self.text_depth, self.text_length, self.words, generator),
            "image": start_image_prompts(clip, self.image_depth, self.image_length, generator),
        }

    def prompted_names(self, clip: TwoTower, classnames: Sequence[str]) -> PromptedNames:
        """Tokenise names behind the words of the phrase that are not learned."""
        return name_behind_phrase(clip, classnames, self.text_length, self.words)

    def text_features(self, clip: TwoTower, parameters: Tensors, names: PromptedNames) -> Tensor:
        return encode_prompted_text(clip, parameters["text"], names)

    def image_features(self, clip: TwoTower, parameters: Tensors, images: Images) -> Tensor:
        return encode_prompted_image(clip, images.pixels, parameters["image"])
