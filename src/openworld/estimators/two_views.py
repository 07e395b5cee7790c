"""Two views: how often model and reference agree, and how much of their disagreement is the reference's fault.

Where model b and reference f err independently, they agree on about acc_b acc_f of the images; on the source, where
all three are known, on rho times that. So on the target, with the agreement observed there and acc_f read off the
reference's own confidence,

    acc_b = agreement / (rho acc_f),    acc_f = its accuracy on the source + the change of its mean confidence

Unlike FRAP it never asks the judged model how sure it is, which on images unlike any that it was trained on says
little; a reference of another kind is surer where it is righter. All of it is counted over the images that the judged
model gives a class which the reference ever names right on the source, and scaled to all images as on the source.
"""

from dataclasses import dataclass

import numpy as np

from openworld.core.types import checked
from openworld.estimators.engine.checks import ReferenceCheck, check_reference
from openworld.estimators.engine.fitted import Estimator, FittedEstimator, RawEstimate, SourceSummary, counts, look_at
from openworld.estimators.engine.outputs import Outputs
from openworld.estimators.engine.temperature import confidences, source_temperature

FEWEST = 5  # images of classes that the reference knows, below which nothing can be said
TINY = 1e-9


@checked
@dataclass(frozen=True)
class TwoViews(Estimator):
    """error = 1 - agreement(target) / (rho acc_f(target)); may lie below 0.

    >>> both = np.eye(2)[[0, 0, 0, 1, 1, 1]]
    >>> source = Outputs(both, [0, 0, 0, 1, 1, 1], reference=both[[0, 0, 0, 3, 3, 0]])  # they agree on 5 of 6
    >>> target = source.take([0, 1, 5, 5, 5])  # the reference is as sure as ever, and agrees on 2 of 5
    >>> round(TwoViews().fit(source).estimate(target).accuracy, 2)  # .4 / (5/6)
    0.48
    """

    name, paper, summary = "two-views", "openworld", "agreement over the reference's own accuracy"
    needs = ("labels", "reference")

    def fit(self, source: Outputs) -> FittedEstimator:
        """Fit the reference's temperature; look at agreement, accuracies and confidence on the source."""
        known, check = look_at(source, self), check_reference(source)
        similar, labels = source.array("reference"), source.array("labels")
        scale = float(similar.std(axis=1).mean()) or 1.0  # cosines differ by hundredths, logits by tens
        temperature = scale * source_temperature(similar / scale, labels).value
        counted = check.known[source.predictions]
        right = np.c_[~source.wrong, counted & ~source.wrong, counted & (similar.argmax(axis=1) == labels)]
        images = np.c_[_agreements(source, check.known, temperature), right]
        return FittedEstimator(self, known, (check, temperature, images))

    def read(
        self, known: SourceSummary, state: tuple[ReferenceCheck, float, np.ndarray], target: Outputs
    ) -> RawEstimate:
        """Sample scores: 1 where the two agree, else 0."""
        check, temperature, source = state
        images = _agreements(target, check.known, temperature)
        if min(source[:, 0].sum(), images[:, 0].sum()) < FEWEST or not source[:, 1].any():
            return RawEstimate(None, None, "", warnings=(*check.warnings, _NOTHING))
        accuracy, reference = _accuracy(source.mean(axis=0), images.mean(axis=0))

        def replicates(resamples: int, generator: np.random.Generator) -> np.ndarray:
            known_anew, anew = (
                np.array([drawn @ part for drawn in counts(len(part), resamples, generator)]) / len(part)
                for part in (source, images)
            )
            return 1 - _accuracy(known_anew, anew)[0]

        return RawEstimate(
            1 - float(accuracy),
            replicates,
            "source and target images, the reference's temperature and classes kept",
            {"reference_accuracy": float(reference), "counted": int(images[:, 0].sum())},
            (target.predictions == target.array("reference").argmax(axis=1)).astype(np.float64),
            check.warnings,
        )


def _agreements(outputs: Outputs, known: np.ndarray, temperature: float) -> np.ndarray:
    """Return float64[n, 3]: whether an image counts; if so, whether both agree, and the reference's confidence."""
    counted = known[outputs.predictions]  # bool[C], classes that the reference knows
    agree = outputs.predictions == outputs.array("reference").argmax(axis=1)
    return np.c_[counted, counted & agree, counted * confidences(outputs.array("reference"), temperature)]


def _accuracy(source: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the accuracies of the judged model and the reference, from means float[..., 6] and [..., 3]."""
    counted, agree, confidence, right, counted_right, reference_right = np.moveaxis(source, -1, 0)
    here, agree_here, confidence_here = np.moveaxis(target, -1, 0)
    change = confidence_here / np.maximum(here, TINY) - confidence / np.maximum(counted, TINY)
    before = reference_right / np.maximum(counted, TINY)
    reference = np.clip(before + change, TINY, 1)
    ratio = (agree_here / np.maximum(here, TINY)) / np.maximum(agree / np.maximum(counted, TINY), TINY)
    return right * ratio * before / reference, reference


_NOTHING = (
    f"fewer than {FEWEST} images are given classes that the reference knows, or the two never agree on the source: "
    "nothing can be read off their agreement"
)
