"""How accurate is a model here, where there are no labels: from saved scores of a source and a target to an estimate.

Every estimator that the scores allow gives a number, `estimators.quote` decides what may be quoted, and what each says
of sets like the source stands beside it. The target may be of any size: it is read block by block, twice.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from openworld.estimators import Estimate, FittedEstimator
from openworld.estimators.engine.temperature import temperature_of
from openworld.estimators.quote import Quote
from openworld.estimators.quote.by_class import by_class
from openworld.estimators.quote.spans import spans
from openworld.estimators.streaming import estimate_stream
from openworld.label_free.estimate.accuracy_estimate import (
    AccuracyEstimate,
    ClassEstimate,
    MethodEstimate,
)
from openworld.label_free.estimate.causes import named
from openworld.label_free.estimate.late_labels import LateLabels, with_late_labels
from openworld.label_free.estimate.methods import fit_all
from openworld.label_free.estimate.period import Range
from openworld.label_free.estimate.periods import Judge, Keyed
from openworld.label_free.estimate.quotes import Quoting
from openworld.label_free.estimate.reading import LabelledTable, Pass, Progress, blocks_of, read_labelled
from openworld.label_free.estimate.remarks import remarks
from openworld.label_free.estimate.score_tables import ScoreTable
from openworld.label_free.settings import Settings

USUAL = Settings()
LONGEST = 20  # entries of a list among details that are kept
TAKEN_FOR = 3  # classes that the images named so may be instead
LEAST = 0.5  # images of another class below which it is not worth a word


def estimate_accuracy(
    source: ScoreTable,
    target: ScoreTable,
    settings: Settings = USUAL,
    progress: Progress | None = None,
    *,
    by_class: bool = False,
    resamples: int = 200,
    labelled: Sequence[LabelledTable] = (),
    late: LateLabels | None = None,
) -> AccuracyEstimate:
    """Estimate the accuracy of a model on a target without labels, by scores for the same classes."""
    # `labelled` are shifts to learn from, five of three families at least; `late` are labels of some target images.
    target = target.ordered(source.classnames, f"those of {source.name}")
    source = source.with_vectors()
    target = target.with_vectors(features=source.features, appearance=source.appearance)
    source = source.with_vectors(features=target.features, appearance=target.appearance)
    known = Pass(source, "reading the source", progress)
    known.require_labels(
        "the source must say what its images are: add `labels`, or give as --source the set whose labels are known."
    )
    unlabelled = Pass(target, "reading the target", progress, known.outputs)
    n = unlabelled.sample.n

    fitted = fit_all(settings.estimators, known.outputs, unlabelled.outputs)
    estimates = estimate_stream(
        fitted,
        lambda: (block.outputs for block in blocks_of(target, "estimating", progress)),
        sample=unlabelled.sample,
        seed=settings.seed,
        resamples=resamples,
    )
    estimators = {name: method.estimator for name, method in fitted.items()}
    shifts = tuple(read_labelled(labelled, known, progress))
    quoting = Quoting(known.outputs, estimators, settings, progress, shifts)
    quoting.require_testable()
    on_source, learned = quoting.on_source(n), quoting.learned(n)
    result = AccuracyEstimate(
        source=known.side,
        target=unlabelled.side,
        quote=quoting.quote(unlabelled.outputs, n, estimates),
        methods=tuple(_method(fitted[name], own, on_source.get(name)) for name, own in estimates.items()),
        learned=learned,
        learned_quote=learned and learned.quote(estimates),
        alert=settings.alert,
        shift=known.class_shift(unlabelled),
        agreement=known.agreement(unlabelled),
        warnings=remarks(known, unlabelled),
    )

    if settings.cuts:
        judge = Judge(quoting, fitted)
        keyed = Keyed(blocks_of(target, "over time", progress), settings, n)
        cut = enumerate(spans(keyed, seed=settings.seed))
        chunks = [judge.judge(span, number, keyed.name(span)) for number, span in cut]
        result = replace(result, chunks=named(chunks, target), false_alarms=settings.false_alarms)
    elif settings.alert is not None:
        alarm = quoting.alarm_once(result.quote.tested, n)
        result = replace(result, alarm=alarm, false_alarms=settings.false_alarms)
    if late is not None:  # after the alarm, which is a test of what is quoted without labels
        result = with_late_labels(result, late, target, temperature_of(known.outputs).value, progress)
    if not by_class:
        return result
    classes, why = _classes(result.quote, fitted, known, unlabelled)
    warnings = (*result.warnings, f"class by class nothing is told{why}") if why else result.warnings
    images = unlabelled.outputs.n if classes else 0
    return replace(result, classes=classes, class_images=images, warnings=warnings)


def _method(fitted: FittedEstimator, estimate: Estimate, on_source: Range) -> MethodEstimate:
    details = estimate.details.items()
    return MethodEstimate(
        name=fitted.estimator.name,
        summary=fitted.estimator.summary,
        accuracy=estimate.accuracy,
        interval=estimate.interval,
        warnings=estimate.warnings,
        sampled=estimate.details.get("sampled"),
        details={name: own for name, own in details if not isinstance(own, list) or len(own) <= LONGEST},
        on_source=on_source,
    )


def _classes(
    quote: Quote, fitted: Mapping[str, FittedEstimator], source: Pass, target: Pass
) -> tuple[tuple[ClassEstimate, ...], str]:
    """Return an estimate of every class, beside what it was like on the source; or why there is none."""
    known, outputs = source.outputs, target.outputs
    if quote.accuracy is None:
        return (), ", as nothing is of the whole"
    method = fitted.get(quote.method) or fitted.get("DoC")  # class shares and labels correct what confidences say
    quoted = method and method.estimate(outputs, interval=False)
    if quoted is None or quoted.sample_scores is None:
        return (), f": {quote.method} says nothing of single images"
    apart = by_class(replace(quoted, accuracy=quote.accuracy, error=1 - quote.accuracy), outputs)
    classes = outputs.classes
    names = source.table.classnames or target.table.classnames or [f"class {label}" for label in range(classes)]
    named = np.bincount(known.predictions, minlength=classes)
    right = np.bincount(known.predictions[~known.wrong], minlength=classes)
    shares = np.bincount(known.labels, minlength=classes) / known.n

    estimates = []
    for label, name in enumerate(names):
        row, (accuracy, recall) = apart.confusion[label], (apart.precision[label], apart.recall[label])
        others = [other for other in np.argsort(-row, kind="stable").tolist() if other != label][:TAKEN_FOR]
        estimates.append(
            ClassEstimate(
                name=name,
                predicted=int(apart.predicted[label]),
                expected=float(apart.expected[label]),
                accuracy=None if np.isnan(accuracy) else float(accuracy),
                interval=apart.interval(label),
                recall=None if np.isnan(recall) else float(recall),
                source_accuracy=float(right[label] / named[label]) if named[label] else None,
                source_share=float(shares[label]),
                taken_for=tuple((names[other], float(row[other])) for other in others if row[other] >= LEAST),
            )
        )
    return tuple(estimates), ""
