"""Pieces of sentences that several reports share."""

from collections.abc import Sequence

from openworld.results import SIGNIFICANCE

HOLM = f"Holm, {100 * SIGNIFICANCE:.0f}\u00a0%"
"""How p-values are corrected, and what counts as significant."""


def listed(names: Sequence[str]) -> str:
    """Names as prose.

    >>> listed(["CoOp", "KgCoOp", "GMoP"])
    'CoOp, KgCoOp and GMoP'
    """
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def few(names: Sequence[str], noun: str = "others", most: int = 4) -> str:
    """Names as prose, or how many there are; empty where there is none.

    >>> few(["CoOp"], "learners"), few("abcde", "learners")
    ('CoOp', '5 learners')
    """
    return (listed(names) if len(names) <= most else f"{len(names)} {noun}") if names else ""


def counted(count: int, noun: str) -> str:
    """A count with its noun.

    >>> counted(1, "seed"), counted(1200, "image")
    ('1 seed', '1,200 images')
    """
    return f"{count:,} {noun}{'s' * (count != 1)}"


def none_or(count: int) -> str:
    """A count, or the word for none."""
    return f"{count:,}" if count else "none"


def span(values: Sequence[int]) -> str:
    """The range of some counts, or the count that all of them are.

    >>> span([3, 3]), span([900, 1200])
    ('3', '900 to 1,200')
    """
    low, high = min(values), max(values)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
