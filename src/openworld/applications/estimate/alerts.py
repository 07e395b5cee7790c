"""The alert as a test: what is quoted of a target or its chunks, against what is quoted of sets like the source.

Rules jump where one ends and the next begins, so not a single method is measured on source-like sets but all that is
done to come to a number. Where the accuracy cannot be told, the middle of its bounds counts.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from openworld._errors import OpenworldError
from openworld.applications.estimate.accuracy_estimate import AccuracyEstimate, Alarm
from openworld.applications.estimate.quotes import Quoting, shared_size
from openworld.estimators import Alarms, Chunk, Estimate, FittedEstimator, Null, Outputs, find_alarms
from openworld.estimators.quote import Quote

YEAR = 365  # chunks in which false alarms are counted
STEPS = 1  # sizes that differ by less than a factor of 2 share what is measured, which is scaled to each
SOURCES = 100  # resampled: of so many draws jumps can be seen that come on few days of a year


def with_alarms(estimate: AccuracyEstimate, quoting: Quoting, rate: float) -> AccuracyEstimate:
    """Test chunks over time, or a target that is not cut once.

    Args:
        estimate: with an alert. quoting: how it was come to numbers. rate: of false alarms in a year, or in one test.
    Raises:
        OpenworldError: a method was named first that cannot tell an accuracy of every set like the source.
    """
    parts = estimate.chunks or (estimate.target,)
    quotes = [one.quote for one in estimate.chunks] or [estimate.quote]
    sizes = [getattr(one, "sampled", None) or one.n for one in parts]
    nulls = {size: null_of(quoting, size) for size in {shared_size(n, STEPS) for n in sizes}}
    of_chunks = [nulls[shared_size(n, STEPS)] for n in sizes]
    counts = [counted(quoting, one) for one in quotes]
    chunks = [Chunk(*one) for one in zip(counts, sizes, of_chunks, strict=True)]
    found = find_alarms(chunks, estimate.alert, rate=rate, over=YEAR if estimate.chunks else 1, seed=quoting.seed)
    alarms = [_alarm(found, place, chunk) for place, chunk in enumerate(chunks)]
    if not estimate.chunks:
        return replace(estimate, alarm=alarms[0], false_alarms=rate)
    chunks = tuple(replace(one, alarm=alarm) for one, alarm in zip(estimate.chunks, alarms, strict=True))
    return replace(estimate, chunks=chunks, false_alarms=rate)


def counted(quoting: Quoting, quote: Quote) -> float | None:
    """The accuracy that is tested; None where the method that was named first tells none, for it knows no bounds."""
    if quote.accuracy is not None or quoting.first is not None:
        return quote.accuracy
    return (quote.low + quote.high) / 2


def _alarm(found: Alarms, place: int, chunk: Chunk) -> Alarm:
    numbers = (float(one[place]) for one in (found.alone, found.lasting))
    return Alarm(chunk.accuracy, float(found.statistics[place]), found.limit, bool(found.standing[place]), *numbers)


def null_of(quoting: Quoting, n: int) -> Null:
    """What is quoted of sets of n images that are like the source."""
    for name, one in quoting.rests_on.items():
        if "partners" in one.needs and not quoting.source.partners:
            raise OpenworldError(
                f"an alert needs what {name} says of sets like the source: give its partners' scores there, too "
                "(--source-partner), or name another estimator."
            )
    found = quoting.measure({"quoted": Quoted(quoting, n)}, n, SOURCES)
    if "quoted" not in found:
        raise OpenworldError(
            f"an alert needs what {quoting.first} says of sets like the source, and of some it tells no accuracy; name "
            "another estimator first, or none."
        )
    return found["quoted"]


@dataclass(frozen=True)
class Quoted:
    """All that leads to a quote of n images, in the form of an estimator."""

    quoting: Quoting
    n: int
    source: Outputs | None = None
    fitted: Mapping[str, FittedEstimator] = field(default_factory=dict)

    def fit(self, source: Outputs) -> "Quoted":
        fitted = {name: one.fit(source) for name, one in self.quoting.rests_on.items()}
        return replace(self, source=source, fitted=fitted)

    def estimate(self, target: Outputs, *, interval: bool) -> Estimate:
        estimates = {name: one.estimate(target, interval=interval) for name, one in self.fitted.items()}
        accuracy = counted(self.quoting, self.quoting.quote(target, self.n, estimates, source=self.source))
        return Estimate.of(None if accuracy is None else 1 - accuracy)
