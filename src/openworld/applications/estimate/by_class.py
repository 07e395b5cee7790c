"""An estimate class by class, beside what the same classes were like on the source."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from openworld.applications.estimate.accuracy_estimate import ClassEstimate
from openworld.estimators import Estimate, FittedEstimator, Outputs
from openworld.estimators.quote.by_class import ByClass, by_class

TAKEN_FOR = 3  # classes that the images named so may be instead
LEAST = 0.5  # images of another class below which it is not worth a word


def class_estimates(
    fitted: FittedEstimator, accuracy: float, source: Outputs, target: Outputs, names: Sequence[str]
) -> tuple[ClassEstimate, ...]:
    """A line for every class; none where the method tells nothing of single images.

    Args:
        fitted: the method that is quoted. accuracy: what is quoted. source, target: outputs. names: C class names.
    """
    found = fitted.estimate(target, interval=False)
    if found.sample_scores is None:
        return ()
    return tuple(_lines(replace(found, accuracy=accuracy, error=1 - accuracy), source, target, names))


def _lines(estimate: Estimate, source: Outputs, target: Outputs, names: Sequence[str]) -> list[ClassEstimate]:
    found, classes = by_class(estimate, target), target.classes
    named = np.bincount(source.predictions, minlength=classes)
    right = np.bincount(source.predictions[~source.wrong], minlength=classes)
    shares = np.bincount(source.labels, minlength=classes) / source.n
    return [
        ClassEstimate(
            name=name,
            predicted=int(found.predicted[label]),
            expected=float(found.expected[label]),
            accuracy=_known(found.precision[label]),
            interval=found.interval(label),
            recall=_known(found.recall[label]),
            source_accuracy=float(right[label] / named[label]) if named[label] else None,
            source_share=float(shares[label]),
            taken_for=_taken_for(found, label, names),
        )
        for label, name in enumerate(names)
    ]


def _taken_for(found: ByClass, label: int, names: Sequence[str]) -> tuple[tuple[str, float], ...]:
    row = found.confusion[label].copy()
    row[label] = 0
    largest = np.argsort(-row, kind="stable")[:TAKEN_FOR]
    return tuple((names[other], float(row[other])) for other in largest if row[other] >= LEAST)


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
