"""An audit of class names: what is wrong with them, before any number is computed from them.

A zero-shot classifier knows a class by its name alone, so a name that is doubled, shared with another
data set or mangled by the tokenizer costs accuracy that no learner is to blame for. Names alone are looked at, never
images.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from openworld.core.errors import OpenworldError, unknown_name
from openworld.datasets.names.forms import (
    Keys,
    bare,
    joined,
    normalise_class_name,
    plain,
    readable_class_name,
    sharing,
    singular_name,
)
from openworld.datasets.names.wordnet import SYNSET_ID, WordNet
from openworld.datasets.templates import PHOTO, fill

SEVERITIES = ("error", "warning", "note")
"""error: classes cannot be told apart, or a sentence cannot be read; warning: numbers will suffer or mislead; note:
worth a look."""

KINDS = (
    "clash",  # names alike, of a base and a new class or of two data sets
    "not a name",
    "duplicate",
    "near-duplicate",  # punctuation, plural, spaces or the order of words
    "synonym",
    "order",  # which classes are base depends on how the names were sorted
    "same tokens",
    "unread",  # characters that the tokenizer drops, or knows by their bytes alone
    "too long",
)
CONTEXT = 16
"""Learned tokens of the longest common prompt (CoOp), for which a text tower must have room beside the name."""

ENDS = 2  # start and end token

_LEFT_OUT = "leave it out of the new classes (openworld data overlaps writes the list)"
_NO_WORDNET = "synonyms (WordNet 3.0 was not found: install Debian's wordnet-base, or set WNSEARCHDIR to its folder)"
_NO_TOKENIZER = "tokens (no tokenizer was given: name a backbone)"


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with class names: of KINDS and SEVERITIES, and what it does to a result."""

    kind: str
    severity: str
    names: tuple[str, ...]
    sentence: str

    def __post_init__(self):
        for what, value, choices in (("kind", self.kind, KINDS), ("severity", self.severity, SEVERITIES)):
            if value not in choices:
                raise unknown_name(f"{what} of finding", value, choices)


@dataclass(frozen=True)
class Audit:
    """All findings on the class names of one data set, the worst first, and checks not made, each with the reason."""

    dataset: str
    classes: int
    findings: tuple[Finding, ...] = ()
    not_made: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """How many findings of each severity."""
        return {severity: sum(one.severity == severity for one in self.findings) for severity in SEVERITIES}

    @property
    def headline(self) -> str:
        """The audit in one line."""
        return f"{self.dataset}: {self.classes} class names, {count_in_words([self]) or 'nothing found'}"


def count_in_words(audits: Iterable[Audit], severities: Iterable[str] = SEVERITIES) -> str:
    """Return how many findings of each severity there are; "" where there is none."""
    counts = {severity: sum(audit.counts[severity] for audit in audits) for severity in severities}
    return ", ".join(
        f"{count} {severity if count == 1 else f'{severity}s'}" for severity, count in counts.items() if count
    )


def audit(
    names: Sequence[str],
    dataset: str = "these names",
    *,
    base_count: int | None = None,
    against: Mapping[str, Sequence[str]] | None = None,
    by_order: bool = True,
    wordnet: WordNet | None = None,
    tokenizer: Any = None,
    template: str = PHOTO,
) -> Audit:
    """Make every check that can be made with what is given, and return the findings, worst first.

    Underscores count as spaces. Of the names `base_count` are base classes (None for the first half), `by_order` says
    whether their order alone says which, and `against` has names of other data sets by data set. The length of the
    sentence `template` is checked with a tokenizer, as `openworld.backbones.load(...).tokenizer` is one: `spell(text)`
    says how a text is read (`ids`), what is lost of it (`unread`) or known by bytes alone (`in_bytes`), and `positions`
    is its longest sentence. What is not given is left out, and the audit says so.

    >>> found = audit(["cat", "dog", "Cat"]).findings[0]
    >>> found.kind, found.severity, found.sentence
    ('clash', 'error', "base 'cat' and new 'Cat' are the same name: nothing can tell them apart.")
    """
    names = tuple(readable_class_name(str(name)) for name in names)
    if not names:
        raise OpenworldError("there is no class name to audit; give at least one.")
    base = (len(names) + 1) // 2 if base_count is None else base_count
    if not 0 <= base <= len(names):
        raise OpenworldError(f"base_count is {base}, expected 0 to {len(names)}, the number of class names.")

    findings = [*_not_names(names), *(_order(names, base) if by_order else ()), *_pairs(names, base, wordnet)]
    for other_set, listed in (against or {}).items():
        others = tuple(readable_class_name(str(name)) for name in listed)
        for place, other, _, severity, likeness in alike(names, others, wordnet):
            pair = names[place], others[other]
            sentence = f"{pair[0]!r} and {pair[1]!r} of {other_set} {likeness}: where one is base, {_LEFT_OUT}."
            findings.append(Finding("clash", "note" if severity == "note" else "warning", pair, sentence))
    if tokenizer is not None:
        findings += _token_findings(names, tokenizer, template)
    findings.sort(key=lambda one: (SEVERITIES.index(one.severity), KINDS.index(one.kind)))
    not_made = [reason for given, reason in ((wordnet, _NO_WORDNET), (tokenizer, _NO_TOKENIZER)) if given is None]
    return Audit(dataset, len(names), tuple(findings), tuple(not_made))


