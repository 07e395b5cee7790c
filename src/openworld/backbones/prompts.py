"""Text passes: class names behind a learned context, and plain sentences, both on the packed text tower.

A prompt is "X X .. X name." with P placeholders (CoOp, Zhou et al., 2022): the placeholders fix positions, and the
learned context takes rows 1..P. The whole sentence is tokenised and the tail taken, because a name that ends in
punctuation merges with the full stop into one token, so that name and full stop tokenised apart would differ.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from openworld._errors import OpenworldError
from openworld.backbones.packing import PackedSentences, encode_packed, pack_sentences
from openworld.backbones.towers import TextTower

PLACEHOLDER = "X"
CHUNK = 512


@dataclass(frozen=True)
class PromptedNames:
    """Class names tokenised and embedded once, ready for any number of contexts of `context_length` rows.

    names: as given. tokens: int64[C, T] on the CPU, zero-padded, start and end tokens included.
    """

    names: tuple[str, ...]
    context_length: int
    tokens: Tensor
    sentences: PackedSentences

    def __len__(self) -> int:
        return len(self.names)


def prompt_names(tower: TextTower, tokenizer, names: Sequence[str], context_length: int, suffix: str) -> PromptedNames:
    """Prepare the prompts "X .. X name" + suffix; see `TwoTower.prompt_names`."""
    if not tower.config.causal:
        raise OpenworldError(
            "learned contexts need a causal text tower pooled at its end token (CLIP); "
            "this model's text tower is bidirectional (SigLIP)."
        )
    if isinstance(names, str) or not len(names):
        raise OpenworldError(f"expected a list of at least one class name, got {names!r}.")
    placeholders = f"{PLACEHOLDER} " * context_length
    try:
        sentences = tokenizer([f"{placeholders}{name.replace('_', ' ')}{suffix}" for name in names])
    except OpenworldError as error:
        raise OpenworldError(f"with {context_length} context tokens in front, {error}") from None
    _check_placeholders(tokenizer, sentences[0], context_length)
    with torch.no_grad():
        packed = pack_sentences(tower, sentences, context_length)
    return PromptedNames(tuple(names), context_length, pad_tokens(sentences), packed)


def encode_prompts(
    tower: TextTower,
    context: Tensor,
    prompts: PromptedNames,
    replace: Mapping[int, Tensor] | None = None,
    replace_per_class: Mapping[int, Tensor] | None = None,
) -> Tensor:
    """Embed every name behind the context(s); see `TwoTower.encode_prompts`."""
    length, width = prompts.context_length, tower.config.width
    if context.dim() not in (2, 3) or context.shape[-2:] != (length, width):
        raise OpenworldError(
            f"expected a context of shape [{length}, {width}] or [G, {length}, {width}] for these prompts, "
            f"got {list(context.shape)}."
        )
    grouped = context if context.dim() == 3 else context[None]
    rows = grouped + tower.positions[1 : 1 + length]
    features = encode_packed(tower, rows, prompts.sentences, dict(replace or {}), dict(replace_per_class or {}))
    return features if context.dim() == 3 else features[0]


def encode_sentences(tower: TextTower, sentences: Sequence[Sequence[int]]) -> Tensor:
    """Embed plain sentences, given as token ids: float[C, D], unnormalised. Causal towers run packed, in chunks."""
    chunks = [sentences[first : first + CHUNK] for first in range(0, len(sentences), CHUNK)]
    encode = _encode_chunk if tower.config.causal else _encode_padded
    return torch.cat([encode(tower, chunk) for chunk in chunks])


def _encode_chunk(tower: TextTower, sentences: Sequence[Sequence[int]]) -> Tensor:
    shared = common_prefix(sentences)
    device = tower.positions.device
    tokens = torch.tensor(sentences[0][1 : 1 + shared], dtype=torch.int64, device=device)
    rows = tower.tokens(tokens) + tower.positions[1 : 1 + shared]
    return encode_packed(tower, rows[None], pack_sentences(tower, sentences, shared))[0]


def _encode_padded(tower: TextTower, sentences: Sequence[Sequence[int]]) -> Tensor:
    tokens = pad_tokens(sentences, tower.config.positions, tower.config.pad_token)
    return tower(tokens.to(tower.positions.device))


def common_prefix(sentences: Sequence[Sequence[int]]) -> int:
    """How many tokens after the start token all sentences have in common, leaving each one token of its own.

    >>> common_prefix([[0, 5, 6, 7, 9], [0, 5, 6, 9]])
    2
    """
    limit = min(len(sentence) for sentence in sentences) - 2
    first = sentences[0]
    for place in range(limit):
        if any(sentence[1 + place] != first[1 + place] for sentence in sentences):
            return place
    return limit


def pad_tokens(sentences: Sequence[Sequence[int]], length: int | None = None, pad: int = 0) -> Tensor:
    """Token ids as one int64[C, length] tensor, padded at the right; length defaults to the longest sentence.

    >>> pad_tokens([[8, 1, 9], [8, 9]])
    tensor([[8, 1, 9],
            [8, 9, 0]])
    """
    length = length or max(len(sentence) for sentence in sentences)
    return torch.tensor([list(sentence) + [pad] * (length - len(sentence)) for sentence in sentences])


def _check_placeholders(tokenizer, sentence: Sequence[int], context_length: int) -> None:
    placeholder = tokenizer([PLACEHOLDER])[0][1:-1]
    if list(sentence[1 : 1 + context_length]) != placeholder * context_length or len(placeholder) != 1:
        raise OpenworldError(
            f"this model's tokenizer does not read {PLACEHOLDER!r} as one token, so {context_length} placeholders do "
            "not fix the positions of a context; use a CLIP byte-pair tokenizer."
        )
