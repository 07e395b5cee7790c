"""Class names, and names of what the classes are not, as text embeddings: what two-tower detectors compare with.

Of a list of words those far from all classes are chosen. NegLabel and AdaNeg get nouns in the sentence of the class
names, and adjectives in a sentence of their own; CSP the same nouns, and adjectives joined with general nouns.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from openworld.backbones import DualEncoder
from openworld.core.errors import OpenworldError
from openworld.core.representation import short_repr
from openworld.core.types import Range, Share, checked
from openworld.datasets.names.word_lists import WordList
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


OF_NEGATIVE_NAMES = ("NegLabel", "CSP", "AdaNeg")
"""Names of the detectors that compare images with names of what the classes are not."""

OF_ADJECTIVES = "This is a {} photo"  # of NegLabel's released code
SHARE = 0.15  # of the words are kept, those furthest from all classes
CHUNK = 1024

Encode = Callable[[Sequence[str], str], Tensor]
"""Names, and a sentence with one {} for the name, or "" for that of the class names -> float[n, E]."""


def name_pools(
    own: Tensor,
    words: WordList,
    chosen: Iterable[Any],
    encode: Encode,
    progress: Callable[[int, int], None] = lambda done, count: None,
) -> tuple[Texts, tuple[str, ...]]:
    """Return class texts float[C, E] with the names far from them that detectors compare with, and words left out."""
    # `encode` raises where a name is too long for the model; `progress` hears how many names of how many are encoded.
    wanted = {detector.name for detector in chosen}
    if not wanted & set(OF_NEGATIVE_NAMES):
        return Texts(own), ()
    of_adjectives = wanted & {"NegLabel", "AdaNeg"}
    pools = [(words.nouns, "")]
    pools += [(words.adjectives, OF_ADJECTIVES)] if of_adjectives else []
    pools += [(conjugated_names(words.adjectives), "")] if "CSP" in wanted and words.adjectives else []
    count, far, lost = sum(len(names) for names, _ in pools), [], 0
    for place, (names, sentence) in enumerate(pools):
        before = sum(len(names) for names, _ in pools[:place])
        encoded = [own[:0]]
        for start in range(0, len(names), CHUNK):
            encoded.append(_readable(names[start : start + CHUNK], sentence, encode).to(own))
            progress(before + min(start + CHUNK, len(names)), count)
        candidates = torch.cat(encoded)
        lost += len(names) - len(candidates)
        far.append(candidates[mine_negatives(own, candidates, share=SHARE)] if len(candidates) else candidates)
    negative = torch.cat(far[: 1 + bool(of_adjectives)])
    conjugated = torch.cat([far[0], far[-1]]) if "CSP" in wanted and words.adjectives else None
    notes = (f"{lost} of {count:,} names of the list are too long for the model, and are left out.",) if lost else ()
    return Texts(own, negative if len(negative) else None, conjugated), notes


def require_words(detector: Any, words: WordList | None, where: str, setting: str = "groups") -> None:
    """Refuse a detector of negative names without a list of words, without adjectives, or with too few words."""
    if detector.name not in OF_NEGATIVE_NAMES:
        return
    if words is None:
        raise OpenworldError(
            f"{detector.name} needs names of what the classes are not; give negatives: 'wordnet', a folder with "
            "WordNet's files or with nouns.txt and adjectives.txt, or a text file with a word per line."
        )
    if detector.name == "CSP" and not words.adjectives:
        raise OpenworldError(
            f"CSP needs adjectives beside the nouns of {where}; give 'wordnet', or a folder with nouns.txt and "
            "adjectives.txt."
        )
    limit = sum(int(SHARE * len(part)) for part in (words.nouns, words.adjectives))
    if limit < detector.groups:
        raise OpenworldError(
            f"{detector.name} cuts the {100 * SHARE:g} % of words that are furthest from the classes into "
            f"{detector.groups} groups, and of the {len(words.nouns) + len(words.adjectives)} of {where} these are "
            f"{limit}; give more words, or set {setting} to {max(1, limit)} or less."
        )


def encoder_of(clip: DualEncoder, template: str) -> Encode:
    """Return what encodes names with a two-tower model."""

    @torch.no_grad()
    def encode(names: Sequence[str], sentence: str) -> Tensor:
        return clip.encode_text(fill(sentence or template, names)).float()

    return encode


def _readable(names: Sequence[str], sentence: str, encode: Encode) -> Tensor:
    """Encode names but those that are too long: halves are tried, until one name is left."""
    lists, waiting, refusal = [], [names], None
    while waiting:
        part = waiting.pop()
        try:
            lists.append(encode(part, sentence))
        except OpenworldError as error:
            refusal = error
            half = len(part) // 2
            waiting += [part[half:], part[:half]] if half else []
    if refusal is not None and not lists:
        raise refusal
    return torch.cat(lists)