def _not_names(names: Sequence[str]) -> Iterator[Finding]:
    for name in names:
        if SYNSET_ID.fullmatch(name):
            message = f"{name!r} is a WordNet id, not a name; a text tower needs the word that it stands for."
            yield Finding("not a name", "error", (name,), message)
        # What UTF-8 looks like when it is read as Latin-1: a capital A with an accent before a sign beyond ASCII.
        elif not name.isprintable() or "\ufffd" in name or re.search(r"[ÃÂ][\x80-\xbf]", name):
            message = f"{name!r} holds characters of a wrong encoding; read the list as UTF-8."
            yield Finding("not a name", "warning", (name,), message)
    numbers = tuple(name for name in names if not any(letter.isalpha() for letter in name))
    if numbers:
        message = f"{len(numbers)} name(s) hold no letter, such as {numbers[0]!r}: only the sentence explains them."
        yield Finding("not a name", "note", numbers, message)


def _order(names: Sequence[str], base: int) -> Iterator[Finding]:
    """Names that are sorted in one way, and would be cut into other halves if they were sorted in another."""

    def by_value(name: str) -> list[tuple[int, str]]:
        pieces = zip(count(), re.split(r"(\d+)", name.casefold()), strict=False)  # "9" before "10"
        return [(int(piece), "") if place % 2 else (0, piece) for place, piece in pieces]

    sortings = {"by code point": str, "without regard to case": str.casefold, "with numbers by value": by_value}
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


def _pairs(names: Sequence[str], base: int, wordnet: WordNet | None) -> Iterator[Finding]:
    """Pairs of names of one data set that are alike; a clash, where one is base and the other new."""
    for place, other, kind, severity, likeness in alike(names, names, wordnet):
        first, second, clash = names[place], names[other], place < base <= other
        if kind == "duplicate":
            effect = "nothing can tell them apart."
        elif severity == "note":
            effect = "one thing, if that is what both mean."
        elif clash:
            effect = "what is tuned on one helps the other, and new is not new."
        else:
            effect = "images of both may be one class."
        sides = f"base {first!r} and new {second!r}" if clash else f"{first!r} and {second!r}"
        yield Finding("clash" if clash else kind, severity, (first, second), f"{sides} {likeness}: {effect}")


def alike(
    names: Sequence[str], others: Sequence[str], wordnet: WordNet | None = None
) -> Iterator[tuple[int, int, str, str, str]]:
    """Yield pairs of places of names that are alike, each once, with kind, severity, and the likeness in words.

    `others` is the same object for pairs within one list.
    """
    keys: dict[str, Keys] = {
        "duplicate": lambda name: [" ".join(normalise_class_name(name).split())],
        "near-duplicate": lambda name: {bare(name), joined(name)},
        "synonym": wordnet.meanings if wordnet else lambda name: (),
    }
    pairs: set[tuple[int, int]] = set()
    for kind in keys:
        for pair in sharing(names, others, keys[kind]):
            one, other = names[pair[0]], others[pair[1]]
            if pair in pairs:
                continue
            pairs.add(pair)
            if kind == "duplicate":
                severity, likeness = "error", "are the same name"
            elif kind == "synonym" and wordnet is not None:
                meanings, of_other = wordnet.meanings(one), wordnet.meanings(other)
                shared = next(meaning for meaning in meanings if meaning in of_other)
                severity = "warning" if shared in (meanings[0], of_other[0]) else "note"
                likeness = f"are both in n{shared:08d} of WordNet ({', '.join(wordnet.names(shared)[:3])})"
            else:
                severity, likeness = "warning", f"differ only in {_difference(one, other)}"
            yield *pair, kind, severity, likeness


def _difference(one: str, other: str) -> str:
    if plain(one) == plain(other):
        return "punctuation or accents"
    if singular_name(one) == singular_name(other):
        return "singular and plural"
    return "spaces" if joined(one) == joined(other) else "the order of words"


def _token_findings(names: Sequence[str], tokenizer: Any, template: str) -> Iterator[Finding]:
    first: dict[tuple[int, ...], str] = {}
    for name, sentence in zip(names, fill(template, names), strict=True):
        spelling = tokenizer.spell(name)
        ids = tuple(spelling.ids)
        twin = first.setdefault(ids, name)
        if twin.casefold() != name.casefold():  # the same name twice is a finding of its own
            message = f"{twin!r} and {name!r} are the same tokens: the model cannot tell them apart; rename one."
            yield Finding("same tokens", "error", (twin, name), message)

        if spelling.unread or not ids:
            what = f"the characters {spelling.unread!r}" if spelling.unread else "all"
            message = f"of {name!r} the tokenizer does not read {what}; spell it with letters that it knows."
            yield Finding("unread", "error", (name,), message)
        elif spelling.in_bytes:
            message = f"of {name!r} the characters {spelling.in_bytes!r} are read as bare bytes; use plain letters."
            yield Finding("unread", "warning", (name,), message)

        longest = max(len(tokenizer.spell(sentence).ids), CONTEXT + len(tokenizer.spell(f"{name}.").ids)) + ENDS
        if longest > tokenizer.positions:
            message = f"{name!r} makes a text of {longest} tokens; this model reads {tokenizer.positions}; shorten it."
            yield Finding("too long", "error", (name,), message)
