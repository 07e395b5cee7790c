"""Class names as text towers read them, where two classes of a published list share a name."""

AGAIN = " (again)"
"""Ends the second of two classes that a published list names alike: it tells them apart in labels and in tables."""


def spoken_name(name: str) -> str:
    """Return a class name as published, without what tells it from another class of that name."""
    return name.removesuffix(AGAIN)
