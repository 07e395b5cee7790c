"""What a tokenizer makes of class names: alike, unread, too long, in pieces, or melted with the full stop."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from openworld.datasets.names.findings import Finding
from openworld.datasets.templates import fill

MANY = 12  # of ImageNet's thousand names in OpenAI's vocabulary none takes more
ENDS = 2  # start and end token


class NameTokens(Protocol):
    """How a text is read: token ids, characters that are lost, characters known by their bytes alone."""

    ids: tuple[int, ...]
    unread: str
    in_bytes: str


class Speller(Protocol):
    """A tokenizer, as `openworld.backbones.load(...).tokenizer` is one; `positions` is its longest sentence."""

    positions: int

    def spell(self, text: str) -> NameTokens: ...


def token_findings(names: Sequence[str], tokenizer: Speller, template: str, context: int) -> Iterator[Finding]:
    """Yield every finding that a tokenizer gives rise to.

    `context` tokens are learned in the place of the sentence's words.
    """
    spelled = [tokenizer.spell(name) for name in names]
    yield from _same_tokens(names, spelled)
    for name, sentence, spelling in zip(names, fill(template, names), spelled, strict=True):
        yield from _unread(name, spelling)
        longest = max(len(tokenizer.spell(sentence).ids), context + len(tokenizer.spell(f"{name}.").ids)) + ENDS
        if longest > tokenizer.positions:
            message = (
                f"{name!r} makes a text of {longest} tokens, and this model reads {tokenizer.positions}; shorten it."
            )
            yield Finding("too long", "error", (name,), message)
        elif len(spelling.ids) > MANY:
            message = f"{name!r} falls into {len(spelling.ids)} tokens: the vocabulary hardly knows its words."
            yield Finding("many tokens", "note", (name,), message)
        yield from _full_stop(name, spelling, tokenizer)


def _same_tokens(names: Sequence[str], spelled: Sequence[NameTokens]) -> Iterator[Finding]:
    first: dict[tuple[int, ...], str] = {}
    for name, spelling in zip(names, spelled, strict=True):
        twin = first.setdefault(tuple(spelling.ids), name)
        if twin.casefold() != name.casefold():  # the same name twice is a finding of its own
            message = f"{twin!r} and {name!r} are the same tokens: the model cannot tell them apart; rename one."
            yield Finding("same tokens", "error", (twin, name), message)


def _unread(name: str, spelling: NameTokens) -> Iterator[Finding]:
    if spelling.unread or not spelling.ids:
        what = f"the characters {spelling.unread!r}" if spelling.unread else "all"
        message = f"of {name!r} the tokenizer does not read {what}; spell it with letters that it knows."
        yield Finding("unread", "error", (name,), message)
    elif spelling.in_bytes:
        message = f"of {name!r} the characters {spelling.in_bytes!r} are read as bare bytes; plain letters say more."
        yield Finding("unread", "warning", (name,), message)


def _full_stop(name: str, spelling: NameTokens, tokenizer: Speller) -> Iterator[Finding]:
    stopped = tuple(tokenizer.spell(f"{name}.").ids)
    if stopped[: len(spelling.ids)] != tuple(spelling.ids):
        message = (
            f"the last sign of {name!r} and the sentence's full stop become other tokens together; drop that sign."
        )
        yield Finding("full stop", "note", (name,), message)
