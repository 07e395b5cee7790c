"""CBPE: AC after each class's probability was calibrated by isotonic regression (NannyML's estimator).

As in NannyML/nannyml @ 022b8fa, a class is calibrated only if that lowers its expected calibration error on held-out
images, in ten bins that hold equally many, and the rows are divided by their sums. The held-out tenths are fixed here
by the order of the probabilities, so that neither a seed nor the order of the images matters; there they are drawn.

A curve needs images: with fewer than fifty a class the estimate carries a warning, and `openworld estimate` asks for
CBPE only by name.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import sqrt

import numpy as np
from scipy.optimize import isotonic_regression

from openworld.core.types import checked
from openworld.estimators.engine.fitted import Estimator, FittedEstimator, RawEstimate, SourceSummary, look_at, means
from openworld.estimators.engine.outputs import Outputs
from openworld.estimators.engine.temperature import blocks, probabilities
from openworld.metrics import auroc, expected_calibration_error

FOLDS = BINS = 10
A_CLASS = 50  # source images a class, on average, below which the curves are mostly noise
OFF = 0.05  # difference from the accuracy on the source itself from which a warning is due
SEPARATED = 0.999  # AUROC above which a class is told apart so well that there is nothing to calibrate


@checked
@dataclass(frozen=True)
class CBPE(Estimator):
    """error = 1 - mean calibrated probability of the predicted class over the target.

    Args:
        calibrate: fit T on the source before; False, as in NannyML: T = 1.

    >>> source = Outputs(np.log([[0.9, 0.1]] * 40 + [[0.2, 0.8]] * 40), labels=[0, 0, 0, 1] * 10 + [1] * 40)
    >>> round(CBPE().fit(source).estimate(Outputs(np.log([[0.9, 0.1], [0.2, 0.8]]))).accuracy, 3)  # (3/4 + 1) / 2
    0.875
    """

    calibrate: bool = False

    name, paper, summary = "CBPE", "NannyML, 2022", "mean confidence after isotonic calibration"
    needs = ("labels",)

    def fit(self, source: Outputs) -> FittedEstimator:
        """Fit one curve per class that gains by it."""
        known = look_at(source, self, self.calibrate)
        p, labels = probabilities(source.logits, known.temperature), source.array("labels")
        curves = _Curves(tuple(_curve(p[:, c], labels == c) for c in range(known.classes)), known.temperature)
        counts = (curves.binned(source, chosen) for chosen in (source.wrong, ~source.wrong))
        return FittedEstimator(self, known, (curves, *counts, float(curves.confidences(source).mean())))

    def read(
        self, known: SourceSummary, state: "tuple[_Curves, np.ndarray, np.ndarray, float]", target: Outputs
    ) -> RawEstimate:
        """Sample scores: calibrated probabilities of the predicted classes."""
        curves, wrong, right, on_source = state
        scores = curves.confidences(target)

        def replicates(resamples: int, generator: np.random.Generator) -> np.ndarray:
            held, spoken_of = wrong + right, curves.binned(target, np.ones(target.n, bool)) / target.n
            drawn = generator.binomial(held, right / np.maximum(held, 1), (resamples, BINS)) - right
            return 1 - means(scores, resamples, generator) - (drawn / np.maximum(held, 1)) @ spoken_of

        warnings = () if enough_images(known.n, known.classes) else (_FEW.format(known.n, known.n / known.classes),)
        if abs(on_source - (1 - known.error)) > OFF:
            warnings += (
                f"on the {known.n} source images themselves the calibrated confidence is {100 * on_source:.1f}%, and "
                f"{100 * (1 - known.error):.1f}% of them are right: the curves do not calibrate this model, so the "
                "estimate is off by about as much where nothing has shifted",
            )
        return RawEstimate(
            1 - float(scores.mean()),
            replicates,
            "target images, and right source images at each calibrated confidence (bins of a tenth)",
            {
                "calibrated_classes": sum(curve is not None for curve in curves.of),
                "sampling_error": sqrt(known.error * (1 - known.error) / target.n),
            },
            scores,
            warnings,
        )


def enough_images(n: int, classes: int) -> bool:
    """Return whether n source images suffice for a curve a class."""
    return n >= A_CLASS * classes


_FEW = (
    "one calibration curve a class rests on {0:,} source images, {1:.1f} a class: with fewer than "
    f"{A_CLASS} a class the curves are mostly noise"
)


@dataclass(frozen=True, eq=False)
class _Curves:
    """One calibration curve a class, or None; temperature: what logits are divided by before."""

    of: "tuple[Curve | None, ...]"
    temperature: float

    def confidences(self, outputs: Outputs) -> np.ndarray:
        """Calibrated probabilities float64[n] of the predicted classes."""
        scores = np.empty(outputs.n)
        for rows in blocks(*outputs.logits.shape):
            p = probabilities(outputs.logits[rows], self.temperature)
            for c, curve in enumerate(self.of):
                if curve is not None:
                    p[:, c] = curve(p[:, c])
            likeliest, sums = p[np.arange(len(p)), outputs.predictions[rows]], p.sum(axis=1)
            # uniform where every class was calibrated to 0
            scores[rows] = np.divide(likeliest, sums, out=np.full_like(likeliest, 1 / p.shape[1]), where=sums > 0)
        return scores

    def binned(self, outputs: Outputs, chosen: np.ndarray) -> np.ndarray:
        """How many chosen images whose predicted class has a curve lie in each tenth of confidence, int64[BINS]."""
        curved = np.array([curve is not None for curve in self.of])[outputs.predictions] & chosen
        tenths = np.minimum((self.confidences(outputs) * BINS).astype(int), BINS - 1)
        return np.bincount(tenths[curved], minlength=BINS)


Curve = Callable[[np.ndarray], np.ndarray]
"""Rises through knots, is straight between them and flat outside."""


def _curve(p: np.ndarray, true: np.ndarray) -> Curve | None:
    """The calibration of one class from its probabilities float[n] and bool[n]; None where it does not help."""
    order = np.lexsort((p, true))
    p, true = p[order], true[order]
    if true.all() or not true.any() or (auroc(p[true], p[~true]).value or 0) > SEPARATED:
        return None
    fold, held_out = np.arange(len(p)) % FOLDS, np.empty(len(p))
    for part in np.unique(fold):
        held_out[fold == part] = isotonic(p[fold != part], true[fold != part])(p[fold == part])
    before, after = (
        expected_calibration_error(q, true, bins=BINS, equal_mass=True).value for q in (p, np.clip(held_out, 0, 1))
    )
    return isotonic(p, true) if (after or 0) < (before or 0) else None


def isotonic(p: np.ndarray, true: np.ndarray) -> Curve:
    """Return the rising curve of least squares; equal probabilities are one point."""
    x, place, weight = np.unique(p, return_inverse=True, return_counts=True)
    mean = np.bincount(place, weights=true) / weight
    return partial(np.interp, xp=x, fp=isotonic_regression(mean, weights=weight).x)
