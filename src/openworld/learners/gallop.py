"""GalLoP (Lafon et al., 2024): contexts that look at the image, and contexts that look at its closest patches."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import torch
from torch import Generator, Tensor
from torch.nn.functional import cross_entropy, normalize

from openworld.backbones import PromptedNames, TwoTower
from openworld.core.arrays import require_at_least
from openworld.core.types import Range, checked
from openworld.learners.engine.images import Answer, Images, Tensors
from openworld.learners.engine.prompt_learner import PromptLearner
from openworld.learners.engine.text_bank import NameSets, TextBank, answer_of, whole_and_surest_patch
from openworld.learners.engine.text_features import Length, Words, context_tokens, encode_behind, start_context
from openworld.learners.engine.training import Loop, Schedule

SIMILARITIES = 2**25  # patch cosines alive at a time, 128 MiB in float32


@checked
@dataclass(frozen=True)
class GalLoP(PromptLearner):
    """Cross-entropy of a few global contexts drawn for each image, plus the mean over the local ones.

    Args:
        global_contexts: number G of contexts compared with the whole image.
        top: a local context for each number k: it is compared with the k closest patches of each class, or with all
            patches where there are fewer.
        context_length: N tokens of a context where `words` is None.
        words: phrase that all contexts start from; its tokens decide N. None for Normal(0, 0.02).
        dropout: share of the global contexts that an image does without in a step; at least one is kept.
        keep_underscores: leave "_" in names, as the released code does.
        schedule: 200 epochs of 32 images at 0.002, weight decay 0.01, a cosine to 0 without warm-up
            (MarcLafon/gallop @ f75999e).
    """

    global_contexts: Length = 4
    top: tuple[int, ...] = (5, 10, 15, 20)
    context_length: Length = 4
    words: Words = "A photo of a"
    dropout: Annotated[float, Range(0, 1, "[)")] = 0.75
    keep_underscores: bool = False
    schedule: Schedule = Schedule(epochs=200, weight_decay=1e-2, warmup=False)

    name = "GalLoP"
    paper = "Lafon et al., 2024"
    tunes = "global and local contexts, a projection of patches"
    cost = "text tower, 8 contexts; patch logits"
    consumes = "patches"
    of_dataset = {
        "schedule": {
            "imagenet": Schedule(epochs=50, batch_size=128, weight_decay=1e-2, warmup=False),
            "sun397": Schedule(epochs=200, batch_size=128, weight_decay=1e-2, warmup=False),
            "eurosat": Schedule(epochs=200, batch_size=10, weight_decay=1e-2, warmup=False),
        }
    }
    openpl = {"words": None}  # which did not run it

    def __post_init__(self):
        require_at_least(1, top=min(self.top, default=0))

    def start(self, clip: TwoTower, classnames: Sequence[str], generator: Generator) -> Tensors:
        """Contexts float[G, N, W] and float[L, N, W], and the identity float[V, V], V the image tower's width."""
        return {
            "global": self._start(clip, self.global_contexts, generator),
            "local": self._start(clip, len(self.top), generator),
            "projection": torch.eye(clip.config.image.width, device=clip.device),
        }

    def prepare(self, clip: TwoTower, classnames: Sequence[str]) -> PromptedNames:
        """The tokenised names, without a full stop."""
        length = context_tokens(clip, self.context_length, self.words)
        return clip.prompt_names(classnames, length, suffix="", keep_underscores=self.keep_underscores)

    def loss(
        self, clip: TwoTower, parameters: Tensors, images: Images, labels: Tensor, prepared: PromptedNames
    ) -> Tensors:
        """The global and the local cross-entropy and their sum; labels int64[B]."""
        of_image, of_patches = self._texts(clip, parameters, prepared)
        cosines = normalize(images.embeddings, dim=-1) @ of_image.mT
        chosen = images.draw[: len(labels)].to(labels.device)
        rows = torch.arange(len(labels), device=labels.device)[:, None]
        whole = cross_entropy(clip.logit_scale * cosines[chosen, rows].mean(dim=1), labels)
        patches = images.patches @ joint_projection(clip, parameters["projection"])
        closest = closest_patch_cosines(patches, of_patches, self.top)
        parts = cross_entropy(clip.logit_scale * closest.flatten(0, 1), labels.repeat(len(closest)))
        return {"global": whole, "local": parts, "total": whole + parts}

    @property
    def loop(self) -> Loop:
        """The global contexts that each image keeps in a step are drawn."""
        return Loop(draws=self._draws)

    def text_bank(self, clip: TwoTower, parameters: Tensors, names: NameSets) -> TextBank:
        """Means over the global contexts of unit text features, not normalised again.

        `parts` are unit text features float[L, C, D] behind each local context, and one matrix float[V, D] from patch
        rows to the joint space: the learned projection, then the tower's.
        """
        of_image, of_patches = self._texts(clip, parameters, self.prepare(clip, names.all))
        projection = joint_projection(clip, parameters["projection"])
        return TextBank(of_image.mean(dim=0), len(names.base), clip.logit_scale, (of_patches, projection))

    def answer(self, clip: TwoTower, parameters: Tensors, images: Images, bank: TextBank) -> Answer:
        """Half global, half local logits over all names, and the log of the largest base softmax."""
        whole = normalize(images.embeddings, dim=-1) @ bank.text.mT
        local, projection = bank.parts
        parts = closest_patch_cosines(images.patches @ projection, local, self.top).mean(dim=0)
        return answer_of(bank.scale * 0.5 * (whole + parts), bank.base_count)

    def own_score(self, clip: TwoTower, parameters: Tensors, images: Images, bank: TextBank) -> Tensor:
        """GL-MCM of mean cosines over the contexts, float[N]: global ones of the image, local ones of every patch.

        As MarcLafon/gallop @ f75999e detects images of no known class.
        """
        whole = normalize(images.embeddings, dim=-1) @ bank.text.mT
        local, projection = bank.parts
        parts = normalize(images.patches @ projection, dim=-1) @ local.mean(dim=0).mT
        return whole_and_surest_patch(whole, parts)

    def _start(self, clip: TwoTower, count: int, generator: Generator) -> Tensor:
        context = start_context(clip, self.context_length, self.words, generator, count)
        return context.expand(count, -1, -1).clone()

    def _texts(self, clip: TwoTower, parameters: Tensors, prompts: PromptedNames) -> tuple[Tensor, Tensor]:
        contexts = torch.cat([parameters["global"], parameters["local"]])
        text = normalize(encode_behind(clip, contexts, prompts), dim=-1)
        return text[: self.global_contexts], text[self.global_contexts :]

    def _draws(self, generator: Generator) -> Iterator[Tensor]:
        """int64[batch size, kept]: the global contexts of each image, with replacement, as the released code draws."""
        count = max(self.global_contexts - int(self.dropout * self.global_contexts), 1)
        while True:
            yield torch.randint(self.global_contexts, (self.schedule.batch_size, count), generator=generator)


def joint_projection(clip: TwoTower, projection: Tensor) -> Tensor:
    """Return the learned projection float[V, V] and the tower's as one matrix float[V, D]; rows at its left."""
    return projection.mT @ clip.image.projection.weight.mT.to(projection.dtype)


def closest_patch_cosines(patches: Tensor, text: Tensor, top: Sequence[int]) -> Tensor:
    """Return the mean cosine of the k closest patches of each context and class, float[L, B, C]."""
    patches = normalize(patches, dim=-1)
    batch, places, _ = patches.shape
    rows = patches.flatten(0, 1)
    # Every class picks its own patches, so that chunks over classes are exact. Backward needs nothing but the places
    # picked, not the cosines: those of one chunk are alive at a time.
    size = max(1, SIMILARITIES // max(len(rows), 1))

    def of(features: Tensor, count: int) -> Tensor:
        cosines = (features @ rows.mT).unflatten(1, (batch, places))
        return cosines.topk(min(count, places), sorted=False).values.mean(dim=-1)

    means = [torch.cat([of(chunk, k) for chunk in features.split(size)]) for features, k in zip(text, top, strict=True)]
    return torch.stack(means).mT
