"""Skip Tuning (Wu et al., 2025): the weights of both towers' upper blocks, tuned on the classes that a step needs.

What the lower blocks make of images and names is computed once (layer-wise skipping). In a step, images of one class
are compared with the names closest to them alone, and with a few of the others, the fewer the farther they are
(class-wise skipping). No row is added to either tower. All of this was read in the authors' code, an anonymous copy of
it, anonymity-007/SkipT @ c675f2d (Koorye/SkipTuning holds no code in what could be read).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Annotated

import torch
from torch import Generator, Tensor
from torch.nn.functional import cross_entropy

from openworld.backbones import EnteredText, TwoTower
from openworld.core.types import AboveZero, NotNegative, Positive, Range, checked
from openworld.datasets.templates import PHOTO, SKIP_TUNING, fill
from openworld.learners.engine.images import Images, Tensors
from openworld.learners.engine.prompt_learner import PromptLearner
from openworld.learners.engine.settings import PublishedSetting
from openworld.learners.engine.text_bank import NameSets, TextBank, cosine_logits
from openworld.learners.engine.text_features import Length, Sentence, encode_names, widen
from openworld.learners.engine.training import Loop, Schedule

FEWER_EPOCHS = ("imagenet", "sun397", "food101")  # a quarter of them
FARTHEST = 5.0  # ranks are spread over 0 to 5, where the density of the exponential distribution is all but 0


@checked
@dataclass(frozen=True)
class SkipTuning(PromptLearner):
    """Cross-entropy of cosine logits over the names that are kept.

    It tunes 62,099,456 numbers at ViT-B/16: the last 6 blocks of both towers, norms and projections behind them. The
    tensors are named as the backbone's own weights.

    Args:
        depth: blocks of each tower that are tuned, from the last one back; towers with fewer are tuned in all blocks.
        top: share of the names, the closest ones, that a step always keeps, above 0 and up to 1; at 1 it keeps all.
        most: the largest number of names in that share.
        spread: scale of the exponential distribution by which the others are kept; above 0. Which ranks are kept is
            drawn once for the whole training.
        image_factor: on the learning rate of the image tower.
        by_class: whether all images of a step are of one class; without effect where a class has fewer than a step.
        warmup_rate: learning rate of the first epoch.
        template: sentence of the names; `published` knows each data set's.
        schedule: 20 epochs of 4 images at 0.00002, a quarter of the epochs on ImageNet, SUN397 and Food-101; for few
            shots of all classes 40 epochs at 0.00001 for both towers without warm-up.
    """

    depth: Length = 6
    top: Annotated[float, Range(0, 1, "(]")] = 0.5
    most: Positive = 50
    spread: AboveZero = 0.3
    image_factor: NotNegative = 0.25
    by_class: bool = True
    warmup_rate: NotNegative = 1e-6
    template: Sentence = PHOTO
    schedule: Schedule = Schedule(epochs=20, batch_size=4, learning_rate=2e-5)

    name = "SkipTuning"
    paper = "Wu et al., 2025"
    tunes = "the weights of the last 6 blocks of both towers"
    cost = "upper blocks of both towers, gradients of weights; some of the names"
    consumes = "pixels"

    @classmethod
    def published(cls, dataset: str, task: PublishedSetting = "base-to-new") -> "SkipTuning":
        """Return them with the sentence; for OOD, where nothing was published, as for transfer from ImageNet."""
        default = cls(template=SKIP_TUNING.get(dataset, PHOTO))
        if dataset in FEWER_EPOCHS:
            default = replace(default, schedule=replace(default.schedule, epochs=default.schedule.epochs // 4))
        if task == "ood":
            schedule = replace(default.schedule, learning_rate=1e-5)
            return replace(default, image_factor=0.1, warmup_rate=1e-8, schedule=schedule)
        return default

    def start(self, clip: TwoTower, classnames: Sequence[str], generator: Generator) -> Tensors:
        """Copies of the backbone's weights that are tuned, in float32, by their names there."""
        return {name: clip.get_parameter(name).detach().float().clone() for name in tuned_weights(clip, self.depth)}

    def prepare(self, clip: TwoTower, classnames: Sequence[str]) -> tuple[EnteredText, Tensor]:
        """The sentences where they enter the upper blocks, and frozen unit text features float[C, J]."""
        block = first_block(len(clip.text.blocks), self.depth)
        entered = clip.enter_text(fill(self.template, classnames), block)
        return entered, encode_names(clip, classnames, (self.template,))

    def lift(self, clip: TwoTower, pixels: Tensor) -> Tensor:
        """Rows of images where they enter the upper blocks; what is below does not change in training."""
        return clip.enter_image(pixels, first_block(len(clip.image.blocks), self.depth))

    def loss(
        self, clip: TwoTower, parameters: Tensors, images: Images, labels: Tensor, prepared: tuple[EnteredText, Tensor]
    ) -> Tensors:
        """Cross-entropy over the names that are kept; labels int64[B]."""
        entered, prototypes = prepared
        tuned = clip.with_weights(parameters)
        image = self._encode_image(tuned, images)
        close = cosine_logits(image.detach(), prototypes, clip.logit_scale).scatter(1, labels[:, None], torch.inf)
        classes = self.keep(close.amax(dim=0), int(images.draw))
        text = widen(tuned.leave_text(entered.select(classes)))
        return {
            "total": cross_entropy(cosine_logits(image, text, clip.logit_scale), torch.searchsorted(classes, labels))
        }

    @property
    def loop(self) -> Loop:
        """The image tower learns slower; which ranks are kept is drawn once; a step has images of one class."""
        return Loop(
            draws=lambda generator: repeat(torch.randint(2**62, (), generator=generator)),
            rate_factors={"image": self.image_factor},
            warmup_rate=self.warmup_rate,
            by_class=self.by_class,
        )

    def text_bank(self, clip: TwoTower, parameters: Tensors, names: NameSets) -> TextBank:
        """Text features of all names by the tuned tower."""
        text = encode_names(clip.with_weights(parameters), names.all, (self.template,))
        return TextBank(text, len(names.base), clip.logit_scale)

    def image_features(self, clip: TwoTower, parameters: Tensors, images: Images) -> Tensor:
        """Return those of the tuned image tower."""
        return self._encode_image(clip.with_weights(parameters), images)

    def keep(self, closeness: Tensor, seed: int) -> Tensor:
        """The names that a step compares images with: int64, ascending, of closeness float[C].

        Names of the images themselves, infinitely close, are kept even where they are more than the sure ranks, which
        shuffled batches and few classes may bring; the released code takes another name for such a label.
        """
        ranks = kept_ranks(len(closeness), self.top, self.most, self.spread, seed).to(closeness.device)
        nearest, order = closeness.sort(descending=True, stable=True)
        return order[ranks | nearest.isinf()].sort().values

    def _encode_image(self, tuned: TwoTower, images: Images) -> Tensor:
        """Unnormalised features float[B, J]; `lift` reads no weight that is tuned."""
        rows = self.lift(tuned, images.pixels) if images.rows is None else images.rows
        left = tuned.leave_image(rows, first_block(len(tuned.image.blocks), self.depth))
        return widen(tuned.project_patches(left[:, 0]))


