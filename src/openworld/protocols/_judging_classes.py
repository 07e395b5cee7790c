"""An estimate class by class, beside what the same classes were like on the source."""

from collections.abc import Mapping, Sequence

import numpy as np

from openworld.estimators import Estimate, Fitted, Outputs
from openworld.estimators.by_class import ByClass, by_class
from openworld.report.judgement import ClassLine

TAKEN_FOR = 3  # classes that the images named so may be instead
LEAST = 0.5  # images of another class below which it is not worth a word


def class_lines(
    first: str | None, fitted: Mapping[str, Fitted], source: Outputs, target: Outputs, names: Sequence[str]
) -> tuple[str, tuple[ClassLine, ...]]:
    """The method that tells of single images, and a line for every class; "" and none where no method does.

    Args:
        first: the method that is preferred. fitted: all methods. source, target: their outputs. names: C class names.
    """
    order = sorted(fitted, key=lambda name: name != first)
    found = ((name, fitted[name].estimate(target, interval=False)) for name in order)
    for name, estimate in found:
        if estimate.sample_scores is not None and estimate.accuracy is not None:
            return name, tuple(_lines(estimate, source, target, names))
    return "", ()


def _lines(estimate: Estimate, source: Outputs, target: Outputs, names: Sequence[str]) -> list[ClassLine]:
    found, classes = by_class(estimate, target), target.classes
    named = np.bincount(source.predictions, minlength=classes)
    right = np.bincount(source.predictions[~source.wrong], minlength=classes)
    shares = np.bincount(source.labels, minlength=classes) / source.n
    return [
        ClassLine(
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
