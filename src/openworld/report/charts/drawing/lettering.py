"""How wide a text is, and how texts are broken, thinned and shifted so that none is drawn over another.

Both renderers ask here, before anything is drawn and without a font file: widths are those of DejaVu Sans, which
matplotlib draws with, to a tenth of a letter and from above; the fonts of usual pages are narrower.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import inf

POINTS = 7.0  # of a text on paper
PIXELS = 13.0  # of a text on the page: the largest size that a narrow screen gives a name
LINE = 1.17  # height of a line, for a text of size 1
WIDTHS = {
    letter: width
    for width, letters in (
        (0.33, "ijlI J'.,"),
        (0.42, "()[]/:;\\|-ft!·r\N{NO-BREAK SPACE}"),
        (0.56, 'szc?*_`"–'),
        (0.7, "ABCEFKLPRSTVXYZ"),
        (0.87, "#+<=>^~w−≥≤→∞OQMDGN&"),
        (1.01, "%mW@…"),
    )
    for letter in letters
}
"""Letter -> its width for a text of size 1.

Other letters are 0.65 wide, capitals 0.78, and those of scripts that fill a square 1.
"""

Span = tuple[float, float]


def text_width(text: str, size: float) -> float:
    """Return the width of a text of one or several lines, in the unit of its size."""
    return max(size * sum(map(_letter_width, line)) for line in text.split("\n"))


def widest(texts: Iterable[str], size: float) -> float:
    return max((text_width(text, size) for text in texts), default=0.0)


def _letter_width(letter: str) -> float:
    if letter in WIDTHS:
        return WIDTHS[letter]
    if unicodedata.combining(letter) or letter == "\N{ZERO WIDTH SPACE}":
        return 0.0
    return 1.01 if unicodedata.east_asian_width(letter) in "WF" else 0.78 if letter.isupper() else 0.65


def wrapped(text: str, width: float, size: float) -> str:
    """Return the text in as many lines as it takes to be no wider than `width`; only a word wider than that is cut."""
    # Breaks that it has stay.
    if "\n" in text:
        return "\n".join(wrapped(line, width, size) for line in text.split("\n"))
    lines = [""]
    for word in text.split():
        joined = f"{lines[-1]} {word}".strip()
        if text_width(joined, size) <= width:
            lines[-1] = joined
            continue
        lines += [word] if lines[-1] else []
        lines[-1] = word
        while text_width(lines[-1], size) > width and len(lines[-1]) > 1:
            word = lines[-1]
            fits = [end for end in range(1, len(word)) if text_width(f"{word[:end]}-", size) <= width] or [1]
            lines[-1:] = [f"{word[: fits[-1]]}-", word[fits[-1] :]]
    return "\n".join(filter(None, lines))


def thinned(places: Sequence[float], lengths: Sequence[float], apart: float) -> list[int]:
    """Return which labels, centred at rising places, stand at least so far apart: every one, or every n-th."""
    halves = [(length + apart) / 2 for length in lengths]
    for step in range(1, len(places)):
        chosen = range(0, len(places), step)
        if all(places[one] + halves[one] <= places[other] - halves[other] for one, other in pairwise(chosen)):
            return list(chosen)
    return [0] if places else []


def staggered(
    sides: Sequence[Sequence[Span]], lengths: Sequence[float], within: Span = (-inf, inf)
) -> list[tuple[int, float]]:
    """Return on which side of its line each name stands, and how far along the line it begins, so that none meet."""
    chosen: list[tuple[int, float]] = []
    taken: list[tuple[Span, Span]] = []
    for spans, length in zip(sides, lengths, strict=True):
        options = []
        for side, (low, high) in enumerate(spans):
            met = [along for across, along in taken if across[0] < high and low < across[1]]
            starts = sorted({0.0, *(end for _, end in met)})
            first = next(at for at in starts if all(at >= end or at + length <= start for start, end in met))
            options.append((low < within[0] or high > within[1], first, side))
        _, start, side = min(options)
        chosen.append((side, start))
        taken.append((spans[side], (start, start + length)))
    return chosen
