"""VPT (Jia et al., 2022) on CLIP, as Khattak et al. (2023a) run it: learned rows among the patches, text left alone."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Generator, Tensor

from openworld.backbones import TwoTower
from openworld.core.types import checked
from openworld.datasets.templates import PHOTO
from openworld.learners.engine.images import Images, Tensors
from openworld.learners.engine.prompt_learner import PromptLearner
from openworld.learners.engine.prompts import encode_prompted_image, start_image_prompts
from openworld.learners.engine.text_bank import NameSets, TextBank
from openworld.learners.engine.text_features import Length, Sentence, encode_names
from openworld.learners.engine.training import Schedule


@checked
@dataclass(frozen=True)
class VPT(PromptLearner):
    """Deep visual prompts; shallow ones with depth 1.

    Args:
        image_length: N rows behind the patches.
        depth: blocks that get rows of their own, from the first on; a tower with fewer gets them at every block.
        template: sentence of the frozen text features, the same for all data sets.
        schedule: 5 epochs of 4 images at 0.0025 (muzairkhattak/multimodal-prompt-learning @ 69bce21).
    """

    image_length: Length = 8
    depth: Length = 12
    template: Sentence = PHOTO
    schedule: Schedule = Schedule(epochs=5, batch_size=4, learning_rate=2.5e-3)

    name = "VPT"
    paper = "Jia et al., 2022"
    tunes = "N image tokens in each of 12 blocks"
    cost = "image tower, with gradient"
    consumes = "pixels"
    # OpenPL says neither depth nor batch size: 12 and 4 here, as elsewhere
    openpl = {"image_length": 4}

    def start(self, clip: TwoTower, classnames: Sequence[str], generator: Generator) -> Tensors:
        """Fresh image prompts float[D, N, W]."""
        return {"image": start_image_prompts(clip, self.depth, self.image_length, generator)}

    def prepare(self, clip: TwoTower, classnames: Sequence[str]) -> Tensor:
        """The frozen text features float[C, D], unit length."""
        return encode_names(clip, classnames, (self.template,))

    def text_features(self, clip: TwoTower, parameters: Tensors, names: Tensor) -> Tensor:
        return names

    def image_features(self, clip: TwoTower, parameters: Tensors, images: Images) -> Tensor:
        return encode_prompted_image(clip, images.pixels, parameters["image"])

    def text_bank(self, clip: TwoTower, parameters: Tensors, names: NameSets) -> TextBank:
        """Frozen text features of all names."""
        return TextBank(self.prepare(clip, names.all), len(names.base), clip.logit_scale)
