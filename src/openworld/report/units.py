"""Counts and durations as people read them; a dash where they are not known."""


def tuned(count: int | None) -> str:
    """A number of parameters with a thin space between thousands.

    >>> tuned(26624)
    '26\u202f624'
    """
    return "–" if count is None else f"{count:,}".replace(",", "\u202f")


def seconds(value: float | None) -> str:
    """A duration for people.

    >>> seconds(19.4), seconds(340.0), seconds(None)
    ('19 s', '5.7 min', '–')
    """
    if value is None:
        return "–"
    if value < 10:
        return f"{value:.1f} s" if value >= 0.05 else "0 s"
    return f"{value:.0f} s" if value < 120 else f"{value / 60:.1f} min"


def milliseconds(value: float | None) -> str:
    """A short duration, given in seconds, as a number of milliseconds.

    >>> milliseconds(0.01234), milliseconds(0.0000421), milliseconds(None)
    ('12.3', '0.042', '–')
    """
    if value is None:
        return "–"
    return f"{1000 * value:.{1 if value >= 0.001 else 2 if value >= 0.0001 else 3}f}"
