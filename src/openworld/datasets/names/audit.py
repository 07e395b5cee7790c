"""An audit of class names: what is wrong with them, before any number is computed from them.

A zero-shot classifier knows a class by its name alone, so a name that is doubled, misspelled, shared with another
data set or mangled by the tokenizer costs accuracy that no learner is to blame for. Names alone are looked at, never
pictures.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count

from openworld._errors import OpenworldError
from openworld.datasets.names.findings import Audit, Finding, in_order
from openworld.datasets.names.forms import readable_class_name
from openworld.datasets.names.pairs import NamePair, alike
from openworld.datasets.names.tokens import Speller, token_findings
from openworld.datasets.names.wordnet import SYNSET_ID, WordNet
from openworld.datasets.templates import PHOTO

CONTEXT = 16
"""Learned tokens of the longest common prompt (CoOp), for which a text tower must have room beside the name."""

_LEFT_OUT = "leave it out of the new classes (openworld data overlaps writes the list)"
_NO_WORDNET = "synonyms (WordNet 3.0 was not found: install Debian's wordnet-base, or set WNSEARCHDIR to its folder)"
_NO_TOKENIZER = "tokens (no tokenizer was given: name a backbone)"


def audit(
    names: Sequence[str],
    dataset: str = "these names",
    *,
    base_count: int | None = None,
    against: Mapping[str, Sequence[str]] | None = None,
    by_order: bool = True,
    wordnet: WordNet | None = None,
    tokenizer: Speller | None = None,
    template: str = PHOTO,
) -> Audit:
    """Every check that can be made with what is given.

    Args:
        names: C class names in label order; underscores count as spaces.
        dataset: what sentences call them.
        base_count: how many of the first are base classes, 0 to C; None for the first ceil(C / 2).
        against: names of other data sets by data set.
        by_order: whether the order of the names alone says which are base.
        wordnet: of `find_wordnet`; None leaves synonyms out, and the audit says so.
        tokenizer: of a backbone; None leaves tokens out, and the audit says so.
        template: the sentence whose length is checked.

    Returns:
        Audit, worst findings first.

    Raises:
        OpenworldError: no names, a base_count outside 0 to C, a template without its place.

    >>> found = audit(["cat", "dog", "Cat"]).findings[0]
    >>> found.kind, found.severity, found.sentence
    ('clash', 'error', "base 'cat' and new 'Cat' are the same name: nothing can tell them apart.")
    """
    names = _as_names(names)
    base = (len(names) + 1) // 2 if base_count is None else base_count
    if not 0 <= base <= len(names):
        raise OpenworldError(f"base_count is {base}, expected 0 to {len(names)}, the number of class names.")
    found = [*_not_names(names), *(_order(names, base) if by_order else ())]
    found += [_within(pair, names, base) for pair in alike(names, names, wordnet)]
    for other, listed in (against or {}).items():
        pairs = alike(names, _as_names(listed), wordnet)
        found += [_across(pair, names, _as_names(listed), other) for pair in pairs if pair.kind != "misspelling"]
    if tokenizer is not None:
        found += token_findings(names, tokenizer, template, CONTEXT)
    not_made = [_NO_WORDNET] * (wordnet is None) + [_NO_TOKENIZER] * (tokenizer is None)
    return Audit(dataset, len(names), in_order(found), tuple(not_made))


def _as_names(names: Iterable[str]) -> tuple[str, ...]:
    names = tuple(readable_class_name(str(name)) for name in names)
    if not names:
        raise OpenworldError("there is no class name to audit; give at least one.")
    return names


def _not_names(names: Sequence[str]) -> Iterator[Finding]:
    for name in names:
        if SYNSET_ID.fullmatch(name):
            message = f"{name!r} is a WordNet id, not a name; a text tower needs the word that it stands for."
            yield Finding("not a name", "error", (name,), message)
        elif not name.isprintable() or "\ufffd" in name or re.search(r"[ÃÂ][\x80-\xbf]", name):
            message = f"{name!r} holds characters of a wrong encoding; read the list as UTF-8."
            yield Finding("not a name", "warning", (name,), message)
    numbers = tuple(name for name in names if not any(letter.isalpha() for letter in name))
    if numbers:
        message = (
            f"{len(numbers)} name(s) hold no letter, such as {numbers[0]!r}: only the sentence says what they are."
        )
        yield Finding("not a name", "note", numbers, message)


def _within(pair: NamePair, names: Sequence[str], base: int) -> Finding:
    first, second = names[pair.place], names[pair.other]
    clash = pair.place < base <= pair.other
    sides = f"base {first!r} and new {second!r}" if clash else f"{first!r} and {second!r}"
    sentence = f"{sides} {pair.likeness}: {_effect(pair, clash)}"
    return Finding("clash" if clash else pair.kind, _severity(pair), (first, second), sentence)


def _severity(pair: NamePair) -> str:
    if pair.kind == "duplicate":
        return "error"
    return "warning" if pair.sure else "note"


def _effect(pair: NamePair, clash: bool) -> str:
    if pair.kind == "duplicate":
        return "nothing can tell them apart."
    if pair.kind == "misspelling":
        return "is one of them misspelt?"
    if not pair.sure:
        return "one thing, if that is what both mean."
    return "what is tuned on one helps the other, and new is not new." if clash else "images of both may be one class."


def _across(pair: NamePair, names: Sequence[str], others: Sequence[str], other: str) -> Finding:
    first, second = names[pair.place], others[pair.other]
    sentence = f"{first!r} and {second!r} of {other} {pair.likeness}: where one is base, {_LEFT_OUT}."
    return Finding("clash", "warning" if pair.sure else "note", (first, second), sentence)


def _order(names: Sequence[str], base: int) -> Iterator[Finding]:
    """Names that are sorted in one way, and would be cut into other halves if they were sorted in another."""
    sortings = {"by code point": str, "without regard to case": str.casefold, "with numbers by value": _by_value}
    orders = {how: sorted(names, key=key) for how, key in sortings.items()}
    how = next((how for how, order in orders.items() if list(names) == order), None)
    if how is None:
        return
    moved = {other: [name for name in names[:base] if name not in order[:base]] for other, order in orders.items()}
    other, leaving = max(moved.items(), key=lambda pair: len(pair[1]))
    if leaving:
        message = (
            f"the names are sorted {how}; sorted {other}, {len(leaving)} of {base} base classes would be new, such as "
            f"{leaving[0]!r}: keep this order with the results."
        )
        yield Finding("order", "note", tuple(leaving), message)


def _by_value(name: str) -> list[tuple[int, str]]:
    """A name as pieces that sort numbers by their value: "9" before "10"."""
    pieces = zip(count(), re.split(r"(\d+)", name.casefold()), strict=False)
    return [(int(piece), "") if place % 2 else (0, piece) for place, piece in pieces]
