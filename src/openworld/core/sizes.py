"""Bytes as people write them, and as people say them."""

import re

from openworld.core.errors import OpenworldError

_UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?B)\s*", re.IGNORECASE)


def parse_size(text: str, name: str) -> int:
    """Bytes of a text such as 50GB, in powers of 1000; `name` is that of the option, for the message."""
    match = _SIZE.fullmatch(text)
    if not match:
        raise OpenworldError(f"{name} is {text!r}, expected a size such as 50GB (B, KB, MB, GB or TB).")
    return round(float(match[1]) * _UNITS[match[2].upper()])


def size_in_words(count: int, *, at_least: bool = False) -> str:
    """Bytes as people say them; rounded up where it is to be enough.

    >>> size_in_words(340_000), size_in_words(340_000_000), size_in_words(1_300_000_000), size_in_words(323_000_000_000)
    ('0.3 MB', '340 MB', '1.3 GB', '323 GB')
    """
    unit, name = (10**9, "GB") if count >= 10**9 else (10**6, "MB")
    digits = int(count < 10**7 or 10**9 <= count < 10**11)
    if at_least:
        count = -(-count * 10**digits // unit) * unit // 10**digits
    return f"{count / unit:,.{digits}f} {name}"


def duration(seconds: float) -> str:
    """As people say it.

    >>> duration(12.2), duration(310), duration(5400), duration(500_000)
    ('12 s', '5 min', '1.5 h', '139 h')
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 36_000 else f"{seconds / 3600:,.0f} h"
