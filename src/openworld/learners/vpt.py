"""VPT (Jia et al., 2022) on CLIP, as Khattak et al. (2023a) run it: learned rows among the patches, text left alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Generator, Tensor
from torch.nn.functional import cross_entropy

from openworld._arrays import require_at_least
from openworld._types import checked
from openworld.backbones import TwoTower
from openworld.datasets.templates import PHOTO
from openworld.learners.engine.images import Answer, Images
from openworld.learners.engine.prompt_learner import PromptLearner
from openworld.learners.engine.prompts import encode_prompted_image, start_image_prompts
from openworld.learners.engine.text_bank import NameSets, TextBank, answer_by_cosine, cosine_logits
from openworld.learners.engine.text_features import encode_names, require_templates
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

    image_length: int = 8
    depth: int = 12
    template: str = PHOTO
    schedule: Schedule = Schedule(epochs=5, batch_size=4, learning_rate=2.5e-3)

    name: ClassVar[str] = "VPT"
    paper: ClassVar[str] = "Jia et al., 2022"
    tunes: ClassVar[str] = "N image tokens in each of 12 blocks"
    cost: ClassVar[str] = "image tower, with gradient"
    consumes: ClassVar[str] = "pixels"
    depends_on_other_names: ClassVar[bool] = False
    # OpenPL says neither depth nor batch size: 12 and 4 here, as elsewhere
    openpl: ClassVar[dict[str, Any]] = {"image_length": 4}

    def __post_init__(self):
        require_at_least(1, image_length=self.image_length, depth=self.depth)
        require_templates(self.template)

    def start(self, clip: TwoTower, classnames: Sequence[str], generator: Generator) -> dict[str, Tensor]:
        """Fresh image prompts float[D, N, W]."""
        return {"image": start_image_prompts(clip, self.depth, self.image_length, generator)}

    def prepare(self, clip: TwoTower, classnames: Sequence[str]) -> Tensor:
        """The frozen text features float[C, D], unit length."""
        return encode_names(clip, classnames, (self.template,))

    def loss(
        self, clip: TwoTower, parameters: dict[str, Tensor], images: Images, labels: Tensor, prepared: Tensor
    ) -> dict[str, Tensor]:
        """Cross-entropy of cosine logits; labels int64[B]."""
        image = encode_prompted_image(clip, images.pixels, parameters["image"])
        return {"total": cross_entropy(cosine_logits(image, prepared, clip.logit_scale), labels)}

    def text_bank(self, clip: TwoTower, parameters: dict[str, Tensor], names: NameSets) -> TextBank:
        """Frozen text features of all names."""
        return TextBank(self.prepare(clip, names.all), len(names.base), clip.logit_scale)

    def answer(self, clip: TwoTower, parameters: dict[str, Tensor], images: Images, bank: TextBank) -> Answer:
        """Cosine logits of the prompted image over all names, and the log of the largest base softmax."""
        return answer_by_cosine(encode_prompted_image(clip, images.pixels, parameters["image"]), bank)
