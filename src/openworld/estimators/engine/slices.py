"""Source images weighted until the user's own groups weigh what they do on the target (Mandoline; Chen et al., 2021).

An image belongs to each of D groups (g = 1) or not (g = -1), and its weight is w ~ exp(theta . g), with theta where

    mean_target theta . g  -  ln mean_source exp(theta . g)

is largest (the log-linear density ratio of KLIEP). There the weighted mean of g over the source is its mean over the
target. Images of one pattern g count together, so that many cost no more than few. Where no weights reach the target's
means, the public code (HazyResearch/mandoline @ cb9105e) ends wherever its search does; here nothing is said.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from openworld._errors import OpenworldError
from openworld.estimators.engine.fitted import RawEstimate
from openworld.estimators.engine.outputs import Outputs

STEPS = 200  # of Newton's method, at most
REACHED = 1e-8  # how near the weighted means must come to the target's
FEW = 20  # source images that the weights leave, below which a warning is due


@dataclass(frozen=True, eq=False)
class SlicedSource:
    """patterns: float64[K, D] of the source. counts: int64[2, K], wrong and right images of each. pairs: as asked."""

    patterns: np.ndarray
    counts: np.ndarray
    pairs: bool

    @classmethod
    def of(cls, source: Outputs, pairs: bool) -> "SlicedSource":
        """Counted from outputs with labels and slices."""
        patterns, place = np.unique(_groups(source, pairs), axis=0, return_inverse=True)
        cells = place.ravel() + len(patterns) * ~source.wrong
        return cls(patterns, np.bincount(cells, minlength=2 * len(patterns)).reshape(2, -1), pairs)

    def read(self, target: Outputs) -> RawEstimate:
        """No sample scores: the weights are of source images."""
        groups = _groups(target, self.pairs)
        if groups.shape[1] != self.patterns.shape[1]:
            raise OpenworldError(
                f"the target's slices and their pairs are {groups.shape[1]}, the source's {self.patterns.shape[1]}: "
                "pass the same groups in the same order."
            )
        weights = tilted(self.patterns, self.counts.sum(axis=0), groups.mean(axis=0))
        if weights is None:
            return RawEstimate(None, None, "", warnings=(_UNREACHED,))
        left = _effective(weights, self.counts.sum(axis=0))
        distinct, counts = np.unique(groups, axis=0, return_counts=True)

        def again(generator: np.random.Generator) -> float:
            on_source, on_target = (_redrawn(each, generator) for each in (self.counts, counts))
            anew = tilted(self.patterns, on_source.sum(axis=0), on_target @ distinct / on_target.sum())
            return np.nan if anew is None else _error(anew, on_source)

        return RawEstimate(
            _error(weights, self.counts),
            lambda resamples, generator: np.array([again(generator) for _ in range(resamples)], np.float64),
            "source and target images",
            {"slices": groups.shape[1], "effective_source": left},
            warnings=(_FEW.format(self.counts.sum(), left),) if left < FEW else (),
        )


_UNREACHED = (
    "no weights of the source images give the slices their shares on the target: some slice, or some mix of them, is "
    "not on the source at all, and nothing is known of it"
)
_FEW = "the weights leave as much as {1:.1f} of the {0} source images: the target's slices are rare on the source"


def tilted(patterns: np.ndarray, counts: np.ndarray, wanted: np.ndarray) -> np.ndarray | None:
    """Return weights float64[K] of patterns float64[K, D] that give g the mean `wanted`; None where none reach it."""
    held = counts > 0
    patterns, theta = patterns[held], np.zeros(patterns.shape[1])
    value, weights = _value(patterns, counts[held], wanted, theta)
    for _ in range(STEPS):
        gradient = wanted - weights @ patterns
        if np.abs(gradient).max() < REACHED:
            whole = np.zeros(len(counts))
            whole[held] = weights
            return whole
        centred = patterns - weights @ patterns
        step = np.linalg.lstsq((centred * weights[:, None]).T @ centred, gradient, rcond=1e-12)[0]
        size = 1.0
        while (after := _value(patterns, counts[held], wanted, theta + size * step))[0] < value and size > 1e-9:
            size /= 2
        theta, (value, weights) = theta + size * step, after
    return None


def _value(patterns, counts, wanted, theta) -> tuple[float, np.ndarray]:
    """What theta maximises, and the weights that belong to it."""
    exponents = patterns @ theta
    highest = exponents.max()
    powers = counts * np.exp(exponents - highest)
    return float(wanted @ theta - highest - np.log(powers.sum())), powers / powers.sum()


def _error(weights: np.ndarray, counts: np.ndarray) -> float:
    return float(weights @ (counts[0] / np.maximum(counts.sum(axis=0), 1)))


def _effective(weights: np.ndarray, counts: np.ndarray) -> float:
    """(sum w)^2 / sum w^2 over source images, whose weights are equal within a pattern (Kish)."""
    return float(1 / (weights**2 / np.maximum(counts, 1)).sum())


def _groups(outputs: Outputs, pairs: bool) -> np.ndarray:
    """Slices float64[n, D] in {-1, 1}, with the products of each two behind them if asked."""
    slices = outputs.slices
    if not pairs:
        return slices
    products = [slices[:, i] * slices[:, j] for i, j in combinations(range(slices.shape[1]), 2)]
    return np.column_stack([slices, *products])


def _redrawn(counts: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    return generator.multinomial(counts.sum(), counts.ravel() / counts.sum()).reshape(counts.shape)
