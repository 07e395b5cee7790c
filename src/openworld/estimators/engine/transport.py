"""The cheapest way to give every image a label when each class may be given only so often: exact, no n x n problem.

An image costs 1 - p_ic under label c, which is half the L1 distance of its probabilities to the label's corner. Each
class has a price v_c, at first 0, and every image always holds a label of largest p_ic - v_c. So the assignment is
optimal as soon as every class is given as often as it may, and the prices prove it:

    sum_i p_i,a(i)  <=  sum_i max_c (p_ic - v_c) + sum_c quota_c v_c,  with equality at the end.

First, classes that are given too often raise their price, one after the other, just until enough images leave; that
settles most. What is left moves one by one along shortest paths in the graph of the C classes, whose edge from j to k
costs the least that an image of j loses in k (successive shortest paths; Ahuja, Magnanti and Orlin, 1993, chapter 9).
Classes that are given to nobody take no part: of 4,000 classes and 2,000 images more than half; their price is the
lowest that keeps every image away. Ties go to the lowest class, then to the lowest image.
"""

from dataclasses import dataclass

import numpy as np

from openworld.core.errors import OpenworldError

BLOCK = 32  # images
STALLED = 0.9  # share of the excess that a round must leave at most, or shortest paths take over


@dataclass(frozen=True, eq=False)
class TransportPlan:
    """What images are given."""

    assigned: np.ndarray  # int64[n], the label of each image
    given: np.ndarray  # float64[n], its probability; 1 - it is the image's cost
    prices: np.ndarray  # float64[C], v, of which the lowest is 0

    @property
    def profits(self) -> np.ndarray:
        """max_c (p_ic - v_c) of each image, float64[n]; as p_ic - v_c is largest at the image's own label."""
        return self.given - self.prices[self.assigned]


def transport(probabilities: np.ndarray, quotas: np.ndarray, rows: np.ndarray | None = None) -> TransportPlan:
    """Give labels to n images, `rows` of more probabilities, at the least total cost; quotas int64[C] add up to n."""
    quotas = np.asarray(quotas, np.int64)
    n = len(probabilities if rows is None else rows)
    if quotas.shape != probabilities.shape[1:] or quotas.min() < 0 or quotas.sum() != n:
        raise OpenworldError(
            f"quotas {quotas.tolist()} do not fit probabilities of shape {(n, probabilities.shape[1])}; expected one "
            "number of images per class, adding up to the images."
        )
    rows, classes = np.arange(n) if rows is None else rows, np.flatnonzero(quotas)
    p = probabilities[np.ix_(rows, classes)]
    assigned, prices = p.argmax(axis=1), np.zeros(len(classes))
    _raise_prices(p, quotas[classes], assigned, prices)
    _Paths(p, quotas[classes], assigned, prices).settle()
    likelihood = p[np.arange(n), assigned]
    every = np.zeros(len(quotas))
    if len(classes) < len(quotas):
        profits = likelihood - (prices - prices.min())[assigned]
        for start in range(0, n, BLOCK):  # a few images at a time, which stay in the processor's cache
            part = slice(start, start + BLOCK)
            np.maximum(every, (probabilities[rows[part]] - profits[part, None]).max(axis=0), out=every)
    every[classes] = prices - prices.min()
    return TransportPlan(classes[assigned], likelihood, every)


def quotas(marginal: np.ndarray, n: int) -> np.ndarray:
    """Return how many of n images each class gets, by largest remainder; of equal remainders the lowest class first."""
    wanted = marginal / marginal.sum() * n
    nearest = np.round(wanted)
    wanted = np.where(np.isclose(wanted, nearest, rtol=0, atol=1e-9 * n), nearest, wanted)  # 0.07 * 100 is not 7
    whole = np.floor(wanted).astype(np.int64)
    remainders = np.round(wanted - whole, 9)
    whole[np.argsort(-remainders, kind="stable")[: n - whole.sum()]] += 1
    return whole


def _raise_prices(p: np.ndarray, quotas: np.ndarray, assigned: np.ndarray, prices: np.ndarray) -> None:
    """Rounds of price rises while they pay; changes `assigned` and `prices`."""
    before = np.inf
    while True:
        excess = np.maximum(np.bincount(assigned, minlength=len(quotas)) - quotas, 0).sum()
        if not 0 < excess <= STALLED * before:
            break
        before = excess
        for label, quota in enumerate(quotas):
            held = np.flatnonzero(assigned == label)
            if len(held) <= quota:
                continue
            worth = p[held] - prices
            of_label, worth[:, label] = worth[:, label].copy(), -np.inf
            other = worth.argmax(axis=1)
            loss = of_label - worth[np.arange(len(held)), other]
            leaving = np.argsort(loss, kind="stable")[: len(held) - quota]
            prices[label] += loss[leaving[-1]]
            assigned[held[leaving]] = other[leaving]


class _Paths:
    """Successive shortest paths from classes given too often to classes given too rarely."""

    def __init__(self, p: np.ndarray, quotas: np.ndarray, assigned: np.ndarray, prices: np.ndarray):
        self.p, self.assigned, self.prices = p, assigned, prices
        self.surplus = np.bincount(assigned, minlength=len(quotas)) - quotas
        self.loss = np.full((len(quotas), len(quotas)), np.inf)  # from, to: least p_from - p_to of the images of "from"

    def settle(self) -> None:
        """Move images until every class is given as often as it may."""
        if self.surplus.any():
            for label in range(len(self.surplus)):
                self._look_over(label)
        for start in np.flatnonzero(self.surplus > 0):
            while self.surplus[start] > 0:
                self._move(self._path(start))

    def _look_over(self, label: int) -> None:
        """Find anew what the label's images lose at least in each other class."""
        held = np.flatnonzero(self.assigned == label)
        losses = self.p[held, label][:, None] - self.p[held]
        self.loss[label] = losses.min(axis=0, initial=np.inf)

    def _path(self, start: int) -> list[int]:
        """Dijkstra's search for the nearest class given too rarely; prices rise so that no edge becomes negative."""
        far = np.full(len(self.surplus), np.inf)
        far[start] = 0.0
        waiting, came_from = far.copy(), np.full(len(far), -1)
        while self.surplus[near := int(waiting.argmin())] >= 0:
            through = far[near] + np.maximum(self.loss[near] - self.prices[near] + self.prices, 0.0)  # 0.0: rounding
            shorter = through < far
            far[shorter], waiting[shorter], came_from[shorter] = through[shorter], through[shorter], near
            waiting[near] = np.inf
        self.prices += np.maximum(far[near] - far, 0.0)
        path = [near]
        while came_from[path[-1]] >= 0:
            path.append(int(came_from[path[-1]]))
        return path[::-1]

    def _move(self, path: list[int]) -> None:
        """One image along each edge of the path, or as many as are tied on all of its edges."""
        tied = []  # images of a label that lose least in the following class
        for label, following in zip(path, path[1:], strict=False):
            held = np.flatnonzero(self.assigned == label)
            losses = self.p[held, label] - self.p[held, following]
            tied.append(held[losses == losses.min()])
        amount = min(self.surplus[path[0]], -self.surplus[path[-1]], *map(len, tied))
        for images, following in zip(tied, path[1:], strict=True):
            self.assigned[images[:amount]] = following
        self.surplus[path[0]] -= amount
        self.surplus[path[-1]] += amount
        for label in path:
            self._look_over(label)
