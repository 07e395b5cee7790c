"""Pieces of sentences that several reports share."""

from collections.abc import Iterable, Sequence

from openworld.results import SIGNIFICANCE, Value

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


def shortened(name: str, longest: int) -> str:
    """A name, cut off where it has more letters than there is room for.

    >>> shortened("tench", 8), shortened("great white shark", 8)
    ('tench', 'great w…')
    """
    return name if len(name) <= longest else f"{name[: longest - 1]}…"


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


def over_what(values: Iterable[Value]) -> str:
    """What the first intervals of some numbers are over; empty where none has one.

    >>> from openworld.results import Interval
    >>> over_what([Value(0.5, (Interval(0.4, 0.6, "images"),)), Value(0.5, (Interval(0.4, 0.6, "seeds"),)), Value(0.5)])
    '[95 % over images or over seeds]'
    """
    kinds = dict.fromkeys(value.intervals[0].over for value in values if value.intervals)
    return f"[95 % {' or '.join(f'over {kind}' for kind in kinds)}]" if kinds else ""
