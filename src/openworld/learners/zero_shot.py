"""Zero-shot CLIP (Radford et al., 2021): names in hand-written templates, nothing learned."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn.functional import normalize

from openworld._errors import OpenworldError
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


@torch.no_grad()
def encode_names(clip, names, templates) -> Tensor:
    """Unit text features float[C, D] of names in one or several templates; "_" in a name is read as a space."""
    for template in templates:
        if template.count("{}") != 1:
            raise OpenworldError(f"the template {template!r} must hold one {{}} for the class name.")
    cleaned = [name.replace("_", " ") for name in names]
    features = [
        normalize(clip.encode_text([template.format(name) for name in cleaned]), dim=-1) for template in templates
    ]
    return normalize(torch.stack(features).mean(dim=0), dim=-1)
