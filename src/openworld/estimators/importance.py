"""IM: the source accuracy at each confidence, weighted as often as the target has it (Chen et al., 2021, Mandoline).

With one-hot slices of confidence, Mandoline's log-linear weights are the ratio of the shares of target and source in
each bin, so that no solver is needed; groups of your own take one (`_slices`). Bins are (l, u]; the public code of COT
(luyuzhe111/COT @ 392c0ff) mixes that with [l, u), and divides by zero where a confidence lies on an edge.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np

from openworld._arrays import MANY, require_at_least, require_at_most
from openworld._errors import unknown_name
from openworld._types import checked
from openworld.estimators.engine.fitted import FittedEstimator, RawEstimate, SourceSummary, look_at
from openworld.estimators.engine.outputs import Outputs
from openworld.estimators.engine.slices import SlicedSource
from openworld.estimators.engine.temperature import confidences_of

Slices = Literal["confidence", "given"]
DROPPED = 0.05  # share of the target in bins without source images from which a warning is given


@checked
@dataclass(frozen=True)
class IM:
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

    bins: int = 10
    slices: Slices = "confidence"
    pairs: bool = False
    calibrate: bool = True

    name: ClassVar[str] = "IM"
    paper: ClassVar[str] = "Chen et al., 2021"
    summary: ClassVar[str] = "source accuracy, re-weighted by confidence bins"
    needs: ClassVar[tuple[str, ...]] = ("labels",)

    def __post_init__(self):
        require_at_least(1, bins=self.bins)
        require_at_most(MANY, bins=self.bins)
        if self.slices not in get_args(Slices):
            raise unknown_name("slices", str(self.slices), get_args(Slices))

    def fit(self, source: Outputs) -> FittedEstimator:
        """Fit the temperature; count wrong and right source images per bin, int64[2, bins], or per given pattern."""
        if self.slices == "given":
            source.require(("labels", "slices"), "IM with slices='given'")
            return FittedEstimator(self, look_at(source, self), SlicedSource.of(source, self.pairs))
        known = look_at(source, self, self.calibrate)
        binned, wrong = self._bin(confidences_of(source, known.temperature)), source.wrong
        return FittedEstimator(self, known, np.stack([self._counts(binned[wrong]), self._counts(binned[~wrong])]))

    def read(self, known: SourceSummary, state: np.ndarray | SlicedSource, target: Outputs) -> RawEstimate:
        """Sample scores: source accuracy in the image's bin, and the mean over the target where the bin has none."""
        if self.slices == "given":
            target.require(("slices",), "IM with slices='given'")
            return state.read(target)
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
