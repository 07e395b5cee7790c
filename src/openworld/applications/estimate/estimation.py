"""How accurate is a model here, where there are no labels: from saved scores of a source and a target to an estimate.

Every estimator that the scores allow gives a number, `estimators.quote` decides what may be quoted, and what each says
of sets like the source stands beside it. The target may be of any size: it is read block by block, twice.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from openworld._arrays import require_fraction
from openworld._errors import OpenworldError
from openworld.applications.estimate.accuracy_estimate import (
    AccuracyEstimate,
    ChunkEstimate,
    ClassEstimate,
    MethodEstimate,
    Range,
)
from openworld.applications.estimate.alerts import (
    RATE,
    estimate_chunk,
    require_rate,
    require_testable,
    shift_test,
    with_alarms,
)
from openworld.applications.estimate.causes import cause_of, named
from openworld.applications.estimate.chunks import Chunking, Keyed
from openworld.applications.estimate.late_labels import LateLabels, with_late_labels
from openworld.applications.estimate.methods import fit_all
from openworld.applications.estimate.quotes import Quoting
from openworld.applications.estimate.reading import LabelledTable, Pass, Progress, blocks_of, read_labelled
from openworld.applications.estimate.remarks import remarks
from openworld.applications.estimate.score_tables import ScoreTable
from openworld.estimators import Estimate, FittedEstimator, find_estimator
from openworld.estimators.engine.temperature import temperature_of
from openworld.estimators.quote import Quote
from openworld.estimators.quote.by_class import by_class
from openworld.estimators.quote.causes import fit_causes
from openworld.estimators.quote.spans import spans
from openworld.estimators.streaming import estimate_stream

LONGEST = 20  # entries of a list among details that are kept
TAKEN_FOR = 3  # classes that the images named so may be instead
LEAST = 0.5  # images of another class below which it is not worth a word


@dataclass(frozen=True)
class EstimateOptions:
    """What somebody wants to know; what does not go together is refused."""

    estimators: tuple[str, ...] = ()  # the first is quoted; none for all usual ones that can be had
    chunking: Chunking = field(default_factory=Chunking)
    by_class: bool = False
    alert: float | None = None  # accuracy below which somebody wants to know, in [0, 1]
    false_alarms: float | None = None  # of years of 365 chunks, or of targets that are not cut; None for 0.05
    seed: int = 0
    resamples: int = 200
    vouched: str = "unknown"  # class shares "same" as on the source, or "other" and nothing else has changed

    def __post_init__(self):
        for name in self.estimators:
            if hasattr(find_estimator(name), "score"):
                raise OpenworldError(
                    f"{name} orders sets by accuracy and tells none: it needs labelled shifted sets beside the source. "
                    "In Python: openworld.estimators.ScoreRegression."
                )
        if self.vouched != "unknown" and self.estimators:
            raise OpenworldError(
                f"--{self.vouched}-shares says how the rules read class shares, and --estimator quotes a method "
                "whatever they say; leave one of the two out."
            )
        require_fraction("[]", alert=self.alert)
        require_rate(self.false_alarms)
        if self.false_alarms is not None and self.alert is None and not self.chunking:
            raise OpenworldError("--false-alarms is the rate of false alarms of --alert, or over time; add --alert.")

    @property
    def rate(self) -> float:
        """The rate of false alarms of either kind."""
        return RATE if self.false_alarms is None else self.false_alarms

    def require_no_cut(self, option: str) -> None:
        """Refuse what cuts the target otherwise, beside an option that cuts it itself."""
        given = {"--chunks, --chunk-rows or --period": self.chunking, "--by-class": self.by_class}
        given |= {"--alert": self.alert is not None, f"--{self.vouched}-shares": self.vouched != "unknown"}
        for other, value in given.items():
            if value:
                raise OpenworldError(f"{other} does not go with {option}; leave one of the two out.")


def vouched_shares(same: bool, other: bool) -> str:
    """Return what somebody vouches for of the class shares, one of `SHARES`."""
    if same and other:
        raise OpenworldError("--same-shares and --other-shares exclude one another; give what you know to hold.")
    return "same" if same else "other" if other else "unknown"


def estimate_accuracy(
    source: ScoreTable,
    target: ScoreTable,
    options: EstimateOptions = EstimateOptions(),
    progress: Progress | None = None,
    *,
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

    fitted = fit_all(options.estimators, known.outputs, unlabelled.outputs)
    estimates = estimate_stream(
        fitted,
        lambda: (block.outputs for block in blocks_of(target, "estimating", progress)),
        sample=unlabelled.sample,
        seed=options.seed,
        resamples=options.resamples,
    )
    quoting = Quoting(
        known.outputs,
        {name: method.estimator for name, method in fitted.items()},
        next(iter(options.estimators), None),
        options.seed,
        progress,
        tuple(read_labelled(labelled, known, progress)),
        options.vouched,
    )
    if options.alert is not None:
        require_testable(quoting)
    on_source, learned = quoting.on_source(n), quoting.learned(n)
    result = AccuracyEstimate(
        source=known.side,
        target=unlabelled.side,
        quote=quoting.quote(unlabelled.outputs, n, estimates),
        methods=tuple(_method(fitted[name], own, on_source.get(name)) for name, own in estimates.items()),
        learned=learned,
        learned_quote=learned and learned.quote(estimates),
        alert=options.alert,
        shift=known.class_shift(unlabelled),
        agreement=known.agreement(unlabelled),
        warnings=remarks(known, unlabelled),
    )

    if options.chunking:
        chunks = tuple(_chunks(options, fitted, quoting, (known, unlabelled), progress))
        causes = named((chunk.cause for chunk in chunks), target)
        chunks = tuple(replace(chunk, cause=cause) for chunk, cause in zip(chunks, causes, strict=True))
        result = replace(result, chunks=chunks, false_alarms=options.rate)
    if options.alert is not None:
        result = with_alarms(result, quoting, options.rate)
    if late is not None:  # after the alarm, which is a test of what is quoted without labels
        result = with_late_labels(result, late, target, temperature_of(known.outputs).value, progress)
    if not options.by_class:
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


def _chunks(
    options: EstimateOptions,
    fitted: Mapping[str, FittedEstimator],
    quoting: Quoting,
    sides: tuple[Pass, Pass],
    progress: Progress | None,
) -> Iterator[ChunkEstimate]:
    """Yield every chunk by every method, what may be quoted of it, and the likely cause of what moved."""
    source, target = sides
    reader, tests, statistic = fit_causes(source.outputs), {}, 0.0
    keyed = Keyed(blocks_of(target.table, "over time", progress), options.chunking, target.sample.n)
    for span in spans(keyed, seed=options.seed):
        outputs = span.sample.outputs
        test = shift_test(quoting, outputs.n, options.rate, tests)
        chunk, _ = estimate_chunk(quoting, fitted, span, test=test, before=statistic)
        statistic = chunk.shift_alarm.statistic
        yield replace(
            chunk,
            label=keyed.name(span),
            accuracy=None if outputs.labels is None else 1 - outputs.mistakes / outputs.n,
            cause=cause_of(reader, outputs, span.first + span.sample.rows),
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
