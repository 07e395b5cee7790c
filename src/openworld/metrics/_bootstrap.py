"""Bootstrap of OpenworldAUC and its companions: sort once, then reweight.

Resampling with replacement is drawing a count for every sample (or every group), so a replicate needs no sort: the
counts of new samples are summed along the order of scores and read off at every base sample. Samples are drawn within
each side; where groups hold samples of both sides, groups are drawn over both together (Efron and Tibshirani, 1993).
"""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from statistics import fmean
from typing import Annotated, Any

import numpy as np

from openworld.core.arrays import MANY, MOST
from openworld.core.representation import short_repr
from openworld.core.types import Fraction, Range, checked
from openworld.metrics._design import Design
from openworld.metrics._multinomial import Multinomial
from openworld.metrics._openworld_auc import LINEARISED, OpenworldAUC, Samples
from openworld.metrics._sweep import place
from openworld.metrics.averaging import SeedAverage
from openworld.metrics.estimate import NO_VARIANCE, ROUNDING

CHUNK = 25  # replicates that share one generator, so that the number of threads does not change them


@dataclass(frozen=True)
class Bootstrap:
    """The replicates' values, float64[R], of which `undefined` (an empty side) were left out; error and interval."""

    values: np.ndarray = field(repr=False, compare=False)
    undefined: int
    reason: str | None = None

    __repr__ = short_repr

    @property
    def standard_error(self) -> float | None:
        """Standard deviation of the replicates; None with `reason`."""
        return None if self.reason else float(self.values.std(ddof=1))

    @checked
    def interval(self, level: Fraction = 0.95) -> tuple[float, float] | None:
        """Percentile interval; None with `reason`."""
        if self.reason:
            return None
        low, high = np.quantile(self.values, [(1 - level) / 2, (1 + level) / 2])
        return float(low), float(high)


@checked
def bootstrap(
    result: OpenworldAUC | SeedAverage,
    of: str = "openworld_auc",
    *,
    replicates: Annotated[int, Range(2, MANY)] = 1000,
    seed: int = 0,
    threads: Annotated[int, Range(1, MOST["threads"])] | None = None,
) -> Bootstrap:
    """Resample the images (or groups) of a result and compute it anew, `replicates` times.

    Args:
        result: of `openworld_auc`, or an average over seeds (each replicate averages all seeds on the same draw).
        of: one of QUANTITIES.
        replicates: how many, at least 2.
        seed: of the random draws; the same seed gives the same values on any number of threads.
        threads: how many to use, 1 to 1024; None = one per processor.
    Returns:
        Bootstrap; values in [0, 1]. Like the closed form it says None where all replicates agree.
    Raises:
        OpenworldError: fewer than 2 replicates, an unknown quantity.

    >>> from openworld.metrics._openworld_auc import openworld_auc
    >>> result = openworld_auc([2, 4, 3, 1], [1, 1, 0, 1], [1, 0, 2], [1, 1, 1])
    >>> low, high = bootstrap(result, replicates=200).interval()
    >>> low < result.value < high
    True
    """
    results = result.results if isinstance(result, SeedAverage) else (result,)
    plan = results[0].samples.design
    reason = result.estimate(of).reason or plan.empty or plan.base.too_few or plan.new.too_few
    if reason:
        return Bootstrap(np.zeros(0), 0, reason)
    codes, sizes = _units(plan)
    laws = [Multinomial(size) for size in sizes]
    if len(results) > 1:  # no code is None, so that several results use one draw, each in its own order
        pairs = zip(codes, (plan.base, plan.new), strict=True)
        codes = tuple(np.arange(side.n) if code is None else code for code, side in pairs)
    layouts = [_Layout(result.samples, of, codes) for result in results]

    def chunk(size: int, seeds: np.random.SeedSequence) -> list[float]:
        generator = np.random.default_rng(seeds)
        draws = ([law(generator) for law in laws] for _ in range(size))
        return [fmean(layout.value(draw[0], draw[-1]) for layout in layouts) for draw in draws]

    lengths = [min(CHUNK, replicates - start) for start in range(0, replicates, CHUNK)]
    with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        values = np.concatenate(list(pool.map(chunk, lengths, np.random.SeedSequence(seed).spawn(len(lengths)))))
    defined = values[~np.isnan(values)]
    reason = NO_VARIANCE if defined.size < 2 or defined.std() <= ROUNDING else None
    return Bootstrap(defined, values.size - defined.size, reason)


def _units(plan: Design) -> tuple[tuple[Any, ...], tuple[int, ...]]:
    """Return codes of the samples of each side (None: themselves) and how many; one size if drawn together."""
    if not plan.grouped:
        return (None, None), (plan.base.n, plan.new.n)
    codes: tuple[Any, ...] = (plan.base.groups, plan.new.groups)
    if np.intersect1d(*codes).size:
        return codes, (plan.n_groups,)
    units, codes = zip(*(np.unique(side, return_inverse=True) for side in codes), strict=True)
    return codes, tuple(side.size for side in units)


class _Row:
    """One side, its rightly named samples first and in the order of their scores."""

    def __init__(self, scores: np.ndarray, named: np.ndarray, codes: np.ndarray, weights):
        right = np.flatnonzero(named)
        right = right[np.argsort(scores[right])]
        order = np.concatenate([right, np.flatnonzero(~named)])
        self.scores, self.n_named = scores[right], right.size
        # samples that are units of their own are exchangeable: counts are drawn in this order and need no look-up
        self.codes = None if codes is None else codes[order]
        self.weights = None if weights is None else weights[order]

    def masses(self, counts: np.ndarray) -> np.ndarray:
        """Return what each sample counts in a replicate, in this row's order."""
        counts = counts if self.codes is None else counts.take(self.codes)
        return counts if self.weights is None else counts * self.weights


class _Layout:
    """One result, sorted, with the place of every base sample among the new ones."""

    def __init__(self, samples: Samples, of: str, codes: tuple[Any, ...]):
        self.of, plan = of, samples.design
        outcomes = samples.base_correct, samples.new_correct
        if of == "auroc":
            outcomes = tuple(np.ones_like(side) for side in outcomes)
        self.base = _Row(samples.base_scores, outcomes[0], codes[0], plan.base.weights)
        self.new = _Row(samples.new_scores, outcomes[1], codes[1], plan.new.weights)
        self.below, self.upto = place(self.new.scores, self.base.scores)
        self.tied = not np.array_equal(self.below, self.upto)

    def value(self, base_counts: np.ndarray, new_counts: np.ndarray) -> float:
        """Return the quantity with every sample counted so often; NaN where it is undefined."""
        base, new = self.base.masses(base_counts), self.new.masses(new_counts)
        n_base, n_new = base.sum(), new.sum()
        if n_base == 0 or n_new == 0:
            return np.nan
        base, new = base[: self.base.n_named], new[: self.new.n_named]
        beaten = np.zeros(new.size + 1, new.dtype)  # int32 where there are no weights: half the memory to walk
        np.cumsum(new, out=beaten[1:])
        wins = beaten.take(self.below)
        if self.tied:
            wins = wins + beaten.take(self.upto)
        won = np.einsum("i,i", base, wins, dtype=np.result_type(wins, np.int64))  # BLAS threads change the last bit
        parts = {"base_accuracy": float(base.sum() / n_base), "new_accuracy": float(new.sum() / n_new)}
        parts["auroc"] = float(won / ((2 if self.tied else 1) * n_base * n_new))
        if self.of in parts:
            return parts[self.of]
        value = LINEARISED[self.of](*parts.values())[0]
        return np.nan if value is None else value
