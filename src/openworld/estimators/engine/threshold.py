"""The threshold on a score below which predictions count as wrong, so that as many do on the source as are wrong.

Shared by ATC (Garg et al., 2022), COTT (Lu et al., 2023) and FRAP. Scores are larger where a prediction is more likely
right; with k source mistakes and the source scores in rising order, the rules are

    "midpoint"    (s_k + s_{k+1}) / 2: exactly k source scores lie below it, unless the two are equal
    "reference"   s_k, where ATC's search ends (saurabhgarg1996/ATC_code @ 6f1e336): k - 1 source scores lie below it

"Below" is strict: scores equal to the threshold count as right.
"""

from dataclasses import dataclass
from functools import partial
from math import inf, isinf, nextafter
from typing import Literal

import numpy as np

from openworld.core.types import checked
from openworld.estimators.engine.fitted import RawEstimate, counts, finite, shares

Rule = Literal["midpoint", "reference"]
FEW = 20  # wrong source images, or right ones: with fewer, the threshold is mostly noise


@checked
def threshold(scores: np.ndarray, mistakes: int, rule: Rule = "midpoint") -> float:
    """Return where to cut so that `mistakes` of the source scores lie below; infinite where none or all do."""
    ordered = np.sort(scores)
    below = ordered[mistakes - 1] if mistakes else -inf
    above = ordered[mistakes] if mistakes < len(ordered) else inf
    return between(float(below), float(above), rule)


def between(below: float, above: float, rule: Rule) -> float:
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


def below_threshold(
    source: np.ndarray,
    wrong: np.ndarray,
    target: np.ndarray,
    rule: Rule,
    resamples: int,
    generator: np.random.Generator,
) -> np.ndarray:
    """Return resampled errors float[R] of a threshold that is found anew in each resample."""
    order, ordered = np.argsort(source, kind="stable"), np.sort(target)
    wrong, edges = wrong[order], np.r_[-np.inf, source[order], np.inf]
    below = np.empty(resamples)
    for index, drawn in enumerate(counts(len(source), resamples, generator)):
        mistakes, reached = int(drawn[wrong].sum()), np.cumsum(drawn)
        # positions among `edges` of the scores of rank k and k + 1; rank 0 and n + 1 are the infinite ends
        places = np.searchsorted(reached, (mistakes, mistakes + 1)) + 1 if mistakes else (0, 1)
        cut = between(float(edges[places[0]]), float(edges[places[1]]), rule)
        below[index] = np.searchsorted(ordered, cut)
    return shares(below / len(target), len(target), generator)


@dataclass(frozen=True, eq=False)
class Cut:
    """scores: float[n] of the source. wrong: bool[n], what is named wrong. rule: of the threshold. value: of it."""

    scores: np.ndarray
    wrong: np.ndarray
    rule: Rule
    value: float

    @classmethod
    def between(cls, scores: np.ndarray, wrong: np.ndarray, rule: Rule) -> "Cut":
        """Return the cut with the threshold that the rule finds."""
        return cls(scores, wrong, rule, threshold(scores, int(wrong.sum()), rule))

    def read(self, target: np.ndarray, kept: str, warnings: tuple[str, ...] = (), **details) -> RawEstimate:
        """Target scores float[n_t] against the threshold; `kept`: what resamples do not find anew."""
        return RawEstimate(
            share_below(target, self.value),
            partial(below_threshold, self.scores, self.wrong, target, self.rule),
            f"source and target images, {kept} kept",
            {"threshold": finite(self.value)} | details,
            target,
            (*threshold_warnings(self.scores, int(self.wrong.sum()), self.value), *warnings),
        )
