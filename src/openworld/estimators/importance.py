"""IM: the source accuracy at each confidence, weighted as often as the target has it (Chen et al., 2021, Mandoline).

With one-hot slices of confidence, Mandoline's log-linear weights are the ratio of the shares of target and source in
each bin, so that no solver is needed. Bins are (l, u]; the public code of COT (luyuzhe111/COT @ 392c0ff) mixes that
with [l, u), and divides by zero where a confidence lies on an edge.

Groups of your own take a solver. An image belongs to each of D groups (g = 1) or not (g = -1), and its weight is
w ~ exp(theta . g), with theta where

    mean_target theta . g  -  ln mean_source exp(theta . g)

is largest (the log-linear density ratio of KLIEP). There the weighted mean of g over the source is its mean over the
target. Images of one pattern g count together, so that many cost no more than few. Where no weights reach the target's
means, the public code (HazyResearch/mandoline @ cb9105e) ends wherever its search does; here nothing is said.
"""

from dataclasses import dataclass
from itertools import combinations
from typing import Annotated, Literal

import numpy as np

from openworld.core.arrays import MANY
from openworld.core.errors import OpenworldError
from openworld.core.types import Range, checked
from openworld.estimators.engine.fitted import Estimator, FittedEstimator, RawEstimate, SourceSummary, look_at
from openworld.estimators.engine.outputs import Outputs
from openworld.estimators.engine.temperature import confidences_of

DROPPED = 0.05  # share of the target in bins without source images from which a warning is given
STEPS = 200  # of Newton's method, at most
REACHED = 1e-8  # how near the weighted means must come to the target's
FEW = 20  # source images that the weights leave, below which a warning is due


@checked
@dataclass(frozen=True)
class IM(Estimator):
    """error = 1 - sum_b q_t(b) acc_s(b) / sum_b q_t(b), over the bins b that hold source images.

    Args:
        bins: of equal width on [0, 1].
        slices: "confidence", the bins; "given", the groups that `Outputs.slices` say each image belongs to (D of them,
            Mandoline proper): source images are weighted until each group weighs what it does on the target.
        pairs: of given slices, whether each two of them together count as a group too.
        calibrate: fit T on the source; False: T = 1. Of no matter to given slices.
    The share of target images in bins without source images, of which nothing is known, is `dropped_mass`; if that is
    all of them, the accuracy is None.

    >>> source = Outputs([[3.0, 0.0], [3.0, 0.0], [1.0, 0.0], [1.0, 0.0]], labels=[0, 0, 0, 1])
    >>> IM(calibrate=False).fit(source).estimate(Outputs([[3.0, 0.0], [1.0, 0.0]])).accuracy  # bins with 1 and 1/2
    0.75
    """

    bins: Annotated[int, Range(1, MANY)] = 10
    slices: Literal["confidence", "given"] = "confidence"
    pairs: bool = False
    calibrate: bool = True

    name, paper, summary = "IM", "Chen et al., 2021", "source accuracy, re-weighted by confidence bins"
    needs = ("labels",)

    def fit(self, source: Outputs) -> FittedEstimator:
        """Fit the temperature; count wrong and right source images per bin, int64[2, bins], or per given pattern."""
        if self.slices == "given":
            source.require(("labels", "slices"), "IM with slices='given'")
            patterns, place = np.unique(_groups(source, self.pairs), axis=0, return_inverse=True)
            cells = np.bincount(place.ravel() + len(patterns) * ~source.wrong, minlength=2 * len(patterns))
            return FittedEstimator(self, look_at(source, self), (patterns, cells.reshape(2, -1)))
        known = look_at(source, self, self.calibrate)
        binned, wrong = self._bin(confidences_of(source, known.temperature)), source.wrong
        return FittedEstimator(self, known, np.stack([self._counts(binned[wrong]), self._counts(binned[~wrong])]))

    def read(self, known: SourceSummary, state: np.ndarray | tuple[np.ndarray, ...], target: Outputs) -> RawEstimate:
        """Sample scores: source accuracy in the image's bin, and the mean over the target where the bin has none."""
        if isinstance(state, tuple):
            target.require(("slices",), "IM with slices='given'")
            return _by_slices(*state, _groups(target, self.pairs))
        bins = self._bin(confidences_of(target, known.temperature))
        counts = self._counts(bins)
        error = float(_errors(state, counts))
        dropped = int(counts[state.sum(axis=0) == 0].sum()) / target.n
        details = {"dropped_mass": dropped}
        if dropped == 1:
            return RawEstimate(None, None, "", details, warnings=(_ALL_DROPPED,))
        held = state.sum(axis=0)
        accuracy = np.divide(state[1], held, out=np.full(self.bins, 1 - error), where=held > 0)
        return RawEstimate(
            error,
            lambda resamples, generator: _errors(*(_redrawn(side, resamples, generator) for side in (state, counts))),
            "source and target images, T kept",
            details,
            accuracy[bins],
            (_DROPPED.format(100 * dropped),) if dropped > DROPPED else (),
        )

    def _bin(self, confidence: np.ndarray) -> np.ndarray:
        """Bin of each confidence, 0 to bins - 1, by (l, u]."""
        return np.searchsorted(np.arange(1, self.bins) / self.bins, confidence, side="left")

    def _counts(self, binned: np.ndarray) -> np.ndarray:
        return np.bincount(binned, minlength=self.bins)


