"""Bootstrap of estimated errors from what remains of each image: a score, a bin, right or wrong.

Nothing is fitted again: temperature and transport plan stay as they are, thresholds are found anew. A share of n images
is drawn from the binomial distribution that resampling gives it, so that the target, however large, costs nothing.
"""

from collections.abc import Iterator

import numpy as np

from openworld._errors import OpenworldError

LEVEL = 0.95
MANY = 100_000  # values from which the mean of a resample is drawn from its normal limit
LEAST = 20  # resamples below which percentiles say nothing


def accuracy_interval(errors: np.ndarray, error: float | None = None) -> tuple[float, float] | None:
    """Return the 95 % interval of the accuracy from resampled errors float[R], as far as `error` itself; or None."""
    if len(errors) < LEAST:
        raise OpenworldError(f"resamples is {len(errors)}, expected {LEAST} or more (200 for an interval).")
    defined = errors[~np.isnan(errors)]  # of the others nothing can be said
    if 2 * len(defined) < len(errors):
        return None
    low, high = np.quantile(1 - np.clip(defined, 0, 1), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    accuracies = [low, high] if error is None else [low, high, 1 - np.clip(error, 0, 1)]
    return float(min(accuracies)), float(max(accuracies))


def counts(n: int, resamples: int, generator: np.random.Generator) -> Iterator[np.ndarray]:
    """How often each of n images is drawn, int64[n] that add up to n, once per resample."""
    return (np.bincount(generator.integers(0, n, n), minlength=n) for _ in range(resamples))


def means(values: np.ndarray, resamples: int, generator: np.random.Generator) -> np.ndarray:
    """Means of resamples of values float[n]: float[R]."""
    n = len(values)
    if n >= MANY:
        return generator.normal(values.mean(), values.std() / np.sqrt(n), resamples)
    return np.array([drawn @ values / n for drawn in counts(n, resamples, generator)])


def shares(share, n: int, generator: np.random.Generator, resamples: int | None = None) -> np.ndarray:
    """Resampled shares of n images, float[R]; `share` is one number for all resamples or float[R]."""
    return generator.binomial(n, share, resamples) / n
