"""Which images are worth a label, with which probability each is drawn, and the draw.

The variance of an estimate from images drawn with probabilities q is about the sum of E[e^2] / q, with e the part of
the influence that the proxies do not foresee. Under a sum of q of n it is least for q in proportion to tau, the root of
E[e^2] (Neyman, 1934), which is the standard deviation of the influence under the outcomes that the proxies hold for
possible. Proxies may be wrong, so a share of the labels is spread evenly, and a rare side gets what it needs. Images
are drawn at random, in strata of fixed size, or one by one (Poisson).
"""

import numpy as np

from openworld.core.errors import OpenworldError
from openworld.labels.streams import ScoredStream, same_names
from openworld.metrics import Outcomes

ZERO, ONE = np.zeros(()), np.ones(())
Scenarios = list[tuple[np.ndarray, tuple[Outcomes, ...]]]


def influence_spread(streams: tuple[ScoredStream, ...], of: str) -> np.ndarray:
    """Return tau, the standard deviation of each image's influence (of two models, their difference)."""
    for stream in streams:
        if stream.expectation.value_of(of) is None:
            side = stream.expectation.reason or "the stream has no `right`"
            raise OpenworldError(f"no labels can be planned for {of}: by the proxies {side}; give proxies of both.")
    first = second = 0.0
    for probability, outcomes in _scenarios(streams, of):
        psi = [stream.expectation.influence(of, outcome) for stream, outcome in zip(streams, outcomes, strict=True)]
        effect = psi[0] - psi[1] if len(psi) == 2 else psi[0]
        first = first + probability * effect
        second = second + probability * effect**2
    return np.sqrt(np.maximum(second - first**2, 0.0)) * np.ones(len(streams[0]))


def inclusion_probabilities(worth: np.ndarray, n: int) -> np.ndarray:
    """Return q in proportion to `worth`, none above 1, that add up to n."""
    q = np.zeros(worth.size)
    free, left = worth > 0, float(n)
    if np.count_nonzero(free) <= n:
        return free.astype(float)
    while True:
        q[free] = left * worth[free] / worth[free].sum()
        above = free & (q >= 1)
        if not above.any():
            return q
        q[above] = 1.0
        free &= ~above
        left = n - np.count_nonzero(q == 1.0)


def worth_of_labels(tau: np.ndarray, even: float, expected: Outcomes | None, n: int, least: float) -> np.ndarray:
    """Return what each label is worth, float64[N], sum 1: tau, an even share, what a rare side needs."""
    total = tau.sum()
    worth = np.full(tau.size, 1 / tau.size)
    if total > 0:
        worth = even * worth + (1 - even) * tau / total
    if expected is None:
        return worth
    # At most half of the labels are led to where a side is expected, until a share `wanted` of them falls on it.
    wanted = min(least, n / 4) / n
    for side in (side for side in (expected.base, expected.new) if side.sum() > 0):
        led = side / side.sum()
        falls, would = float(worth @ side), float(led @ side)
        if falls < wanted and would > falls:
            part = min((wanted - falls) / (would - falls), 0.5)
            worth = (1 - part) * worth + part * led
    return worth


def _scenarios(streams: tuple[ScoredStream, ...], of: str) -> Scenarios:
    """Return possible outcomes of an image with their probabilities float64[N]."""
    if of == "overall_accuracy":
        parts = [stream.expected.right for stream in streams if stream.expected.right is not None]
        joint = _named(np.ones(len(streams[0])), parts, same_names(streams, "joint_name"))
        return [(chance, tuple(Outcomes(ZERO, ZERO, ONE, ZERO, right) for right in rights)) for chance, rights in joint]
    expected = [stream.expected for stream in streams]
    base, new = (sum(getattr(each, side) for each in expected) / len(expected) for side in ("base", "new"))
    scenarios = []
    for whole, side, name in ((base, "base", "base_name"), (new, "new", "new_name")):
        parts = [getattr(each, f"{side}_right") for each in expected]
        for probability, rights in _named(whole, parts, same_names(streams, name)):
            if side == "base":
                outcomes = tuple(Outcomes(right, ZERO, ONE, ZERO) for right in rights)
            else:
                outcomes = tuple(Outcomes(ZERO, right, ZERO, ONE) for right in rights)
            scenarios.append((probability, outcomes))
    return scenarios


def _named(whole: np.ndarray, parts: list[np.ndarray], same: np.ndarray | None):
    """Return (probability, (right of each model)) within a side: alike where names agree, else never both right."""
    if len(parts) == 1:
        return [(parts[0], (1.0,)), (whole - parts[0], (0.0,))]
    first, second = parts  # right independently of each other, where the names are not known
    both = first * second / np.maximum(whole, 1e-12)
    if same is not None:
        both = np.where(same, (first + second) / 2, 0.0)
        shrunk = np.minimum(1.0, whole / np.maximum(first + second, 1e-12))
        first, second = (np.where(same, both, part * shrunk) for part in parts)
    neither = np.maximum(whole - first - second + both, 0.0)
    return [(both, (1.0, 1.0)), (first - both, (1.0, 0.0)), (second - both, (0.0, 1.0)), (neither, (0.0, 0.0))]


CERTAIN = -1
"""The stratum of an image whose outcome is known before the draw."""
FEWEST = 2  # labels in a stratum, so that it shows a variance
MOST_STRATA, LABELS_PER_STRATUM = 8, 8


def strata(order: np.ndarray, q: np.ndarray, n: int) -> np.ndarray:
    """Cut the images `order`, of which neighbours resemble one another, into strata of equal cumulated q, int64[N]."""
    count = count_of_strata(n)
    heaped = np.cumsum(q[order])
    stratum = np.full(q.size, CERTAIN)
    stratum[order] = np.minimum((heaped - q[order] / 2) / heaped[-1] * count, count - 1).astype(int)
    inside = stratum >= 0  # those that hold images, from 0 without gaps
    stratum[inside] = np.unique(stratum[inside], return_inverse=True)[1]
    return stratum


def count_of_strata(n: int) -> int:
    return max(min(MOST_STRATA, n // LABELS_PER_STRATUM), 1)


def sizes(stratum: np.ndarray, q: np.ndarray, n: int) -> np.ndarray:
    """Return how many images to draw of each stratum: in proportion to its q, at least two (or all of it), n in all."""
    inside = stratum >= 0
    held, wanted = np.bincount(stratum[inside]), np.bincount(stratum[inside], q[inside])
    drawn = np.minimum(np.maximum(np.floor(wanted).astype(int), FEWEST), held)
    while drawn.sum() != min(n, held.sum()):
        step = 1 if drawn.sum() < min(n, held.sum()) else -1
        may = drawn < held if step > 0 else drawn > np.minimum(FEWEST, held)
        if not may.any():
            break
        drawn[np.argmax(np.where(may, step * (wanted - drawn), -np.inf))] += step
    return drawn


def draw_from_strata(stratum: np.ndarray, drawn: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Draw images, int64[n], in random order, so that whoever stops early has a sample of each stratum."""
    by_stratum = np.argsort(stratum, kind="stable")
    edges = np.searchsorted(stratum[by_stratum], np.arange(drawn.size + 1))
    chosen = [
        by_stratum[start + generator.choice(end - start, count, replace=False)]
        for start, end, count in zip(edges[:-1], edges[1:], drawn, strict=True)
    ]
    return generator.permutation(np.concatenate(chosen))


def draw_each(q: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Draw each image by itself with its probability, int64[about n], in random order."""
    return generator.permutation(np.flatnonzero(generator.random(q.size) < q))