def first_block(layers: int, depth: int) -> int:
    """Return the first of the last `depth` blocks of a tower; 0 where it has no more."""
    return max(layers - depth, 0)


def tuned_weights(clip: TwoTower, depth: int) -> list[str]:
    """Return names of the weights of the last `depth` blocks of both towers, and of what is behind them."""
    prefixes = []
    for side, tower in (("image", clip.image), ("text", clip.text)):
        blocks = range(first_block(len(tower.blocks), depth), len(tower.blocks))
        prefixes += [f"{side}.blocks.{block}." for block in blocks] + [f"{side}.norm_out.", f"{side}.projection."]
    return [name for name, _ in clip.named_parameters() if name.startswith(tuple(prefixes))]


def kept_ranks(count: int, top: float, most: int, spread: float, seed: int) -> Tensor:
    """Return which ranks are kept, bool[count]: the first ones surely, the others by an exponential density."""
    sure = min(math.ceil(top * count), most)
    if top == 1 or sure >= count:
        return torch.ones(count, dtype=torch.bool)
    density = torch.exp(-torch.linspace(0, FARTHEST, count - sure, dtype=torch.float64) / spread)
    if len(density) > 1:  # from 1, behind the sure ranks, to 0; the released code divides zero by zero for a single one
        density = (density - density[-1]) / (1 - density[-1])
    drawn = torch.rand(count, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return drawn < torch.cat([torch.ones(sure), density])
