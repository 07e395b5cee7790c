"""An estimate class by class, beside what the same classes were like on the source."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from openworld.applications.estimate.accuracy_estimate import AccuracyEstimate, ClassEstimate
from openworld.applications.estimate.reading import Pass
from openworld.estimators import FittedEstimator
from openworld.estimators.quote.by_class import by_class

TAKEN_FOR = 3  # classes that the images named so may be instead
LEAST = 0.5  # images of another class below which it is not worth a word


def with_classes(
    estimate: AccuracyEstimate, fitted: Mapping[str, FittedEstimator], source: Pass, target: Pass
) -> AccuracyEstimate:
    """Return an estimate with a line for every class, or with a warning why there is none."""
    quote, known, outputs = estimate.quote, source.outputs, target.outputs
    if quote.accuracy is None:
        return _without(estimate, "as nothing is of the whole", ",")
    method = fitted.get(quote.method) or fitted.get("DoC")  # class shares and labels correct what confidences say
    quoted = method and method.estimate(outputs, interval=False)
    if quoted is None or quoted.sample_scores is None:
        return _without(estimate, f"{quote.method} says nothing of single images", ":")
    quoted = replace(quoted, accuracy=quote.accuracy, error=1 - quote.accuracy)
    classes, apart = outputs.classes, by_class(quoted, outputs)
    names = source.table.classnames or target.table.classnames or [f"class {label}" for label in range(classes)]
    named = np.bincount(known.predictions, minlength=classes)
    right = np.bincount(known.predictions[~known.wrong], minlength=classes)
    shares = np.bincount(known.labels, minlength=classes) / known.n
    lines = (
        ClassEstimate(
            name=name,
            predicted=int(apart.predicted[label]),
            expected=float(apart.expected[label]),
            accuracy=_known(apart.precision[label]),
            interval=apart.interval(label),
            recall=_known(apart.recall[label]),
            source_accuracy=float(right[label] / named[label]) if named[label] else None,
            source_share=float(shares[label]),
            taken_for=_taken_for(apart.confusion[label], label, names),
        )
        for label, name in enumerate(names)
    )
    return replace(estimate, classes=tuple(lines), class_images=outputs.n)


def _without(estimate: AccuracyEstimate, reason: str, mark: str) -> AccuracyEstimate:
    return replace(estimate, warnings=(*estimate.warnings, f"class by class nothing is told{mark} {reason}"))


def _taken_for(confusion: np.ndarray, label: int, names) -> tuple[tuple[str, float], ...]:
    others = [other for other in np.argsort(-confusion, kind="stable").tolist() if other != label]
    return tuple((names[other], float(confusion[other])) for other in others[:TAKEN_FOR] if confusion[other] >= LEAST)


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
