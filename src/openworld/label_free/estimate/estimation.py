"""How accurate is a model here, where there are no labels: from saved scores of a source and a target to an estimate.

Every estimator that the scores allow gives a number, `estimators.quote` decides what may be quoted, and what each says
of sets like the source stands beside it. The target may be of any size: it is read block by block, twice.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from openworld.core.errors import OpenworldError
from openworld.estimators import CBPE, GDE, Estimate, FittedEstimator, Outputs, find_estimator
from openworld.estimators.calibrated_confidence import enough_images
from openworld.estimators.engine.temperature import temperature_of
from openworld.estimators.quote.by_class import expected_confusion
from openworld.estimators.quote.class_shares import moved_shares
from openworld.estimators.quote.decision import Quote
from openworld.estimators.streaming import estimate_stream
from openworld.label_free.estimate.accuracy_estimate import (
    AccuracyEstimate,
    ClassEstimate,
    ClassShift,
    MethodEstimate,
    Range,
)
from openworld.label_free.estimate.late_labels import LateLabels, with_late_labels
from openworld.label_free.estimate.periods import images_named, judge_all
from openworld.label_free.estimate.quotes import Quoting
from openworld.label_free.estimate.reading import NamedShift, Pass, Progress, ScoreTable, read_labelled, remarks
from openworld.label_free.settings import Settings
from openworld.metrics import wilson_interval

USUAL = (
    *("two-views", "FRAP", "RAP", "COTT", "ATC-MC", "ATC-NE", "COT", "CBPE", "DoC", "AC", "IM", "ProjNorm"),
    *("GDE", "ALine-S", "ALine-D"),
)
"""What is estimated unless somebody names estimators, as far as the scores allow; CBPE with enough images a class."""

AS_USUAL = Settings()
LONGEST = 20  # entries of a list among details that are kept
TAKEN_FOR = 3  # classes that the images named so may be instead
LEAST = 0.5  # images of another class below which it is not worth a word
_MISSING = {
    "reference": "another model's scores on both sides: --reference NAME for images, a table `reference` in files",
    "partners": "other models' scores on both sides: --partner MODEL for images, tables `partner_1` ... in files",
}


def estimate_accuracy(
    source: ScoreTable,
    target: ScoreTable,
    settings: Settings = AS_USUAL,
    progress: Progress | None = None,
    *,
    by_class: bool = False,
    resamples: int = 200,
    labelled: Sequence[NamedShift] = (),
    late: LateLabels | None = None,
) -> AccuracyEstimate:
    """Estimate the accuracy of a model on a target without labels, by scores for the same classes."""
    # `labelled` are shifts to learn from, five of three families at least; `late` are labels of some target images.
    target = target.ordered(source.classnames, f"those of {source.name}")
    source = source.with_vectors()
    target = target.with_vectors(source.vectors)
    source = source.with_vectors(target.vectors)
    source_reading = Pass(source, "reading the source", progress)
    source_reading.require_labels(
        "the source must say what its images are: add `labels`, or give as --source the set whose labels are known."
    )
    target_reading = Pass(target, "reading the target", progress, source_reading.outputs)
    n = target_reading.sample.n

    fitted = fit_all(settings.estimators, source_reading.outputs, target_reading.outputs)
    estimates = estimate_stream(
        fitted,
        lambda: (block.outputs for block in target.scores("estimating", progress)),
        target_reading.sample,
        seed=settings.seed,
        resamples=resamples,
    )
    estimators = {name: method.estimator for name, method in fitted.items()}
    shifts = tuple(read_labelled(labelled, source_reading, progress))
    quoting = Quoting(source_reading.outputs, estimators, settings, progress, shifts)
    quoting.require_testable()
    on_source, learned = quoting.on_source(n), quoting.learned(n)
    referred = source_reading.outputs.reference is not None and target_reading.outputs.reference is not None
    result = AccuracyEstimate(
        source=source_reading.side,
        target=target_reading.side,
        quote=quoting.quote(target_reading.outputs, n, estimates),
        methods=tuple(_method(fitted[name], estimated, on_source.get(name)) for name, estimated in estimates.items()),
        learned=learned,
        learned_quote=None if learned is None else learned.quote(estimates),
        alert=settings.alert,
        shift=ClassShift(*moved_shares(source_reading.predicted, target_reading.predicted)),
        agreement=(source_reading.agreed / source_reading.sample.n, target_reading.agreed / n) if referred else None,
        temperature=temperature_of(source_reading.outputs).value,
        warnings=remarks(source_reading, target_reading),
    )

    if settings.cuts:
        periods = judge_all(quoting, fitted, target.scores("over time", progress), n)
        result = replace(result, chunks=images_named(periods, target), false_alarms=settings.false_alarms)
    elif settings.alert is not None:
        alarm = quoting.alarm_once(result.quote.tested, n)
        result = replace(result, alarm=alarm, false_alarms=settings.false_alarms)
    if late is not None:  # after the alarm, which is a test of what is quoted without labels
        result = with_late_labels(result, late, target, progress)
    if not by_class:
        return result
    classes, why = _classes(result.quote, fitted, source_reading, target_reading)
    warnings = (*result.warnings, f"nothing is estimated class by class{why}") if why else result.warnings
    return replace(result, classes=classes, class_images=target_reading.outputs.n if classes else 0, warnings=warnings)


def fit_all(names: tuple[str, ...], source: Outputs, target: Outputs) -> dict[str, FittedEstimator]:
    """Return the estimators of these names, or all usual ones that can be had, fitted on the source."""

    def held(name: str) -> set[str]:
        """What the scores hold of the needs of an estimator; GDE learns nothing of the source's partners."""
        reference = source.reference is not None and target.reference is not None
        partners = bool(target.partners) and (bool(source.partners) or name == GDE.name)
        return {"labels", *["reference"] * reference, *["partners"] * partners}

    for name in names:
        for need in find_estimator(name).needs:
            if need not in held(name):
                raise OpenworldError(f"{name} needs {_MISSING.get(need, need)}.")
    if not names:
        possible = [name for name in USUAL if held(name).issuperset(find_estimator(name).needs)]
        left_out = [] if enough_images(source.n, source.classes) else [CBPE.name]
        left_out += [] if len(source.partners) > 1 else ["ALine-S", "ALine-D"]  # a line has two ends
        names = tuple(name for name in possible if name not in left_out)
    return {name: find_estimator(name)().fit(source) for name in names}


