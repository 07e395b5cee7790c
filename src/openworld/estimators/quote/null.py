"""What estimators say where nothing has shifted: their bias and spread on sets that are like the source itself.

Source and target are both drawn from the labelled source, at their own sizes and with replacement: the estimator is
fitted on the one and asked about the other, whose accuracy is known. (Halves of the source would be held out in full,
but half as large: what few images a class do to an estimator is then overstated about twofold.) The temperature stays
that of the whole source.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Annotated

import numpy as np

from openworld.core.representation import short_repr
from openworld.core.types import Positive, Range, checked
from openworld.estimators.engine.fitted import LEVEL, Estimator
from openworld.estimators.engine.outputs import Outputs
from openworld.estimators.engine.temperature import temperature_of
from openworld.estimators.optimal_transport import waive_bias

SOURCES, TARGETS = 25, 4  # resampled sources, and targets that each is asked about
MOST = 5_000  # images of a drawn source or target: beyond, the spread hardly shrinks and only the time grows
NUMBERS = 20_000_000  # logits that all draws may hold together, as far as FEWEST sources allow
FEWEST = 8


@dataclass(frozen=True, eq=False)
class Null:
    """Estimates of sets whose accuracy is known, and which have not shifted.

    n: images of each set. estimates, accuracies: float64[sources, targets], what the estimator says and what is true,
    fractions; a row shares one resampled source.
    """

    n: int
    estimates: np.ndarray
    accuracies: np.ndarray

    __repr__ = short_repr

    @property
    def off(self) -> np.ndarray:
        """Estimated minus true accuracy, float64[sources, targets]."""
        return self.estimates - self.accuracies

    @cached_property
    def mean(self) -> float:
        """Mean of the estimated accuracies, in [0, 1]."""
        return float(self.estimates.mean())

    @cached_property
    def bias(self) -> float:
        """Mean of estimated minus true accuracy, in [-1, 1]: below 0 where the estimator is too low."""
        return float(self.off.mean())

    @cached_property
    def spread(self) -> float:
        """Standard deviation of estimated minus true accuracy."""
        return float(self.off.std(ddof=1))

    @cached_property
    def range(self) -> tuple[float, float]:
        """What 95 % of such sets are said to be: (low, high), in [0, 1]."""
        low, high = np.quantile(self.estimates, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        return float(low), float(high)


@checked
def measure_null(
    estimators: Mapping[str, Estimator],
    source: Outputs,
    n: Positive,
    *,
    sources: Annotated[int, Range(2)] | Mapping[str, Annotated[int, Range(2)]] = SOURCES,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> dict[str, Null]:
    """Ask estimators about resampled sets of the source, all about the same ones.

    Args:
        estimators: by any name. source: with labels and what they need. n: images of the target, of which 5,000 at most
            are drawn. sources: how many resampled sources, of all estimators or of each by its name, which then share
            the first of them; fewer, but 8, where they are large. seed: of the draws. progress: called with how many
            of them are done.
    Returns:
        A `Null` by name, of every estimator that could tell an accuracy of every draw.

    >>> from openworld.estimators import AC
    >>> source = Outputs([[2.0, 0.0]] * 8, labels=[0] * 6 + [1] * 2)
    >>> round(measure_null({"AC": AC()}, source, 100)["AC"].bias, 1)
    0.0
    """
    source.require(("labels",), "what estimators say of the source itself")
    if isinstance(sources, int):
        sources = dict.fromkeys(estimators, sources)
    sizes = min(source.n, MOST), min(n, MOST)
    most = max(FEWEST, NUMBERS // (source.classes * (sizes[0] + TARGETS * sizes[1])))
    rounds = {name: min(sources[name], most) for name in estimators}
    estimates = {name: np.full((rounds[name], TARGETS), np.nan) for name in estimators}
    draws = max(rounds.values(), default=0)
    accuracies = np.empty((draws, TARGETS))
    temperature, generator = temperature_of(source), np.random.default_rng(seed)
    for place in range(draws):
        rows = generator.integers(0, source.n, sizes[0])
        resampled = source.draw(rows)
        resampled.once("temperature", partial(replace, temperature, pulls=temperature.pulls[rows]))
        targets = [source.draw(generator.integers(0, source.n, sizes[1])) for _ in range(TARGETS)]
        for target in targets:
            waive_bias(target, temperature.value, resampled.n)
        accuracies[place] = [1 - target.mistakes / target.n for target in targets]
        for name, estimator in estimators.items():
            if place < rounds[name]:
                fitted = estimator.fit(resampled)
                answers = [fitted.estimate(target, interval=False).accuracy for target in targets]
                estimates[name][place] = [np.nan if answer is None else answer for answer in answers]
        if progress:
            progress(place + 1)
    return {
        name: Null(sizes[1], table, accuracies[: rounds[name]])
        for name, table in estimates.items()
        if not np.isnan(table).any()
    }
