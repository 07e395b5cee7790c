"""Zero-shot CLIP (Radford et al., 2021): names in hand-written templates, nothing learned."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn.functional import normalize

from openworld.datasets import templates as sentences
from openworld.learners._bank import Names, TextBank, bank_logits, largest_base_log_probability
from openworld.learners._fitted import Fitted


@dataclass(frozen=True)
class ZeroShot:
    """CLIP as it comes, with one template or several.

    Args:
        templates: sentences with one `{}` for the name. With several, each sentence's feature is normalised, they are
            averaged over the templates, and the mean is normalised again.
    """

    templates: tuple[str, ...] = ("a photo of a {}.",)

    name: ClassVar[str] = "zero-shot"
    paper: ClassVar[str] = "Radford et al., 2021"
    tunes: ClassVar[str] = "nothing"
    consumes: ClassVar[str] = "embeddings"
    depends_on_other_names: ClassVar[bool] = False

    @classmethod
    def published(cls, dataset: str) -> "ZeroShot":
        """With the data set's own sentence."""
        return cls(templates=(sentences.TEMPLATES.get(dataset, sentences.PHOTO),))

    def fit(self, clip, train, *, seed: int) -> Fitted:
        """Nothing is learned; `train` gives the base names, `seed` has no effect."""
        return Fitted(self, clip, tuple(train.classnames), {})

    def text_bank(self, clip, parameters: dict[str, Tensor], names: Names) -> TextBank:
        """Text features of all names."""
        return TextBank(encode_names(clip, names.all, self.templates), len(names.base), clip.logit_scale)

    def logits(self, embeddings: Tensor, bank: TextBank, subset: str) -> Tensor:
        """float[N, C of the subset]."""
        return bank_logits(embeddings, bank, subset)

    def baseness(self, embeddings: Tensor, bank: TextBank) -> Tensor:
        """float[N], log of the largest base softmax."""
        return largest_base_log_probability(embeddings, bank)


@dataclass(frozen=True)
class ZeroShotEnsemble(ZeroShot):
    """CLIP as it comes, with the features of several sentences averaged.

    Args:
        templates: CLIP's seven best ImageNet sentences and, for other data sets, their own sentence.
    """

    templates: tuple[str, ...] = sentences.ensemble("")

    name: ClassVar[str] = "zero-shot-ensemble"

    @classmethod
    def published(cls, dataset: str) -> "ZeroShotEnsemble":
        """With the data set's own ensemble."""
        return cls(templates=sentences.ensemble(dataset))


@torch.no_grad()
def encode_names(clip, names, templates) -> Tensor:
    """Unit text features float[C, D] of names in one or several templates; "_" in a name is read as a space."""
    features = [normalize(clip.encode_text(sentences.fill(template, names)), dim=-1) for template in templates]
    return normalize(torch.stack(features).mean(dim=0), dim=-1)
