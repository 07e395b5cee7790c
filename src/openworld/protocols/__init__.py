"""The evaluations under their former name; see `openworld.evaluations`."""

from openworld import evaluations

__all__ = evaluations.__all__


def __getattr__(name: str):
    return getattr(evaluations, name)
