"""The evaluations under their former name; see `openworld.evaluations`."""

from openworld import evaluations

__all__ = evaluations.__all__


def __getattr__(name: str):
    if name in __all__:
        return getattr(evaluations, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
