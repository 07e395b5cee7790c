"""The one exception users meet, and the nearest spelling of a mistyped name."""

from collections.abc import Iterable
from difflib import get_close_matches


class OpenworldError(ValueError):
    """Wrong input or an unmet requirement: says what came, what was expected, and what to do."""


def unknown_name(kind: str, name: str, known: Iterable[str]) -> OpenworldError:
    """The error for a name that is not in a visible dict: lists the known ones and the nearest spelling.

    >>> print(unknown_name("learner", "coop", ["CoOp", "GMoP"]))
    unknown learner 'coop'; did you mean 'CoOp'? Known: CoOp, GMoP.
    """
    known = list(known)
    folded = {option.casefold(): option for option in known}
    close = get_close_matches(name.casefold(), folded, n=1)
    hint = f"; did you mean {folded[close[0]]!r}?" if close else "."
    return OpenworldError(f"unknown {kind} {name!r}{hint} Known: {', '.join(known) or 'none'}.")
