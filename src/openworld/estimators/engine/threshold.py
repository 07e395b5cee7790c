"""The threshold on a score below which predictions count as wrong, so that as many do on the source as are wrong.

Shared by ATC (Garg et al., 2022), COTT (Lu et al., 2023) and FRAP. Scores are larger where a prediction is more likely
right; with k source mistakes and the source scores in rising order, the rules are

    "midpoint"    (s_k + s_{k+1}) / 2: exactly k source scores lie below it, unless the two are equal
    "reference"   s_k, where ATC's search ends (saurabhgarg1996/ATC_code @ 6f1e336): k - 1 source scores lie below it

"Below" is strict: scores equal to the threshold count as right.
"""

from math import inf, isinf, nextafter

import numpy as np

from openworld._errors import unknown_name

RULES = ("midpoint", "reference")
FEW = 20  # wrong source images, or right ones: with fewer, the threshold is mostly noise


def threshold(scores: np.ndarray, mistakes: int, rule: str = "midpoint") -> float:
    """Return where to cut so that `mistakes` of the source scores lie below; infinite where none or all do."""
    require_rule(rule)
    ordered = np.sort(scores)
    below = ordered[mistakes - 1] if mistakes else -inf
    above = ordered[mistakes] if mistakes < len(ordered) else inf
    return between(float(below), float(above), rule)


def between(below: float, above: float, rule: str) -> float:
    """The threshold of a rule from s_k and s_{k+1}, which are infinite where there is no such score."""
    if rule == "reference" or isinf(below) or below == above:
        return below
    if isinf(above):
        return above
    middle = below + (above - below) / 2
    return middle if middle > below else nextafter(below, inf)  # the middle of two neighbours rounds to one of them


def share_below(scores: np.ndarray, threshold: float) -> float:
    """Share of scores strictly below the threshold: the estimated error."""
    return int((scores < threshold).sum()) / len(scores)


def threshold_warnings(scores: np.ndarray, mistakes: int, threshold: float) -> tuple[str, ...]:
    """What is to be said about a source threshold: no mistake or nothing else, few of one kind, ties."""
    if mistakes == 0:
        return ("no source image is named wrong: nothing lies below the threshold and the estimated error is 0",)
    if mistakes == len(scores):
        return ("every source image is named wrong: nothing is known of how right predictions score",)
    warnings = []
    for count, kind in ((mistakes, "wrong"), (len(scores) - mistakes, "right")):
        if count < FEW:
            warnings.append(f"only {count} source images are named {kind}: the threshold rests on few and is noisy")
    tied = int((scores == threshold).sum())
    if tied > 1:
        below = share_below(scores, threshold)
        warnings.append(
            f"{tied} source scores tie at the threshold and count as right: the source error becomes "
            f"{100 * below:.2f} % instead of {100 * mistakes / len(scores):.2f} %"
        )
    return tuple(warnings)


def require_rule(rule: str) -> None:
    """Refuse a threshold rule that does not exist."""
    if rule not in RULES:
        raise unknown_name("threshold rule", rule, RULES)
