"""Counts of a bootstrap draw: n units drawn n times with replacement, about four times as fast as drawing indices.

Independent Poisson counts are multinomial given their sum. They are drawn with a mean a little under 1, by looking up
16 random bits; what is missing to n is drawn as indices. The result has the multinomial distribution exactly: the few
codes that lie across a step of the Poisson distribution take 53 more bits, and a sum above n is drawn again.
"""

from math import exp, factorial, sqrt

import numpy as np

CODES = 2**16
SPLIT = 255  # in the table: these 16 bits alone do not decide the count
SPARE = 5.0  # standard deviations between the mean of the Poisson sum and n: 1 draw in 3 million is repeated


class Multinomial:
    """The law of counts of n equally likely units in n draws."""

    def __init__(self, n: int):
        self.n = n
        mean = max(0.0, 1 - SPARE / sqrt(n))
        self.cumulative = np.cumsum([exp(-mean) * mean**k / factorial(k) for k in range(20)])
        edges = np.arange(CODES + 1) / CODES
        lowest = np.searchsorted(self.cumulative, edges[:-1], "right")
        highest = np.searchsorted(self.cumulative, edges[1:], "left")
        self.table = np.where(lowest == highest, lowest, SPLIT).astype(np.uint8)

    def __call__(self, generator: np.random.Generator) -> np.ndarray:
        """Return int32[n] that add up to n."""
        counts = self._poisson(generator)
        while (missing := self.n - int(counts.sum(dtype=np.int64))) < 0:
            counts = self._poisson(generator)
        np.add.at(counts, generator.integers(0, self.n, missing), np.uint8(1))
        return counts.astype(np.int32)

    def _poisson(self, generator: np.random.Generator) -> np.ndarray:
        words = generator.integers(0, 2**64, -(-self.n // 4), dtype=np.uint64)  # four codes a word
        codes = words.view(np.uint16)[: self.n]
        counts = self.table.take(codes)
        split = np.flatnonzero(counts == SPLIT)
        exact = (codes[split] + generator.random(split.size)) / CODES
        counts[split] = np.searchsorted(self.cumulative, exact, "right")
        return counts