_UNREACHED = (
    "no weights of the source images give the slices their shares on the target: some slice, or some mix of them, is "
    "not on the source at all, and nothing is known of it"
)
_FEW = "the weights leave as much as {1:.1f} of the {0} source images: the target's slices are rare on the source"
_DROPPED = "{:.1f} % of the target images have a confidence that no source image has; they are left out"
_ALL_DROPPED = "no target image has a confidence that a source image has, so nothing is known of any"


def _errors(source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """The estimate from counts [..., 2, bins] and [..., bins]; NaN where no bin holds both."""
    held = source.sum(axis=-2)
    accuracy = source[..., 1, :] / np.maximum(held, 1)
    weights = target * (held > 0)
    total = weights.sum(axis=-1)
    return np.where(total > 0, 1 - (weights * accuracy).sum(axis=-1) / np.maximum(total, 1), np.nan)


def _redrawn(counts: np.ndarray, resamples: int, generator: np.random.Generator) -> np.ndarray:
    """Counts of resampled images, [resamples, *counts.shape]."""
    drawn = generator.multinomial(counts.sum(), counts.ravel() / counts.sum(), resamples)
    return drawn.reshape(resamples, *counts.shape)


def _by_slices(patterns: np.ndarray, counts: np.ndarray, groups: np.ndarray) -> RawEstimate:
    """Read groups float64[n, D] of a target; of the source patterns float64[K, D], int64[2, K] wrong and right ones."""
    if groups.shape[1] != patterns.shape[1]:
        raise OpenworldError(
            f"the target's slices and their pairs are {groups.shape[1]}, the source's {patterns.shape[1]}: pass the "
            "same groups in the same order."
        )
    weights = tilted(patterns, counts.sum(axis=0), groups.mean(axis=0))
    if weights is None:
        return RawEstimate(None, None, "", warnings=(_UNREACHED,))
    # (sum w)^2 / sum w^2 over source images, whose weights are equal within a pattern (Kish)
    left = float(1 / (weights**2 / np.maximum(counts.sum(axis=0), 1)).sum())
    distinct, on_target = np.unique(groups, axis=0, return_counts=True)

    def replicates(resamples: int, generator: np.random.Generator) -> np.ndarray:
        errors = np.full(resamples, np.nan)
        for place in range(resamples):
            there, here = (_redrawn(each, 1, generator)[0] for each in (counts, on_target))
            anew = tilted(patterns, there.sum(axis=0), here @ distinct / here.sum())
            if anew is not None:
                errors[place] = _error(anew, there)
        return errors

    return RawEstimate(
        _error(weights, counts),
        replicates,
        "source and target images",
        {"slices": groups.shape[1], "effective_source": left},
        warnings=(_FEW.format(counts.sum(), left),) if left < FEW else (),
    )


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


def _groups(outputs: Outputs, pairs: bool) -> np.ndarray:
    """Slices float64[n, D] in {-1, 1}, with the products of each two behind them if asked."""
    slices = outputs.array("slices")
    if not pairs:
        return slices
    products = [slices[:, i] * slices[:, j] for i, j in combinations(range(slices.shape[1]), 2)]
    return np.column_stack([slices, *products])
