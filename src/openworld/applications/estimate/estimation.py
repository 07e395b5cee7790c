"""How accurate is a model here, where there are no labels: from saved scores of a source and a target to an estimate.

Every estimator that the scores allow tells a number, `estimators.quote` decides what may be quoted, and what each says
of sets like the source is shown beside. The target may be of any size: it is read block by block, twice.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from openworld._errors import OpenworldError
from openworld.applications.estimate.accuracy_estimate import AccuracyEstimate, ChunkEstimate, MethodEstimate
from openworld.applications.estimate.alerts import with_alarms
from openworld.applications.estimate.by_class import class_estimates
from openworld.applications.estimate.chunks import Cut, Keyed
from openworld.applications.estimate.columns import SEEN
from openworld.applications.estimate.labelled_shifts import LabelledTable, read_labelled
from openworld.applications.estimate.methods import fit_all, partner_warnings, reference_warnings, score_only
from openworld.applications.estimate.one_pass import Pass, Progress, agreement, blocks_of, outputs_of, shift
from openworld.applications.estimate.quotes import Quoting
from openworld.applications.estimate.score_tables import ScoreTable
from openworld.datasets.training_images import ALIKE, SAME
from openworld.estimators import Estimate, FittedEstimator
from openworld.estimators.quote.alarm import COMMONEST, RAREST
from openworld.estimators.quote.source_check import are_many, check_source
from openworld.estimators.quote.spans import spans
from openworld.estimators.streaming import estimate_stream

PICTURES = ("id", "ids", "path")  # columns that say which picture a row is of
ALIKE_SHARE = 0.1  # of the source whose difference hashes a training picture has, from which that is no chance
RATE = 0.05  # of false alarms
LONGEST = 20  # entries of a list among details that are kept


@dataclass(frozen=True)
class EstimateOptions:
    """What somebody wants to know.

    Args:
        estimators: names, the first of which is quoted; none for all usual ones that can be had.
        cut: of the target into spans. by_class: whether to take the estimate apart by class.
        alert: accuracy below which somebody wants to know, in [0, 1]; or None. false_alarms: rate at which that may be
            said where the accuracy is the alert itself: of years of 365 chunks, or of targets that are not cut; 0.05 if
            there is an alert, and only then may another be given.
        seed, resamples: of samples and intervals.
    Raises:
        OpenworldError: an unknown estimator, one that needs labelled shifted sets, an alert outside [0, 1], a rate that
            cannot be tested.
    """

    estimators: tuple[str, ...] = ()
    cut: Cut = field(default_factory=Cut)
    by_class: bool = False
    alert: float | None = None
    false_alarms: float | None = None
    seed: int = 0
    resamples: int = 200

    def __post_init__(self):
        for name in filter(score_only, self.estimators):
            raise OpenworldError(
                f"{name} orders sets by accuracy and tells none: it needs labelled shifted sets beside the source. In "
                "Python: openworld.estimators.ScoreRegression."
            )
        if self.alert is not None and not 0 <= self.alert <= 1:
            raise OpenworldError(f"the alert is {self.alert:g}, expected a fraction in [0, 1] such as 0.8.")
        if self.false_alarms is None:
            return
        if self.alert is None:
            raise OpenworldError("--false-alarms is the rate of false alarms of --alert; add --alert 0.8, say.")
        if not RAREST <= self.false_alarms <= COMMONEST:
            raise OpenworldError(
                f"the rate of false alarms is {self.false_alarms:g}, expected {RAREST} to {COMMONEST}, such as 0.05: "
                "one year in twenty."
            )


def estimate_accuracy(
    source: ScoreTable,
    target: ScoreTable,
    options: EstimateOptions = EstimateOptions(),
    progress: Progress | None = None,
    *,
    labelled: Sequence[LabelledTable] = (),
) -> AccuracyEstimate:
    """The accuracy of a model on a target without labels.

    Args:
        source, target: scores of the same model for the same classes; the source with labels.
        options: what is wanted. progress: called with what is being done and how many images are done. labelled: shifts
            to learn from, five or more of three families or more; or none.
    Raises:
        OpenworldError: a source without labels, other classes, a target without images, scores that an estimator which
            was named needs and that are not there, labelled shifts without labels or too few.
    """
    if source.layout.classnames and target.layout.classnames:
        target = target.ordered(source.layout.classnames, f"those of {source.name}")
    known = Pass(source, "reading the source", progress)
    known.require_labels()
    passed = Pass(target, "reading the target", progress, known.sample.outputs)
    first, second = known.sample.outputs, passed.sample.outputs
    fitted = fit_all(options.estimators, first, second)
    estimates = estimate_stream(
        fitted,
        lambda: outputs_of(target, "estimating", progress),
        sample=passed.sample,
        seed=options.seed,
        resamples=options.resamples,
    )
    first_named = next(iter(options.estimators), None)
    shifts = tuple(read_labelled(labelled, known, progress))
    estimators = {name: one.estimator for name, one in fitted.items()}
    quoting = Quoting(first, estimators, first_named, options.seed, progress, shifts)
    on_source, learned = quoting.on_source(passed.sample.n), quoting.learned(passed.sample.n)
    found = AccuracyEstimate(
        source=known.side,
        target=passed.side,
        quote=quoting.quote(second, passed.sample.n, estimates),
        methods=tuple(_method(fitted[name], one, on_source.get(name)) for name, one in estimates.items()),
        learned=learned,
        learned_quote=learned and learned.quote(estimates),
        alert=options.alert,
        shift=shift(known, passed),
        agreement=agreement(known, passed),
        warnings=(
            *check_source(first, second).warnings,
            *_of_training(known),
            *reference_warnings(first, second),
            *partner_warnings(first, second),
            *_of_tables(known, passed),
        ),
    )
    if options.cut:
        found = replace(found, chunks=tuple(_chunks(options, fitted, quoting, passed, progress)))
    if options.alert is not None:
        found = with_alarms(found, quoting, RATE if options.false_alarms is None else options.false_alarms)
    return _by_class(found, fitted, known, passed) if options.by_class else found


def _method(fitted: FittedEstimator, found: Estimate, on_source: tuple[float, float, float] | None) -> MethodEstimate:
    details = {name: one for name, one in found.details.items() if not isinstance(one, list) or len(one) <= LONGEST}
    estimator = fitted.estimator
    return MethodEstimate(
        estimator.name,
        estimator.summary,
        found.accuracy,
        found.interval,
        found.warnings,
        found.details.get("sampled"),
        details,
        on_source,
    )


def _of_training(known: Pass) -> Iterator[str]:
    """Whether the source is of pictures that the model was trained on, where the file says so."""
    same, alike = known.seen[SAME], known.seen[ALIKE]
    if are_many(same, known.sample.n) or same + alike >= ALIKE_SHARE * known.sample.n:
        yield (
            f"the model was trained on {same:,} of the {known.sample.n:,} source images, and on pictures much like "
            f"{alike:,} others (column {SEEN} of the scores that --out keeps): it is surer and righter there than "
            "anywhere, and every estimate too high; take labelled pictures that it has not been trained on"
        )


def _of_tables(known: Pass, passed: Pass) -> Iterator[str]:
    """What was done to the files as they were read; columns that were not, of which a name may be misspelt."""
    if not known.sample.whole:
        yield f"of {known.sample.n:,} source images a uniform sample of {len(known.sample.rows):,} is used"
    for one in (known, passed):
        name, layout = one.table.name, one.table.layout
        if one.rounded:
            yield (
                f"{one.rounded:,} of {one.sample.n:,} rows of probabilities in {name} do not add up to 1, as rounding "
                "leaves them, and were divided by their sums; save more digits"
            )
        if any(part.reordered for part in one.table.layouts):
            yield f"the classes of {name} come in another order and were put in order by their names"
        if layout.classnames is None and (known.table.layout.classnames or passed.table.layout.classnames):
            yield f"{name} names no classes: they are taken to come in the order of the other side's names"
        unused = [column for column in layout.unused if column not in PICTURES]
        if unused:
            yield f"columns of {name} that were not used: {', '.join(unused[:8])}"


def _chunks(
    options: EstimateOptions,
    fitted: Mapping[str, FittedEstimator],
    quoting: Quoting,
    passed: Pass,
    progress: Progress | None,
) -> Iterator[ChunkEstimate]:
    """Every span by every method, and what may be quoted of it, one after the other."""
    keyed = Keyed(blocks_of(passed.table, "over time", progress), options.cut, passed.sample.n)
    for span in spans(keyed, seed=options.seed):
        outputs = span.sample.outputs
        found = {name: one.estimate(outputs, interval=False) for name, one in fitted.items()}
        quote = quoting.quote(outputs, span.sample.n, found)
        yield ChunkEstimate(
            label=keyed.name(span),
            first=span.first,
            n=span.sample.n,
            sampled=None if span.sample.whole else outputs.n,
            methods={name: one.accuracy for name, one in found.items()},
            quote=quote,
            accuracy=None if outputs.labels is None else 1 - outputs.mistakes / outputs.n,
            on_source=quoting.one_on_source(quote.method, span.sample.n),
        )


def _by_class(
    found: AccuracyEstimate, fitted: Mapping[str, FittedEstimator], known: Pass, passed: Pass
) -> AccuracyEstimate:
    if found.quote.accuracy is None:
        return replace(found, warnings=(*found.warnings, "class by class nothing is told, as nothing is of the whole"))
    outputs = passed.sample.outputs
    layouts = (known.table.layout, passed.table.layout)
    names = next((one.classnames for one in layouts if one.classnames), None)
    names = names or [f"class {label}" for label in range(outputs.classes)]
    lines = class_estimates(fitted[found.quote.method], found.quote.accuracy, known.sample.outputs, outputs, names)
    if not lines:
        silent = f"class by class nothing is told: {found.quote.method} says nothing of single images"
        return replace(found, warnings=(*found.warnings, silent))
    return replace(found, classes=lines, class_images=outputs.n)
