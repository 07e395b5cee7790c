"""Results that are asked for several times, kept beside the object that they are of and for as long as it lives."""

import functools
from collections.abc import Callable
from weakref import WeakKeyDictionary


def remembered(function: Callable) -> Callable:
    """The function, with what it returned for an object and further arguments returned again.

    Args:
        function: of an object that is hashed by what it is (not by its values), then hashable arguments by position;
            what it returns must not hold the object itself, or nothing would ever be forgotten.
    """
    kept: WeakKeyDictionary = WeakKeyDictionary()

    @functools.wraps(function)
    def remembering(owner, *rest):
        own = kept.setdefault(owner, {})
        if rest not in own:
            own[rest] = function(owner, *rest)
        return own[rest]

    return remembering
