"""The two alarms as tests of a target or its chunks, against sets like the source: the accuracy, and the images.

The accuracy alarm tests the least of what DoC, ATC-MC and COT read, whether a number is told or not: it sees most of
what is lost. Where other class shares explain the difference, it is the accuracy in these shares; where a method was
named first, what that one says; and where the model's confidence tells nothing, what a reference shows, or there is no
such alarm. The shift alarm tests whether images over time are still like the source's; it needs no confidence.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from openworld._errors import OpenworldError
from openworld.applications.estimate.accuracy_estimate import AccuracyEstimate, Alarm, ChunkEstimate, ShiftAlarm
from openworld.applications.estimate.quotes import LABELLED, Quoting, shared_size
from openworld.estimators import Chunk, Estimate, FittedEstimator, Null, Outputs, check_reference, find_alarms
from openworld.estimators.engine.confidence_check import check_confidence
from openworld.estimators.quote import without_number
from openworld.estimators.quote.alarm import COMMONEST, RAREST
from openworld.estimators.quote.shift_alarm import ShiftTest, fit_shift_test
from openworld.estimators.quote.shift_signs import ShiftSigns, shift_signs
from openworld.estimators.quote.spans import Span

RATE = 0.05  # of false alarms of either kind
YEAR = 365  # chunks in which false alarms are counted
STEPS = 1  # sizes that differ by less than a factor of 2 share what is measured, which is scaled to each
SHIFTED = "a shift alarm stands: over time the images are no longer like the source's"
SOURCES = 100  # resampled: of so many draws jumps can be seen that come on few days of a year


def require_rate(rate: float | None) -> None:
    """Refuse a rate of false alarms that simulated years cannot tell."""
    if rate is not None and not RAREST <= rate <= COMMONEST:
        raise OpenworldError(f"the rate of false alarms is {rate:g}, expected {RAREST} to {COMMONEST}, such as 0.05.")


def require_testable(quoting: Quoting) -> None:
    """Refuse an alert on a model whose confidence tells nothing, unless a reference does or a method was named."""
    check = check_confidence(quoting.source)
    if quoting.first is not None or check.tells or quoting.by_reference:
        return
    reasons = () if quoting.source.reference is None else check_reference(quoting.source).reasons
    other = f"another reference, for this one {' and '.join(reasons)}" if reasons else "a reference (`reference`)"
    raise OpenworldError(
        f"--alert tests what the model's confidence says, and {check.why}. Leave --alert out: the alarm that images "
        f"over time are no longer like the source's remains, and drawn labels tell the accuracy (--propose, --labels). "
        f"Or give {other}, which is tested instead."
    )


def shift_test(quoting: Quoting, n: int, rate: float, known: dict[int, ShiftTest]) -> ShiftTest:
    """Return the test of chunks of about n images, which is added to those that are known by their sizes."""
    size = shared_size(n)
    if size not in known:
        known[size] = fit_shift_test(quoting.source, size, rate=rate, over=YEAR, seed=quoting.seed)
    return known[size]


def estimate_chunk(
    quoting: Quoting,
    fitted: Mapping[str, FittedEstimator],
    span: Span,
    *,
    test: ShiftTest | None,  # of the shift alarm; None where it does not look
    before: float,  # its statistic before the chunk
    beside: bool = True,  # whether it is measured what the quoted method says of the source
) -> tuple[ChunkEstimate, ShiftSigns]:
    """Return what is estimated of a chunk or a period without its label, and how far it lies from the source."""
    outputs, n = span.sample.outputs, span.sample.n
    estimates = {name: method.estimate(outputs, interval=False) for name, method in fitted.items()}
    quote = quoting.quote(outputs, n, estimates)
    signs = quote.signs or shift_signs(quoting.source, outputs, seed=quoting.seed)
    alarm = None
    if test is not None:
        score, sign = test.score(signs, outputs.n)
        alarm = ShiftAlarm(score, sign, test.statistic(before, score))
    shifted = before > 1 if alarm is None else alarm.standing
    if shifted and quoting.first is None and quote.rule != LABELLED:  # a number by labelled shifts or by name stays
        quote = without_number(quote, SHIFTED)
    chunk = ChunkEstimate(
        label="",
        first=span.first,
        n=n,
        sampled=None if span.sample.whole else outputs.n,
        methods={name: estimate.accuracy for name, estimate in estimates.items()},
        quote=quote,
        on_source=quoting.of_source(quote.method, n) if beside else None,
        shift_alarm=alarm,
    )
    return chunk, signs


def with_alarms(estimate: AccuracyEstimate, quoting: Quoting, rate: float) -> AccuracyEstimate:
    """Test chunks over time, or a target that is not cut once; `rate` is of years with a false alarm, or of tests."""
    whole = not estimate.chunks
    sizes = [estimate.target.n] if whole else [chunk.sampled or chunk.n for chunk in estimate.chunks]
    quotes = [estimate.quote] if whole else [chunk.quote for chunk in estimate.chunks]
    nulls = {size: null_of(quoting, size) for size in {shared_size(n, STEPS) for n in sizes}}
    tested = [Chunk(quote.tested, n, nulls[shared_size(n, STEPS)]) for quote, n in zip(quotes, sizes, strict=True)]
    found = find_alarms(tested, estimate.alert, rate=rate, over=1 if whole else YEAR, seed=quoting.seed)
    numbers = zip(found.statistics, found.standing, found.alone, found.lasting, strict=True)
    alarms = [
        Alarm(chunk.accuracy, float(statistic), found.limit, bool(standing), float(alone), float(lasting))
        for chunk, (statistic, standing, alone, lasting) in zip(tested, numbers, strict=True)
    ]
    if whole:
        return replace(estimate, alarm=alarms[0], false_alarms=rate)
    chunks = tuple(replace(chunk, alarm=alarm) for chunk, alarm in zip(estimate.chunks, alarms, strict=True))
    return replace(estimate, chunks=chunks, false_alarms=rate)


def null_of(quoting: Quoting, n: int) -> Null:
    """Return what is quoted of sets of n images that are like the source."""
    for name, estimator in quoting.rests_on.items():
        if "partners" in estimator.needs and not quoting.source.partners:
            raise OpenworldError(
                f"an alert needs what {name} says of sets like the source: give its partners' scores there, too "
                "(--source-partner), or name another estimator."
            )
    nulls = quoting.measure({"tested": Tested(quoting, n)}, n, SOURCES)
    if "tested" not in nulls:
        raise OpenworldError(
            f"an alert needs what {quoting.first} says of sets like the source, and of some it tells no accuracy; name "
            "another estimator first, or none."
        )
    return nulls["tested"]


@dataclass(frozen=True)
class Tested:
    """What an alert tests, in the form of an estimator."""

    quoting: Quoting
    n: int
    source: Outputs | None = None
    fitted: Mapping[str, FittedEstimator] = field(default_factory=dict)

    def fit(self, source: Outputs) -> "Tested":
        fitted = {name: estimator.fit(source) for name, estimator in self.quoting.rests_on.items()}
        return replace(self, source=source, fitted=fitted)

    def estimate(self, target: Outputs, *, interval: bool) -> Estimate:
        estimates = {name: method.estimate(target, interval=interval) for name, method in self.fitted.items()}
        accuracy = self.quoting.tested(self.n, estimates, 1 - self.source.mistakes / self.source.n)
        return Estimate.of(None if accuracy is None else 1 - accuracy)
