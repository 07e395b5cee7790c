"""Numbers, counts and durations as people read them; a dash where they are not known."""


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


def percent(value: float | None) -> str:
    """A fraction in [0, 1] as percent with one decimal; a dash when there is none.

    >>> percent(0.4696), percent(None)
    ('47.0', '–')
    """
    return "–" if value is None else f"{100 * value:.1f}"


def signed(difference: float) -> str:
    """A difference of fractions in points, with its sign.

    >>> signed(0.109), signed(-0.007), signed(-0.0001)
    ('+10.9', '−0.7', '0.0')
    """
    told = f"{100 * difference:+.1f}"
    return "0.0" if float(told) == 0 else told.replace("-", "−")


def two_decimals(value: float | None) -> str:
    """A fraction as percent with two decimals, as papers print it.

    >>> two_decimals(0.46964)
    '46.96'
    """
    return "" if value is None else f"{100 * value:.2f}"


def bracketed(interval: tuple[float, float] | None) -> str:
    """An interval of fractions in percent, in brackets; empty when there is none.

    >>> bracketed((0.439, 0.501))
    '[43.9 50.1]'
    """
    return "" if interval is None else f"[{percent(interval[0])} {percent(interval[1])}]"
