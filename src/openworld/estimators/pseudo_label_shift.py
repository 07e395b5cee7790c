"""ProjNorm as COT and FRAP adapted it: how far the predicted classes have moved from the source's true ones.

error = min(1, TV(h_t, l_s) + source error), with h_t the shares of the predicted classes on the target and l_s the
shares of the true classes on the source, as luyuzhe111/COT @ 392c0ff computes it. The ProjNorm of Yu et al. (2022) is
something else: it trains a second network on the target's predictions, and measures the distance of the weights.
"""

from dataclasses import dataclass
from math import pi

import numpy as np

from openworld.estimators.engine.fitted import Estimator, FittedEstimator, RawEstimate, SourceSummary, look_at
from openworld.estimators.engine.outputs import Outputs

NOISY = 0.05  # distance that sampling alone makes, from which a warning is due


@dataclass(frozen=True)
class PseudoLabelShift(Estimator):
    """Total variation between predicted and true shares of classes, plus the source error.

    >>> source = Outputs([[1.0, 0.0], [0.0, 1.0]], labels=[0, 1])
    >>> target = Outputs([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> PseudoLabelShift().fit(source).estimate(target).error  # TV of (3/4, 1/4) and (1/2, 1/2), no source mistake
    0.25
    """

    name, paper, summary = (
        "ProjNorm",
        "Lu et al., 2023, after Yu et al., 2022",
        "shift of the predicted classes, plus the source error",
    )
    needs = ("labels",)

    def fit(self, source: Outputs) -> FittedEstimator:
        """Count source images by true class, right and wrong: int64[2, C]."""
        known = look_at(source, self)
        cells = source.labels + source.classes * source.wrong
        return FittedEstimator(self, known, np.bincount(cells, minlength=2 * source.classes).reshape(2, -1))

    def read(self, known: SourceSummary, state: np.ndarray, target: Outputs) -> RawEstimate:
        """No sample scores: the estimate is of the whole set."""
        predicted = np.bincount(target.predictions, minlength=known.classes)
        distance = float(_distance(predicted, state))
        noise = chance_distance(state.sum(axis=0) / known.n, known.n, target.n)
        warnings = ()
        if noise > NOISY:
            warnings = (
                f"with {target.n} target and {known.n} source images of {known.classes} classes, sampling alone makes "
                f"the shares differ by about {100 * noise:.1f} points: the error is estimated that much too high where "
                "none is due",
            )

        def replicates(resamples: int, generator: np.random.Generator) -> np.ndarray:
            # Errors as far on the other side of the estimate as resamples are on theirs (the basic bootstrap): noise
            # adds to a distance, and a resample adds it once more. Of 50 classes with 200 images, percentiles of the
            # resamples themselves lie above the estimate 9 times in 10, and never hold the populations' distance.
            drawn = generator.multinomial(target.n, predicted / target.n, resamples)
            anew = generator.multinomial(known.n, state.ravel() / known.n, resamples).reshape(resamples, 2, -1)
            errors = _distance(drawn, anew) + anew[:, 1].sum(axis=1) / known.n
            return 2 * (distance + known.error) - errors

        return RawEstimate(
            distance + known.error,
            replicates,
            "source and target images",
            {"distance": distance, "sampling_distance": noise},
            warnings=warnings,
        )


def _distance(predicted: np.ndarray, source: np.ndarray) -> np.ndarray:
    """Total variation; predicted int[..., C], source int[..., 2, C]."""
    true = source.sum(axis=-2)
    shares = predicted / predicted.sum(axis=-1, keepdims=True), true / true.sum(axis=-1, keepdims=True)
    return np.abs(shares[0] - shares[1]).sum(axis=-1) / 2


def chance_distance(shares: np.ndarray, n_source: int, n_target: int) -> float:
    """Return the mean total variation of two samples of one law, from the normal limit: E|x| = sd sqrt(2 / pi)."""
    deviations = np.sqrt(shares * (1 - shares) * (1 / n_source + 1 / n_target))
    return float(deviations.sum() * np.sqrt(2 / pi) / 2)
