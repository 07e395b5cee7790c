"""Class names, and names of what the classes are not, as text embeddings: what two-tower detectors compare with."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from openworld.backbones import DualEncoder
from openworld.core.errors import OpenworldError
from openworld.core.representation import short_repr
from openworld.core.types import Range, Share, checked
from openworld.datasets.templates import fill
from openworld.detectors.engine.head import as_floats

SUPERCLASSES = (
    *("environment", "space", "object", "scene", "place", "item", "area", "view", "thing", "pattern", "structure"),
    *("landscape", "vista", "creature"),
)
"""The fourteen of CSP's released code, for images of any kind."""


@checked
@dataclass(frozen=True, eq=False)
class Texts:
    """Text embeddings of one model.

    Args:
        own: float[C, E] of the classes; kept with length 1, in float32 or wider.
        negative: float[M, E] of names far from all classes (`mine_negatives`), those furthest first; or None.
        conjugated: float[K, E] of CSP's pool: nouns far from all classes, and adjectives joined with superclasses
            (`conjugated_names`) that are; or None.

    Raises:
        OpenworldError: other shapes, NaN or infinity, an embedding of length 0.

    >>> Texts(torch.tensor([[3.0, 4.0]])).own
    tensor([[0.6000, 0.8000]])
    """

    own: Tensor
    negative: Tensor | None = None
    conjugated: Tensor | None = None

    __repr__ = short_repr

    def __post_init__(self):
        object.__setattr__(self, "own", _unit(self.own, "own"))
        for name in ("negative", "conjugated"):
            if (others := getattr(self, name)) is not None:
                object.__setattr__(self, name, _unit(others, name))
                if others.shape[1] != self.own.shape[1]:
                    raise OpenworldError(
                        f"{name} texts have width {others.shape[1]}, own texts {self.own.shape[1]}; encode both with "
                        "one model."
                    )

    def to(self, like: Tensor) -> "Texts":
        """Return the texts on the device and in the type of a tensor."""
        if self.own.device == like.device and self.own.dtype == like.dtype:
            return self
        negative, conjugated = (None if part is None else part.to(like) for part in (self.negative, self.conjugated))
        return Texts(self.own.to(like), negative, conjugated)


@torch.no_grad()
@checked
def encode_texts(
    clip: DualEncoder, names: Sequence[str], *, negative: Sequence[str] = (), template: str = "a photo of a {}"
) -> Texts:
    """Encode class names, and negative names where there are any, with a two-tower model.

    Args:
        clip: backbone of `openworld.backbones`.
        names: C class names; "_" is read as a space. negative: M names.
        template: sentence with one {} for the name. MCM's is the default; NegLabel's is "the nice {}".
    Raises:
        OpenworldError: no name, a template without a place for the name, a sentence that is too long.
    """
    if template.count("{}") != 1:
        raise OpenworldError(f"the template {template!r} needs exactly one {{}}, the place of the name.")
    texts, other = (clip.encode_text(fill(template, part)) if len(part) else None for part in (names, negative))
    if texts is None:
        raise OpenworldError("there is no class name; give at least one.")
    return Texts(texts, other)


@checked
def mine_negatives(
    own: Tensor, candidates: Tensor, share: Annotated[float, Range(0, 1, "(]")] = 0.15, quantile: Share = 0.95
) -> Tensor:
    """Which candidates are furthest from all classes: int64[floor(share * n)], the furthest first.

    Args:
        own: float[C, E] embeddings of class names. candidates: float[n, E] of many words, such as WordNet's nouns;
            the paper mines nouns and adjectives separately.
        share: of the candidates to keep, in (0, 1].
        quantile: over classes, of a candidate's cosines; it is near when many classes are near.
    Raises:
        OpenworldError: a share or quantile outside its range.
    Source: NegLabel (Jiang et al., 2024), NegMining; XueJiang16/NegLabel@979e142.

    >>> own = torch.tensor([[1.0, 0.0]])
    >>> mine_negatives(own, torch.tensor([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, 2.0]]), share=0.5).tolist()
    [1, 2]
    """
    own, candidates = _unit(own, "own"), _unit(candidates, "candidates")
    own, candidates = (texts.to(torch.promote_types(own.dtype, candidates.dtype)) for texts in (own, candidates))
    near = torch.cat([(part @ own.mT).quantile(quantile, dim=1) for part in candidates.split(4096)])
    return near.argsort(stable=True)[: int(share * len(near))]


@checked
def conjugated_names(
    adjectives: Sequence[str], superclasses: Sequence[str] = SUPERCLASSES, *, seed: int = 0
) -> tuple[str, ...]:
    """Join each adjective with a superclass that is drawn for it: the names of CSP's pool, "ivory scene".

    Args:
        adjectives: words, "_" read as a space. superclasses: general nouns; the published ones by default.
        seed: of the draw. The public code draws with Python's generator, so that single names differ from its own.
    Raises:
        OpenworldError: no superclass.
    Source: CSP (Chen et al., 2024), MengyuanChen21/NeurIPS2024-CSP@252d4d5.

    >>> conjugated_names(["ivory", "left_over"], ["scene"])
    ('ivory scene', 'left over scene')
    """
    if not len(superclasses):
        raise OpenworldError("there is no superclass to join adjectives with; give one at least, such as 'object'.")
    drawn = np.random.default_rng(seed).integers(len(superclasses), size=len(adjectives))
    return tuple(
        f"{word.replace('_', ' ')} {superclasses[place]}" for word, place in zip(adjectives, drawn, strict=True)
    )


def _unit(embeddings: Tensor, name: str) -> Tensor:
    if embeddings.dim() != 2 or not len(embeddings):
        raise OpenworldError(f"{name} texts have shape {list(embeddings.shape)}, expected [names, E], one at least.")
    embeddings = as_floats(embeddings, f"{name} texts")
    lengths = embeddings.norm(dim=1)
    if not embeddings.isfinite().all() or not lengths.all():
        raise OpenworldError(f"{name} texts hold NaN, infinity or an embedding of length 0; encode the names again.")
    return normalize(embeddings, dim=-1)
