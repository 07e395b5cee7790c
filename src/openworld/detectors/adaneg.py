"""AdaNeg: NegLabel whose names are joined by test images that were surely in or out of distribution (Zhang and Zhang,
2024, "AdaNeg: Adaptive Negative Proxy Guided OOD Detection with Vision-Language Models").

The score looks at the whole test stream: it depends on the order of the images, on which others there are, and on
`batch`. In- and out-of-distribution images belong into one stream (`score_stream`), as in the published evaluation.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

import torch
from torch import Tensor

from openworld.core.types import AboveZero, NotNegative, Positive, Range, Share, checked
from openworld.detectors.neglabel import name_groups, share_of_classes
from openworld.detectors.plugin_api import Activations, DetectorCard, Fittable

MOST = 1000  # entries of a memory: their products take the square of it for every name


@checked
@dataclass(frozen=True)
class AdaNeg(Fittable):
    """NegLabel's score with proxies in the place of names, plus `weight` times NegLabel's with the names themselves.

    Each name has a memory: its text, and images of the stream that are nearest to it among the classes, or among the
    negative names, where NegLabel's score is surely high, or low; those of least entropy are kept. A proxy is the sum
    of a memory, of unit length. A batch is first remembered, then scored. Every call of `score` starts anew.

    Args:
        temperature: T > 0, of cosines. groups: of negative names, as in NegLabel. seed: of their cut.
        threshold, gap: an image is remembered with a score above threshold + gap (1 - threshold), in distribution, or
            below threshold - gap threshold, out of it; both in [0, 1].
        length: how much a memory holds, the text among it, at most 1,000.
        proxies: "sample", entries weighted by exp(-sharpness (1 - cosine with the image)); "task", all alike.
        sharpness: beta >= 0. The released code cuts the 5.5 of its scripts to 5.
        weight: lambda >= 0, of NegLabel's score.
        batch: images remembered and scored together.

    Source: YBZh/OpenOOD-VLM@694592a, whose ImageNet script has these settings; its groups are cut by torch's generator.

    >>> from openworld.detectors.engine.texts import Texts
    >>> texts = Texts(torch.tensor([[1.0, 0.0]]), negative=torch.tensor([[1.0, 0.0]]))
    >>> AdaNeg(groups=1).fit(Activations(texts=texts)).score(torch.tensor([[3.0, 4.0]])).tolist()  # 0.5 + 0.1 * 0.5
    [0.550000011920929]
    """

    temperature: AboveZero = 0.01
    groups: Positive = 5
    seed: int = 0
    threshold: Share = 0.5
    gap: Share = 0.5
    length: Annotated[int, Range(1, MOST)] = 10
    proxies: Literal["sample", "task"] = "sample"
    sharpness: NotNegative = 5.5
    weight: NotNegative = 0.1
    batch: Positive = 256

    card = DetectorCard("AdaNeg", "Zhang & Zhang, 2024", "NegLabel that remembers test images", ("features", "texts"))
    sequential = True

    def read(self, state: None, activations: Activations) -> Tensor:
        """Scores float[N], in [0, 1 + weight], of the images as one stream."""
        names = activations.unit_texts.own
        negative, groups = name_groups(self, activations.unit_texts, "negative")
        memory = _Memory(torch.cat([names, negative]), self.length)
        batches = activations.unit.split(self.batch)
        return torch.cat([self._read_batch(images, memory, len(names), groups) for images in batches])

    def _read_batch(self, images: Tensor, memory: "_Memory", classes: int, groups: Tensor) -> Tensor:
        logits = images @ memory.texts.mT / self.temperature
        of_names = self._share(logits, classes, groups)
        inside = of_names > self.threshold + self.gap * (1 - self.threshold)
        outside = of_names < self.threshold - self.gap * self.threshold
        memory.remember(images, inside, logits[:, :classes], first=0)
        memory.remember(images, outside, logits[:, classes:], first=classes)
        cosines = memory.proxy_cosines(images, self.sharpness if self.proxies == "sample" else 0.0)
        return self._share(cosines / self.temperature, classes, groups) + self.weight * of_names

    def _share(self, logits: Tensor, classes: int, groups: Tensor) -> Tensor:
        negative = logits[:, classes:]
        return share_of_classes(logits[:, :classes], (negative[:, group] for group in groups))


class _Memory:
    """Per name float[L, E]: its text, of entropy 0, which no image falls below, then images; zeros where none is."""

    def __init__(self, texts: Tensor, length: int):
        self.entries = torch.cat([texts[:, None], texts.new_zeros(len(texts), length - 1, texts.shape[1])], dim=1)
        self.entropy = texts.new_zeros(len(texts), length)
        self.products = self.entries @ self.entries.mT  # float[names, L, L], for the lengths of weighted sums
        self.filled = [1] * len(texts)
        self.texts = texts

    def remember(self, images: Tensor, chosen: Tensor, logits: Tensor, first: int) -> None:
        """Keep the chosen images, in their order, with the names of largest logit; the first of these is `first`."""
        entropies = torch.special.entr(logits.softmax(dim=1)).sum(dim=1)
        names = logits.argmax(dim=1) + first
        for place in chosen.nonzero().flatten().tolist():
            self._keep(images[place], int(names[place]), entropies[place])

    def _keep(self, image: Tensor, name: int, entropy: Tensor) -> None:
        slot = self.filled[name]
        if slot < self.entries.shape[1]:
            self.filled[name] += 1
        else:
            slot = int(self.entropy[name].argmax())
            if entropy >= self.entropy[name, slot]:
                return
        self.entries[name, slot], self.entropy[name, slot] = image, entropy
        products = self.entries[name] @ image
        self.products[name, slot], self.products[name, :, slot] = products, products

    def proxy_cosines(self, images: Tensor, sharpness: float) -> Tensor:
        """Cosines float[B, names] of images with their proxies."""
        # A proxy, the sum of w_l m_l over a memory, is never made: its product with the image is the sum of
        # w_l <m_l, v>, its squared length that of w_l w_k <m_l, m_k>. Only names with an image differ from their texts.
        cosines = images @ self.texts.mT
        changed = [name for name, filled in enumerate(self.filled) if filled > 1]
        if changed:
            similar = torch.einsum("be,nle->bnl", images, self.entries[changed])
            weights = (-sharpness * (1 - similar)).exp()
            squares = torch.einsum("bnl,nlk,bnk->bn", weights, self.products[changed], weights)
            cosines[:, changed] = (weights * similar).sum(dim=2) / squares.clamp(min=1e-24).sqrt()
        return cosines
