"""How accurate is a model here, where there are no labels: from saved scores of a source and a target to an estimate.

Every estimator that the scores allow gives a number, `estimators.quote` decides what may be quoted, and what each says
of sets like the source stands beside it. The target may be of any size: it is read block by block, twice.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from openworld._arrays import require_fraction
from openworld._errors import OpenworldError
from openworld.applications.estimate.accuracy_estimate import AccuracyEstimate, ChunkEstimate, MethodEstimate, Range
from openworld.applications.estimate.alerts import (
    RATE,
    require_rate,
    require_testable,
    shift_alarm,
    shift_test,
    under_shift,
    with_alarms,
)
from openworld.applications.estimate.by_class import with_classes
from openworld.applications.estimate.causes import cause_of, cause_reader, named, with_features
from openworld.applications.estimate.chunks import Chunking, Keyed
from openworld.applications.estimate.late_labels import LateLabels, with_late_labels
from openworld.applications.estimate.methods import fit_all
from openworld.applications.estimate.quotes import Quoting
from openworld.applications.estimate.reading import (
    LabelledTable,
    Pass,
    Progress,
    agreement,
    blocks_of,
    class_shift,
    read_labelled,
)
from openworld.applications.estimate.remarks import remarks
from openworld.applications.estimate.score_tables import ScoreTable
from openworld.estimators import Estimate, FittedEstimator, Outputs, find_estimator
from openworld.estimators.engine.temperature import source_temperature
from openworld.estimators.quote.shift_signs import shift_signs
from openworld.estimators.quote.spans import spans
from openworld.estimators.streaming import estimate_stream

LONGEST = 20  # entries of a list among details that are kept


@dataclass(frozen=True)
class EstimateOptions:
    """What somebody wants to know.

    Args:
        estimators: names, the first of which is quoted; none for all usual ones that can be had.
        chunking: how to cut the target. by_class: whether to take the estimate apart by class.
        alert: accuracy below which somebody wants to know, in [0, 1]; or None. false_alarms: rate at which that may be
            said where the accuracy is the alert itself: of years of 365 chunks, or of targets that are not cut; and of
            such years, that images are no longer like the source's where they are. None for 0.05; another may be given
            beside an alert, or over time.
        vouched: what somebody knows of the class shares: "same" as on the source; "other", and nothing else has
            changed; or "unknown".
        seed, resamples: of samples and intervals.
    Raises:
        OpenworldError: an unknown estimator, one that needs labelled shifted sets, an alert outside [0, 1], a rate that
            cannot be tested.
    """

    estimators: tuple[str, ...] = ()
    chunking: Chunking = field(default_factory=Chunking)
    by_class: bool = False
    alert: float | None = None
    false_alarms: float | None = None
    seed: int = 0
    resamples: int = 200
    vouched: str = "unknown"

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
            raise OpenworldError(
                "--false-alarms is the rate of false alarms of --alert, and of shifts over time; add --alert 0.8, say."
            )

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
        raise OpenworldError(
            "--same-shares and --other-shares exclude one another; give the one that you know to hold."
        )
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
    """Estimate the accuracy of a model on a target without labels.

    Args:
        source, target: scores of the same model for the same classes; the source with labels.
        options: what is wanted. progress: called with what is being done and how many images are done. labelled: shifts
            to learn from, five or more of three families or more; or none. late: labels of some images of the target.
    Raises:
        OpenworldError: a source without labels, other classes, a target without images, scores that an estimator which
            was named needs and that are not there, labelled shifts without labels or too few.
    """
    target = target.ordered(source.classnames, f"those of {source.name}")
    source, target = with_features(source, target)
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
        shift=class_shift(known, unlabelled),
        agreement=agreement(known, unlabelled),
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
        result = with_late_labels(result, late, target, temperature_of(known.outputs), progress)
    return with_classes(result, fitted, known, unlabelled) if options.by_class else result


def temperature_of(source: Outputs) -> float:
    """Return the temperature at which the source's confidences are calibrated."""
    return source.once("temperature", lambda: source_temperature(source.logits, source.labels)).value


def _method(fitted: FittedEstimator, estimate: Estimate, on_source: Range) -> MethodEstimate:
    short = {
        name: detail
        for name, detail in estimate.details.items()
        if not isinstance(detail, list) or len(detail) <= LONGEST
    }
    return MethodEstimate(
        name=fitted.estimator.name,
        summary=fitted.estimator.summary,
        accuracy=estimate.accuracy,
        interval=estimate.interval,
        warnings=estimate.warnings,
        sampled=estimate.details.get("sampled"),
        details=short,
        on_source=on_source,
    )


def _chunks(
    options: EstimateOptions,
    fitted: Mapping[str, FittedEstimator],
    quoting: Quoting,
    sides: tuple[Pass, Pass],
    progress: Progress | None,
) -> Iterator[ChunkEstimate]:
    """Return every chunk by every method, what may be quoted of it, and the likely cause of what moved."""
    source, target = sides
    reader, tests, statistic = cause_reader(source.outputs), {}, 0.0
    keyed = Keyed(blocks_of(target.table, "over time", progress), options.chunking, target.sample.n)
    for span in spans(keyed, seed=options.seed):
        outputs, n = span.sample.outputs, span.sample.n
        estimates = {name: method.estimate(outputs, interval=False) for name, method in fitted.items()}
        quote = quoting.quote(outputs, n, estimates)
        signs = quote.signs or shift_signs(source.outputs, outputs, seed=options.seed)
        alarm = shift_alarm(shift_test(quoting, outputs.n, options.rate, tests), signs, outputs.n, statistic)
        statistic = alarm.statistic
        quote = under_shift(quoting, quote) if alarm.standing else quote
        yield ChunkEstimate(
            label=keyed.name(span),
            first=span.first,
            n=n,
            sampled=None if span.sample.whole else outputs.n,
            methods={name: estimate.accuracy for name, estimate in estimates.items()},
            quote=quote,
            accuracy=None if outputs.labels is None else 1 - outputs.mistakes / outputs.n,
            on_source=quoting.of_source(quote.method, n),
            cause=cause_of(reader, outputs, span.first + span.sample.rows),
            shift_alarm=alarm,
        )
