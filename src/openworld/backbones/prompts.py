"""Text passes: class names with a learned context, and plain sentences, both on the packed text tower.

A prompt is "X X .. X name." with P placeholders (CoOp, Zhou et al., 2022): the placeholders fix positions, and the
learned context takes their place, before the name or, in part, after it. The whole sentence is tokenised and its tail
taken, because a name that ends in punctuation merges with the full stop into one token, so that name and full stop
tokenised apart would differ.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from openworld.backbones.packed_sentences import PackedSentences, encode_packed, pack_sentences
from openworld.backbones.towers import TextTower
from openworld.core.errors import OpenworldError, unknown_name
from openworld.core.representation import short_repr
from openworld.core.spoken import spoken_name

PLACEHOLDER = "X"
CHUNK = 512


@dataclass(frozen=True)
class PromptedNames:
    """Class names tokenised and embedded once, ready for any number of contexts of `context_length` rows.

    names: as given; several lists of C names are for as many contexts, one each. tokens: int64[C, T] on the CPU,
    zero-padded, start and end tokens included, list after list; the placeholders of the context stand in front,
    wherever its rows go. leading: how many rows of the context stand before the name. fixed: float[F, W], the words
    between context and name, position embeddings included.
    """

    names: tuple[str, ...] | tuple[tuple[str, ...], ...]
    context_length: int
    tokens: Tensor
    leading: int
    fixed: Tensor
    sentences: PackedSentences

    __repr__ = short_repr

    def __len__(self) -> int:
        return self.sentences.packing.order.shape[1]

    @property
    def lists(self) -> int:
        """How many lists of names there are."""
        return len(self.sentences.rows)


def prompt_names(
    tower: TextTower,
    tokenizer,
    given: Sequence,
    length: int,
    suffix: str = ".",
    *,
    fixed: str = "",
    position: str = "end",
    keep_underscores: bool = False,
) -> PromptedNames:
    """Prepare the prompts "X .. X name" + suffix; see `TwoTower.prompt_names`."""
    require_causal(tower, "learned contexts need")
    before = {"end": length, "middle": length // 2, "front": 0}
    if position not in before:
        raise unknown_name("position of the name", position, before)
    if fixed and position != "end":
        raise OpenworldError(f"fixed words ({fixed!r}) need the name at the end, not at the {position}.")
    # One list of names, or several equally long ones.
    lists = [given] if not len(given) or isinstance(given, str) or isinstance(given[0], str) else given
    if any(isinstance(names, str) or not len(names) for names in lists):
        raise OpenworldError(f"expected a list of at least one class name, got {given!r}.")
    if len({len(names) for names in lists}) > 1:
        raise OpenworldError(f"expected lists of equally many names, got {[len(names) for names in lists]} of them.")
    lists = tuple(map(tuple, lists))
    if len(lists) > 1 and position != "end":
        raise OpenworldError(f"several lists of names stand at the end of their prompts, not at the {position}.")
    names, leading = [spoken_name(name) for part in lists for name in part], before[position]
    words = [name if keep_underscores else name.replace("_", " ") for name in names]
    try:
        sentences = tokenizer([" ".join([*[PLACEHOLDER] * length, *fixed.split(), word + suffix]) for word in words])
    except OpenworldError as error:
        raise OpenworldError(f"with {length} context tokens in front, {error}") from None
    placeholder = tokenizer([PLACEHOLDER])[0][1:-1]
    if list(sentences[0][1 : 1 + length]) != placeholder * length or len(placeholder) != 1:
        raise OpenworldError(
            f"this model's tokenizer does not read {PLACEHOLDER!r} as one token, so {length} placeholders do "
            "not fix the positions of a context; use a CLIP byte-pair tokenizer."
        )
    between = tokenizer([fixed])[0][1:-1]
    # Counted on the name as spoken, as published code does, even where "_" is left in and is a token of its own.
    spoken = [len(tokens) - 2 for tokens in tokenizer([name.replace("_", " ") for name in names])]
    arranged, slots = [], []
    for sentence, name_tokens in zip(sentences, spoken, strict=True):
        # All but `leading` placeholders go behind the tokens of the name.
        stop = min(1 + length + name_tokens, len(sentence) - 1)
        moved = sentence[1 + leading : 1 + length]
        arranged.append([*sentence[: 1 + leading], *sentence[1 + length : stop], *moved, *sentence[stop:]])
        slots.append(range(stop - len(moved), stop))
    shared, count = leading + len(between), len(lists[0])
    with torch.no_grad():
        cut = [arranged[first : first + count] for first in range(0, len(names), count)]
        packed = pack_sentences(tower, cut, shared, slots if len(lists) == 1 else None)
        rows = tower.tokens(torch.tensor(between, dtype=torch.int64, device=tower.positions.device))
        rows = rows + tower.positions[1 + leading : 1 + shared]
    texts = lists[0] if len(lists) == 1 else lists
    return PromptedNames(texts, length, pad_tokens(sentences), leading, rows, packed)


def encode_prompts(
    tower: TextTower,
    context: Tensor,
    prompts: PromptedNames,
    replace: Mapping[int, Tensor] | None = None,
    replace_per_class: Mapping[int, Tensor] | None = None,
) -> Tensor:
    """Embed every name with the context(s); see `TwoTower.encode_prompts`."""
    length, width = prompts.context_length, tower.config.width
    if context.dim() not in (2, 3) or context.shape[-2:] != (length, width):
        raise OpenworldError(
            f"expected a context of shape [{length}, {width}] or [G, {length}, {width}] for these prompts, "
            f"got {list(context.shape)}."
        )
    grouped, leading = context if context.dim() == 3 else context[None], prompts.leading
    if prompts.lists > 1 and (context.dim() != 3 or len(context) != prompts.lists or replace_per_class):
        raise OpenworldError(
            f"{prompts.lists} lists of names need as many contexts, one each, and no rows per class in later blocks; "
            f"got a context of shape {list(context.shape)}."
        )
    replace, replace_per_class = dict(replace or {}), dict(replace_per_class or {})
    _check_replacements(tower, replace, [], len(grouped), leading)
    _check_replacements(tower, replace_per_class, [len(prompts)], len(grouped), leading)
    rows = grouped[:, :leading] + tower.positions[1 : 1 + leading]
    rows = torch.cat([rows, prompts.fixed.expand(len(grouped), -1, -1)], dim=1)
    features = encode_packed(tower, rows, prompts.sentences, grouped[:, leading:], replace, replace_per_class)
    return features if context.dim() == 3 else features[0]


def encode_sentences(tower: TextTower, sentences: Sequence[Sequence[int]]) -> Tensor:
    """Embed plain sentences, given as token ids: float[C, D], unnormalised. Causal towers run packed, in chunks."""
    device, parts = tower.positions.device, []
    for first in range(0, len(sentences), CHUNK):
        chunk = sentences[first : first + CHUNK]
        if tower.config.causal:
            shared = common_prefix(chunk)
            tokens = torch.tensor(chunk[0][1 : 1 + shared], dtype=torch.int64, device=device)
            rows = tower.tokens(tokens) + tower.positions[1 : 1 + shared]
            parts.append(encode_packed(tower, rows[None], pack_sentences(tower, [chunk], shared))[0])
        else:
            tokens = pad_tokens(chunk, tower.config.positions, tower.config.pad_token)
            parts.append(tower(tokens.to(device)))
    return torch.cat(parts)


def common_prefix(sentences: Sequence[Sequence[int]]) -> int:
    """Return how many tokens behind the start token all sentences share, leaving each one of its own."""
    limit = min(len(sentence) for sentence in sentences) - 2
    first = sentences[0]
    for place in range(limit):
        if any(sentence[1 + place] != first[1 + place] for sentence in sentences):
            return place
    return limit


def pad_tokens(sentences: Sequence[Sequence[int]], length: int | None = None, pad: int = 0) -> Tensor:
    """Return token ids as int64[C, length], padded at the right; length defaults to the longest sentence."""
    length = length or max(len(sentence) for sentence in sentences)
    return torch.tensor([list(sentence) + [pad] * (length - len(sentence)) for sentence in sentences])


def require_causal(tower: TextTower, what: str) -> None:
    """Refuse bidirectional text towers; `what` is subject and verb of the refusal."""
    if not tower.config.causal:
        raise OpenworldError(
            f"{what} a causal text tower pooled at its end token (CLIP); this model's text tower is bidirectional "
            "(SigLIP)."
        )


def _check_replacements(tower: TextTower, rows: Mapping[int, Tensor], axes: list[int], groups: int, most: int) -> None:
    """Refuse rows for a block that does not exist, and rows not of shape axes + [n, W] or [G] + axes + [n, W]."""
    layers, width = tower.config.layers, tower.config.width
    for index, new in rows.items():
        allowed = list(new.shape[:-2]) in (axes, [groups, *axes]) and new.shape[-1] == width and new.shape[-2] <= most
        if index not in range(layers) or not allowed:
            expected = ", ".join(map(str, [*axes, "n", width]))
            raise OpenworldError(
                f"got rows of shape {list(new.shape)} to put in at block {index}; expected [{expected}] or "
                f"[{groups}, {expected}] with n at most {most}, the context rows in front of the name, at one of "
                f"the blocks 0 to {layers - 1}."
            )
