"""Pieces of sentences that several reports share."""

from collections.abc import Sequence


def listed(names: Sequence[str]) -> str:
    """Names as prose.

    >>> listed(["CoOp", "KgCoOp", "GMoP"])
    'CoOp, KgCoOp and GMoP'
    """
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