def _method(fitted: FittedEstimator, estimate: Estimate, on_source: Range) -> MethodEstimate:
    details = estimate.details.items()
    return MethodEstimate(
        name=fitted.estimator.name,
        summary=fitted.estimator.summary,
        accuracy=estimate.accuracy,
        interval=estimate.interval,
        warnings=estimate.warnings,
        sampled=estimate.details.get("sampled"),
        details={name: detail for name, detail in details if not isinstance(detail, list) or len(detail) <= LONGEST},
        on_source=on_source,
    )


def _classes(
    quote: Quote, fitted: Mapping[str, FittedEstimator], source: Pass, target: Pass
) -> tuple[tuple[ClassEstimate, ...], str]:
    """Return an estimate of every class, beside what it was like on the source; or why there is none."""
    home, outputs = source.outputs, target.outputs
    if quote.accuracy is None:
        return (), ", as nothing is of the whole"
    method = fitted.get(quote.method) or fitted.get("DoC")  # class shares and labels correct what confidences say
    quoted = None if method is None else method.estimate(outputs, interval=False)
    if quoted is None or quoted.sample_scores is None:
        return (), f": {quote.method} says nothing of single images"
    confusion = expected_confusion(replace(quoted, accuracy=quote.accuracy, error=1 - quote.accuracy), outputs)
    classes = outputs.classes
    predicted, expected = np.bincount(outputs.predictions, minlength=classes), confusion.sum(axis=0)
    names = source.table.classnames or target.table.classnames or [f"class {label}" for label in range(classes)]
    counts = np.bincount(home.predictions, minlength=classes)
    right = np.bincount(home.predictions[~home.wrong], minlength=classes)
    shares = np.bincount(home.array("labels"), minlength=classes) / home.n

    estimates = []
    for label, name in enumerate(names):
        row, n = confusion[label], int(predicted[label])
        accuracy = float(row[label] / n) if n else None
        others = [other for other in np.argsort(-row, kind="stable").tolist() if other != label][:TAKEN_FOR]
        estimates.append(
            ClassEstimate(
                name=name,
                predicted=n,
                expected=float(expected[label]),
                accuracy=accuracy,
                interval=None if accuracy is None else wilson_interval(accuracy, n),
                recall=float(row[label] / expected[label]) if expected[label] > 0 else None,
                source_accuracy=float(right[label] / counts[label]) if counts[label] else None,
                source_share=float(shares[label]),
                taken_for=tuple((names[other], float(row[other])) for other in others if row[other] >= LEAST),
            )
        )
    return tuple(estimates), ""
