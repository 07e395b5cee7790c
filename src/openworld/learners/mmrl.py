"""MMRL (Guo and Gu, 2025): tokens of one space, mapped into the upper blocks of both towers, with a feature of them.

The tokens stand behind the start token of every name and beside the patches of every image. The image has two features:
that of its class token, held to the frozen one, and the mean of its tokens behind a new projection. New names are told
apart by the first alone, base names by both. All of this was read in the authors' code, yunncheng/MMRL @ 04467a7;
chosen here: logits over all names, and with them the detection score, are those of the class token.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Generator, Tensor
from torch.nn.functional import cosine_similarity, cross_entropy, normalize

from openworld.backbones import PackedText, TwoTower
from openworld.core.types import NotNegative, Share, checked
from openworld.datasets.templates import PHOTO, TEMPLATES, fill
from openworld.learners.engine.images import Answer, Images, Tensors
from openworld.learners.engine.prompt_learner import PromptLearner
from openworld.learners.engine.prompts import start_linear
from openworld.learners.engine.text_bank import NameSets, TextBank, answer_by_cosine, cosine_logits
from openworld.learners.engine.text_features import STANDARD_DEVIATION, Length, Sentence, encode_names, widen
from openworld.learners.engine.training import Schedule

WEIGHTS = {
    "imagenet": 0.5,
    "caltech101": 0.5,
    "oxford_pets": 0.2,
    "stanford_cars": 7.0,
    "oxford_flowers": 4.0,
    "food101": 5.0,
    "fgvc_aircraft": 6.0,
    "sun397": 6.0,
    "dtd": 6.0,
    "eurosat": 0.01,
    "ucf101": 3.0,
}
"""Data set -> the published weight of the terms that hold features to the frozen ones; 1 for others."""


@checked
@dataclass(frozen=True)
class MMRL(PromptLearner):
    """a CE of the class token + (1 - a) CE of the learned tokens + weight (2 - mean cosines to frozen features).

    It tunes 4,992,256 numbers at ViT-B/16, as the released modules do.

    Args:
        tokens: K rows, the same for every block but for the maps.
        token_width: of the space that the maps start from; 2,048 on EuroSAT.
        depth: blocks that get the rows, the last ones of each tower; towers with fewer get them at every block. 7 of 12
            published: from the sixth on.
        class_share: a, of the class token, from 0 to 1, in the loss and in base logits.
        weight: of the two terms that hold features to the frozen ones; `published` knows each data set's.
        template: sentence of the names; `published` knows each data set's.
        schedule: 10 epochs of 4 images at 0.001 by AdamW, for few shots of all classes 50 of 32.
    """

    tokens: Length = 5
    token_width: Length = 512
    depth: Length = 7
    class_share: Share = 0.7
    weight: NotNegative = 1.0
    template: Sentence = PHOTO
    schedule: Schedule = Schedule(epochs=10, batch_size=4, learning_rate=1e-3, optimizer="AdamW")

    name = "MMRL"
    paper = "Guo and Gu, 2025"
    tunes = "K tokens, linear maps to K rows in 7 blocks of each tower, a projection"
    cost = "upper blocks of both towers, with gradient"
    consumes = "pixels"
    of_dataset = {
        "token_width": {"eurosat": 2048},
        "weight": WEIGHTS,
        "template": TEMPLATES,
        "schedule": {"imagenet": Schedule(epochs=5, batch_size=32, learning_rate=1e-3, optimizer="AdamW")},
    }
    # For OOD nothing was published: as for transfer from ImageNet, whose released configuration says weight 0.2; its
    # table of data sets, which is read later, says 0.5.
    ood = {"schedule": Schedule(epochs=1, batch_size=32, learning_rate=1e-3, optimizer="AdamW", warmup=False)}
    openpl = None

    def start(self, clip: TwoTower, classnames: Sequence[str], generator: Generator) -> Tensors:
        """Fresh tokens float[K, S], maps (weight [D, V, S] and bias [D, V] for each tower), a projection float[V, J].

        The maps of a tower start as copies of one, the projection from random numbers, as the released code has it.
        """
        config, depth = clip.config, self._depth(clip)
        tokens = torch.randn((self.tokens, self.token_width), generator=generator) * STANDARD_DEVIATION
        maps = {}
        for tower, width in (("image", config.image.width), ("text", config.text.width)):
            for name, tensor in start_linear(clip, f"{tower}_maps", self.token_width, width, generator).items():
                maps[name] = torch.stack([tensor] * depth)
        projection = torch.randn((config.image.width, config.joint_dimension), generator=generator)
        projection = (projection * config.image.width**-0.5).to(clip.device)
        return {"tokens": tokens.to(clip.device)} | maps | {"projection": projection}

    def prepare(self, clip: TwoTower, classnames: Sequence[str]) -> tuple[PackedText, Tensor]:
        """The sentences where they enter the upper blocks, and frozen unit text features float[C, J]."""
        return self._enter(clip, classnames), encode_names(clip, classnames, (self.template,))

    def lift(self, clip: TwoTower, pixels: Tensor) -> Tensor:
        """Rows of images where they enter the upper blocks; what is below does not change in training."""
        return clip.enter_image(pixels, clip.config.image.layers - self._depth(clip))

    def loss(
        self, clip: TwoTower, parameters: Tensors, images: Images, labels: Tensor, prepared: tuple[PackedText, Tensor]
    ) -> Tensors:
        """Both cross-entropies, how far features moved, and the weighted sum; labels int64[B]."""
        sentences, frozen = prepared
        whole, parts = self._encode_image(clip, parameters, images)
        text = self._encode_text(clip, parameters, sentences)
        entropy = cross_entropy(cosine_logits(whole, text, clip.logit_scale), labels)
        token_entropy = cross_entropy(cosine_logits(parts, text, clip.logit_scale), labels)
        of_image = 1 - cosine_similarity(whole, images.embeddings).mean()
        of_text = 1 - cosine_similarity(text, frozen).mean()
        total = self._mix(entropy, token_entropy) + self.weight * (of_image + of_text)
        terms = {"cross_entropy": entropy, "token_cross_entropy": token_entropy}
        return terms | {"image": of_image, "text": of_text, "total": total}

    def text_bank(self, clip: TwoTower, parameters: Tensors, names: NameSets) -> TextBank:
        """Text features of all names, with the tokens among the rows of their sentences."""
        text = self._encode_text(clip, parameters, self._enter(clip, names.all))
        return TextBank(normalize(text, dim=-1), len(names.base), clip.logit_scale)

    def answer(self, clip: TwoTower, parameters: Tensors, images: Images, bank: TextBank) -> Answer:
        """Cosine logits of the class token over all names, and the log of the largest base softmax; base logits mixed.

        Only accuracies within a half are published: what all names are compared by has to be fair to both.
        """
        whole, parts = self._encode_image(clip, parameters, images)
        answer = answer_by_cosine(whole, bank)
        tokens = cosine_logits(parts, bank.text[: bank.base_count], bank.scale)
        return replace(answer, base_logits=self._mix(answer.logits[:, : bank.base_count], tokens))

    def _depth(self, clip: TwoTower) -> int:
        return min(self.depth, clip.config.image.layers, clip.config.text.layers)

    def _mix(self, of_class: Tensor, of_tokens: Tensor) -> Tensor:
        return self.class_share * of_class + (1 - self.class_share) * of_tokens

    def _enter(self, clip: TwoTower, names: Sequence[str]) -> PackedText:
        entered = clip.enter_text(fill(self.template, names), clip.config.text.layers - self._depth(clip))
        return entered.pack(clip.text, self.tokens)

    def _encode_text(self, clip: TwoTower, parameters: Tensors, text: PackedText) -> Tensor:
        """Unnormalised text features float[C, J]."""
        rows = mapped_rows(parameters, "text").to(clip.dtype)
        return widen(clip.leave_text(text, dict(enumerate(rows, start=text.sentences.block))))

    def _encode_image(self, clip: TwoTower, parameters: Tensors, images: Images) -> tuple[Tensor, Tensor]:
        """Unnormalised features float[B, J] of the class token, and of the mean of the learned tokens."""
        entered = self.lift(clip, images.pixels) if images.rows is None else images.rows
        rows, block = mapped_rows(parameters, "image").to(clip.dtype), clip.config.image.layers - self._depth(clip)
        left = clip.leave_image(entered, block, dict(enumerate(rows, start=block)))
        return widen(clip.project_patches(left[:, 0])), widen(left[:, 1:]).mean(dim=1) @ parameters["projection"]


def mapped_rows(parameters: Tensors, tower: str) -> Tensor:
    """The rows float[D, K, V] that a tower's maps make of the tokens."""
    weight, bias = parameters[f"{tower}_maps_weight"], parameters[f"{tower}_maps_bias"]
    return parameters["tokens"] @ weight.mT + bias.unsqueeze(-2)
