"""Names of what the classes are not, of a list of words: encoded, and those far from all classes chosen of them.

NegLabel and AdaNeg get nouns in the sentence of the class names, and adjectives in a sentence of their own; CSP the
same nouns, and adjectives joined with general nouns.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

from openworld.backbones import DualEncoder
from openworld.core.errors import OpenworldError
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
