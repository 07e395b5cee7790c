"""Names of what the classes are not, of a list of words: encoded, and those far from all classes chosen of them.

NegLabel and AdaNeg get nouns in the sentence of the class names, and adjectives in a sentence of their own; CSP the
same nouns, and adjectives joined with general nouns.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

from openworld._errors import OpenworldError
from openworld.backbones import DualEncoder
from openworld.datasets.names.word_lists import WordList
from openworld.datasets.templates import fill
from openworld.detectors.engine.texts import Texts, conjugated_names, mine_negatives

OF_NEGATIVE_NAMES = ("NegLabel", "CSP", "AdaNeg")
"""Names of the detectors that compare images with names of what the classes are not."""

OF_ADJECTIVES = "This is a {} photo"  # of NegLabel's released code
SHARE = 0.15  # of the words are kept, those furthest from all classes
CHUNK = 1024

Encode = Callable[[Sequence[str], str], Tensor]
"""Names, and a sentence with one {} for the name, or "" for that of the class names -> float[n, E]."""


def name_pools(own: Tensor, words: WordList, chosen: Iterable[Any], encode: Encode) -> Texts:
    """Return class texts with the names far from them that detectors compare with.

    Args:
        own: float[C, E], texts of the class names.
        words: without the class names.
        chosen: detectors; those of negative names say which pools are made.
        encode: encodes names as the class names are encoded.
    """
    wanted = {detector.name for detector in chosen}
    if not wanted & set(OF_NEGATIVE_NAMES):
        return Texts(own)
    nouns = _far(own, words.nouns, "", encode)
    negative, conjugated = nouns, None
    if wanted & {"NegLabel", "AdaNeg"}:
        negative = torch.cat([nouns, _far(own, words.adjectives, OF_ADJECTIVES, encode)])
    if "CSP" in wanted and words.adjectives:
        conjugated = torch.cat([nouns, _far(own, conjugated_names(words.adjectives), "", encode)])
    return Texts(own, negative if len(negative) else None, conjugated)


def require_words(detector: Any, words: WordList | None, where: str, setting: str = "groups") -> None:
    """Refuse a detector of negative names without a list of words, without adjectives, or with too few words.

    Args:
        where: what the list is called, for the refusal. setting: how the number of groups is set.
    Raises:
        OpenworldError: as it says, and what to do.
    """
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
    kept = sum(int(SHARE * len(part)) for part in (words.nouns, words.adjectives))
    if kept < detector.groups:
        raise OpenworldError(
            f"{detector.name} cuts the {100 * SHARE:g} % of words that are furthest from the classes into "
            f"{detector.groups} groups, and of the {len(words.nouns) + len(words.adjectives)} of {where} these are "
            f"{kept}; give more words, or set {setting} to {max(1, kept)} or less."
        )


def encoder_of(clip: DualEncoder, template: str, progress: Callable[[int], None] = lambda done: None) -> Encode:
    """Return what encodes names with a two-tower model; `progress` hears how many names more were encoded."""

    @torch.no_grad()
    def encode(names: Sequence[str], sentence: str) -> Tensor:
        parts = []
        for start in range(0, len(names), CHUNK):
            part = names[start : start + CHUNK]
            parts.append(clip.encode_text(fill(sentence or template, part)).float())
            progress(len(part))
        return torch.cat(parts)

    return encode


def names_to_encode(words: WordList, chosen: Iterable[Any]) -> int:
    """Return how many names the pools of detectors take to encode."""
    wanted = {detector.name for detector in chosen}
    uses = bool(wanted & {"NegLabel", "AdaNeg"}) + ("CSP" in wanted)
    return (len(words.nouns) if uses else 0) + uses * len(words.adjectives)


def _far(own: Tensor, names: Sequence[str], sentence: str, encode: Encode) -> Tensor:
    if not len(names):
        return own[:0]
    encoded = encode(names, sentence).to(own)
    return encoded[mine_negatives(own, encoded, share=SHARE)]
