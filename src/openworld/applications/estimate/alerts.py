"""The alert as a test: what is quoted of a target or its chunks, against what is quoted of sets like the source.

Rules jump where one ends and the next begins, so not a single method is measured on source-like sets but all that is
done to come to a number. Where the accuracy cannot be told, the middle of its bounds counts.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from openworld._errors import OpenworldError
from openworld.applications.estimate.accuracy_estimate import AccuracyEstimate, Alarm
from openworld.applications.estimate.quotes import Quoting, shared_size
from openworld.estimators import Chunk, Estimate, FittedEstimator, Null, Outputs, find_alarms
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
    whole = not estimate.chunks
    sizes = [estimate.target.n] if whole else [chunk.sampled or chunk.n for chunk in estimate.chunks]
    quotes = [estimate.quote] if whole else [chunk.quote for chunk in estimate.chunks]
    nulls = {size: null_of(quoting, size) for size in {shared_size(n, STEPS) for n in sizes}}
    tested = [
        Chunk(counted(quoting, quote), n, nulls[shared_size(n, STEPS)]) for quote, n in zip(quotes, sizes, strict=True)
    ]
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


def counted(quoting: Quoting, quote: Quote) -> float | None:
    """Return the accuracy that is tested; None where the method that was named first has none, for it has no bounds."""
    if quote.accuracy is not None or quoting.first is not None:
        return quote.accuracy
    return (quote.low + quote.high) / 2


def null_of(quoting: Quoting, n: int) -> Null:
    """Return what is quoted of sets of n images that are like the source."""
    for name, estimator in quoting.rests_on.items():
        if "partners" in estimator.needs and not quoting.source.partners:
            raise OpenworldError(
                f"an alert needs what {name} says of sets like the source: give its partners' scores there, too "
                "(--source-partner), or name another estimator."
            )
    nulls = quoting.measure({"quoted": Quoted(quoting, n)}, n, SOURCES)
    if "quoted" not in nulls:
        raise OpenworldError(
            f"an alert needs what {quoting.first} says of sets like the source, and of some it tells no accuracy; name "
            "another estimator first, or none."
        )
    return nulls["quoted"]


@dataclass(frozen=True)
class Quoted:
    """All that leads to a quote of n images, in the form of an estimator."""

    quoting: Quoting
    n: int
    source: Outputs | None = None
    fitted: Mapping[str, FittedEstimator] = field(default_factory=dict)

    def fit(self, source: Outputs) -> "Quoted":
        fitted = {name: estimator.fit(source) for name, estimator in self.quoting.rests_on.items()}
        return replace(self, source=source, fitted=fitted)

    def estimate(self, target: Outputs, *, interval: bool) -> Estimate:
        estimates = {name: method.estimate(target, interval=interval) for name, method in self.fitted.items()}
        accuracy = counted(self.quoting, self.quoting.quote(target, self.n, estimates, source=self.source))
        return Estimate.of(None if accuracy is None else 1 - accuracy)
