"""Bytes as people write them, and as people say them."""

import re

from openworld._errors import OpenworldError

_UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?B)\s*", re.IGNORECASE)


def parse_size(text: str, name: str) -> int:
    """Bytes of a text.

    Args:
        text: a number with a unit: B, KB, MB, GB or TB, powers of 1000.
        name: of the option, for the message.

    Raises:
        OpenworldError: no such text.

    >>> parse_size("50GB", "--limit"), parse_size("1.5 mb", "--limit")
    (50000000000, 1500000)
    """
    found = _SIZE.fullmatch(text)
    if not found:
        raise OpenworldError(f"{name} is {text!r}, expected a size such as 50GB (B, KB, MB, GB or TB).")
    return round(float(found[1]) * _UNITS[found[2].upper()])


def size_in_words(count: int) -> str:
    """Bytes as people say them.

    >>> size_in_words(340_000), size_in_words(340_000_000), size_in_words(1_300_000_000), size_in_words(323_000_000_000)
    ('0.3 MB', '340 MB', '1.3 GB', '323 GB')
    """
    if count < 1e9:
        return f"{count / 1e6:.{int(count < 1e7)}f} MB"
    return f"{count / 1e9:.1f} GB" if count < 1e11 else f"{count / 1e9:,.0f} GB"
