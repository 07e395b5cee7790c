"""RPO (Lee et al., 2023): learned rows in both towers that read the frozen rows and are never read by them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Generator, Tensor
from torch.nn.functional import normalize

from openworld.backbones import Recording, TwoTower
from openworld.core.spoken import spoken_name
from openworld.core.types import NotNegative, checked
from openworld.datasets.templates import PHOTO, fill
from openworld.learners.engine.images import Images, Tensors
from openworld.learners.engine.prompt_learner import PromptLearner
from openworld.learners.engine.text_bank import NameSets, TextBank
from openworld.learners.engine.text_features import STANDARD_DEVIATION, Length, Sentence, widen
from openworld.learners.engine.training import Schedule

Initial = Literal["frozen rows", "normal"]

CHUNK = 32  # images or names recorded at a time: a recording of ViT-B/16 takes 14 MB per image


@checked
@dataclass(frozen=True)
class RPO(PromptLearner):
    """K pairs of read-only prompts; an image and a name are as close as their pairs are on average.

    Args:
        prompts: K rows behind the end token, and as many behind the patches.
        initial: "frozen rows" starts from the end token's embedding and the image tower's class row, each prompt moved
            in a random direction of its own; "normal" from Normal(0, 0.02), as OpenPL says of its image prompts.
        noise: length of that move.
        template: sentence in front of the text prompts, the same for all data sets.
        keep_underscores: leave "_" in names, as mlvlab/RPO @ d770db6 does, instead of reading it as a space.
        schedule: 15 epochs of 4 images at 0.01 (mlvlab/RPO @ d770db6).
    """

    prompts: Length = 24
    initial: Initial = "frozen rows"
    noise: NotNegative = 0.1
    template: Sentence = PHOTO
    keep_underscores: bool = False
    schedule: Schedule = Schedule(epochs=15, batch_size=4, learning_rate=1e-2)

    name = "RPO"
    paper = "Lee et al., 2023"
    tunes = "K text tokens and K image tokens that nothing reads"
    cost = "image tower; K tokens of both towers, with gradient"
    consumes = "pixels"
    # For OOD nothing was published: as for transfer from ImageNet. OpenPL says neither how its pairs start nor the
    # batch size: from frozen rows and 4 here.
    ood = {"schedule": Schedule(epochs=15, batch_size=4, learning_rate=5e-3)}
    openpl = {"prompts": 4}

    def start(self, clip: TwoTower, classnames: Sequence[str], generator: Generator) -> Tensors:
        """Fresh text prompts float[K, W] and image prompts float[K, Wv]."""
        end = clip.text.tokens.weight[clip.tokenizer([""])[0][-1]]
        row: Any = clip.image.class_row  # models without one are refused: engine.requirements
        return {"text": self._near(end, generator), "image": self._near(row, generator)}

    def prepare(self, clip: TwoTower, classnames: Sequence[str]) -> Recording:
        """The recorded sentences of the names."""
        return clip.record_text(self._sentences(classnames))

    def text_features(self, clip: TwoTower, parameters: Tensors, names: Recording) -> Tensor:
        """Return what the text prompts read in recorded sentences, side by side: float[C, K * D]."""
        return _side_by_side(clip.read_text(parameters["text"].to(clip.dtype), names))

    def image_features(self, clip: TwoTower, parameters: Tensors, images: Images) -> Tensor:
        """Return what the image prompts read in images, side by side: float[B, K * D]."""
        rows, parts = parameters["image"].to(clip.dtype), images.pixels.split(CHUNK)
        return torch.cat([_side_by_side(clip.read_image(rows, clip.record_image(part))) for part in parts])

    def text_bank(self, clip: TwoTower, parameters: Tensors, names: NameSets) -> TextBank:
        """What the text prompts read in the sentences of all names, side by side: float[C, K * D]."""
        chunks = [names.all[start : start + CHUNK] for start in range(0, len(names.all), CHUNK)]
        pairs = [self.text_features(clip, parameters, self.prepare(clip, chunk)) for chunk in chunks]
        return TextBank(normalize(torch.cat(pairs), dim=-1), len(names.base), clip.logit_scale)

    def _near(self, row: Tensor, generator: Generator) -> Tensor:
        noise = torch.randn(self.prompts, len(row), generator=generator)
        if self.initial == "normal":
            return (noise * STANDARD_DEVIATION).to(row.device)
        return row.float() + self.noise * normalize(noise, dim=-1).to(row.device)

    def _sentences(self, classnames: Sequence[str]) -> list[str]:
        if self.keep_underscores:
            return [self.template.replace("{}", spoken_name(name)) for name in classnames]
        return fill(self.template, classnames)


def _side_by_side(features: Tensor) -> Tensor:
    """K features [N, K, D] as one, wide: the cosine of two such is the mean of the K cosines, k-th with k-th."""
    return normalize(widen(features), dim=-1).flatten(-2)
