"""What may be quoted of a target and its periods, and which alarms stand, against sets that are like the source.

The accuracy alarm tests the least of what DoC, ATC-MC and COT read, whether a number is told or not: it sees most of
what is lost. Where other class shares explain the difference, it is the accuracy in these shares; where a method was
named first, what that one says; and where the model's confidence tells nothing, what a reference shows, or there is no
such alarm. The shift alarm tests whether images over time are still like the source's; it needs no confidence.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from math import log2
from typing import Any

import numpy as np

from openworld.core.errors import OpenworldError, present
from openworld.estimators import (
    Estimate,
    FittedEstimator,
    LabelledShift,
    LearnedShifts,
    Null,
    Outputs,
    check_reference,
    learn_from_shifts,
    measure_null,
)
from openworld.estimators.engine.checks import check_confidence
from openworld.estimators.quote.alarm import AlarmLimit, add_step, alarm_limit
from openworld.estimators.quote.decision import ALONE, NO_SHIFT, Quote, quote, readings
from openworld.estimators.quote.learned_shifts import candidates
from openworld.estimators.quote.null import SOURCES
from openworld.estimators.quote.shift_alarm import ShiftTest, fit_shift_test
from openworld.label_free.estimate.accuracy_estimate import Alarm, Range
from openworld.label_free.settings import Settings
from openworld.runs import read_spec

DECIDING = (*ALONE, "two-views")
"""The methods that the rules of a quote rest on."""

LABELLED = "labelled shifts"
"""The rule of a quote that rests on them."""

FEW_SOURCES = 8  # resampled for methods that no quote rests on
ALARM_SOURCES = 100  # and for alarms: of so many draws jumps can be seen that come on few days of a year
STEPS, ALARM_STEPS = 4, 1  # sizes that differ by less than such a root of 2 share what is measured
YEAR = 365  # periods in which false alarms are counted


@dataclass(frozen=True, eq=False)
class Measured:
    """What was measured on sets like the source, by their size; more is added when another size is met."""

    quotes: dict[int, dict[str, Null]] = field(default_factory=dict)  # by method, of those that decide
    alarms: dict[int, Null] = field(default_factory=dict)  # of all that leads to a quote
    limits: dict[int, AlarmLimit] = field(default_factory=dict)  # k and h of the accuracy alarm
    shifts: dict[int, ShiftTest] = field(default_factory=dict)  # behind the shift alarm
    others: dict[int, dict[str, Null]] = field(default_factory=dict)  # as quotes, of methods that decide nothing

    @property
    def _kept(self) -> tuple[dict, dict, dict, dict]:
        return self.quotes, self.alarms, self.limits, self.shifts

    def __len__(self) -> int:
        return sum(map(len, self._kept))

    def without(self, other: "Measured") -> "Measured":
        """Return what is not in another one."""
        kinds = zip(self._kept, other._kept, strict=True)
        return Measured(*({size: one for size, one in mine.items() if size not in theirs} for mine, theirs in kinds))

    def joined(self, other: "Measured") -> "Measured":
        """Return what is in either."""
        return Measured(*(mine | further for mine, further in zip(self._kept, other._kept, strict=True)))

    def about(self) -> dict[str, Any]:
        """Return all but the arrays, as JSON."""
        return {
            "quotes": {
                str(size): {name: null.n for name, null in sorted(nulls.items())} for size, nulls in self.quotes.items()
            },
            "alarms": {str(size): null.n for size, null in self.alarms.items()},
            "limits": {str(size): asdict(limit) for size, limit in self.limits.items()},
            "shifts": {str(size): asdict(test) for size, test in self.shifts.items()},
        }

    def arrays(self) -> Iterator[tuple[str, np.ndarray]]:
        """Yield the arrays by name."""
        for size, nulls in self.quotes.items():
            for place, name in enumerate(sorted(nulls)):
                yield f"quotes.{size}.{place}", np.stack([nulls[name].estimates, nulls[name].accuracies])
        for size, null in self.alarms.items():
            yield f"alarms.{size}", np.stack([null.estimates, null.accuracies])

    @classmethod
    def of(cls, about: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> "Measured":
        """Return what `about` and `arrays` hold."""
        quotes = {
            int(size): {
                name: Null(n, *arrays[f"quotes.{size}.{place}"]) for place, (name, n) in enumerate(sorted(part.items()))
            }
            for size, part in about["quotes"].items()
        }
        alarms = {int(size): Null(n, *arrays[f"alarms.{size}"]) for size, n in about["alarms"].items()}
        limits = {int(size): read_spec(limit, AlarmLimit) for size, limit in about["limits"].items()}
        return cls(
            quotes, alarms, limits, {int(size): read_spec(part, ShiftTest) for size, part in about["shifts"].items()}
        )


@dataclass(frozen=True, eq=False)
class Quoting:
    """Decides what may be quoted and which alarms stand; measures source-like sets of a size once."""

    source: Outputs  # with labels
    estimators: Mapping[str, Any]  # by name, all that are wanted
    settings: Settings = field(default_factory=Settings)  # what is named first is quoted; else the rules decide
    progress: Callable[[str, int], None] | None = None  # called with how many resampled sources are done
    shifts: Sequence[LabelledShift] = ()  # labelled ones to learn from
    measured: Measured = field(default_factory=Measured)
    _learned: dict[int, LearnedShifts] = field(default_factory=dict, init=False)

    @property
    def first(self) -> str | None:
        """The method to quote; None to go by the rules."""
        return next(iter(self.settings.estimators), None)

    @property
    def rests_on(self) -> dict[str, Any]:
        """The estimators of which an alert tests the least, by name."""
        names = ALONE if self.first is None else (self.first,)
        names = ("two-views",) if self.by_reference else names
        return {name: estimator for name, estimator in self.estimators.items() if name in names}

    @property
    def by_reference(self) -> bool:
        """Whether an alert tests what a reference shows, for the model's confidence tells nothing."""
        if self.first is not None or "two-views" not in self.estimators or check_confidence(self.source).tells:
            return False
        return not check_reference(self.source).reasons

    def require_testable(self) -> None:
        """Refuse an alert on a model whose confidence tells nothing, unless a reference does or a method was named."""
        check = check_confidence(self.source)
        if self.settings.alert is None or self.first is not None or check.tells or self.by_reference:
            return
        reasons = () if self.source.reference is None else check_reference(self.source).reasons
        other = f"another reference, for this one {' and '.join(reasons)}" if reasons else "a reference (`reference`)"
        raise OpenworldError(
            f"--alert tests what the model's confidence says, and {check.why}. Leave --alert out: the alarm that "
            "images over time are no longer like the source's remains, and drawn labels give the accuracy (--propose, "
            f"--labels). Or give {other}, which is tested instead."
        )

    def quote(self, target: Outputs, n: int, estimates: Mapping[str, Estimate]) -> Quote:
        """Return what may be quoted of a target of n images, of which `target` may be a sample."""
        by_rule, learned = self._by_rule(target, n, estimates), self.learned(n)
        if learned is None or learned.artificial:  # corruptions alone miss other kinds of shift too often
            return by_rule
        by_shifts = learned.quote(estimates)
        if by_shifts.accuracy is None:
            return by_rule
        if by_rule.rule == NO_SHIFT:  # the rules err less on what has not shifted; the interval covers both
            return replace(by_rule, low=min(by_rule.low, by_shifts.low), high=max(by_rule.high, by_shifts.high))
        return replace(by_shifts, signs=by_rule.signs, rule=LABELLED, tested=by_rule.tested)

    def _by_rule(self, target: Outputs, n: int, estimates: Mapping[str, Estimate]) -> Quote:
        if self.first is None:
            nulls, how = self._nulls(n, "quotes"), self.settings
            return quote(self.source, target, estimates, nulls, vouched=how.shares, seed=how.seed)
        first = estimates[self.first]
        if first.accuracy is None:
            return Quote(None, None, 0.0, 1.0, f"{self.first}, which was named first, gives none")
        low, high = first.interval or (first.accuracy, first.accuracy)
        return Quote(self.first, first.accuracy, low, high, "it was named first", tested=first.accuracy)

    def learned(self, n: int) -> LearnedShifts | None:
        """Return what labelled shifts show of sets of about n images; None without any."""
        if not self.shifts:
            return None
        size = shared_size(n)
        if size not in self._learned:
            names = candidates(self.source, self.shifts) if self.first is None else self.estimators
            wanted = {name: self.estimators[name] for name in names if name in self.estimators}
            progress = self._telling("learning from labelled shifts")
            self._learned[size] = learn_from_shifts(
                wanted, self.source, self.shifts, self._all_nulls(n), seed=self.settings.seed, progress=progress
            )
        return self._learned[size]

    def tested(self, n: int, estimates: Mapping[str, Estimate], source: float) -> float | None:
        """Return what an alert tests of sets of n images like the source, of which that has the accuracy `source`."""
        if self.first is not None or self.by_reference:
            return estimates[self.first or "two-views"].accuracy
        return min(readings(source, estimates, self._nulls(n, "quotes")).values())

    def on_source(self, n: int) -> dict[str, Range]:
        """Return what each method says of about n images of the source's kind, by name."""
        return {name: (null.mean, *null.range) for name, null in self._all_nulls(n).items()}

    def of_source(self, name: str | None, n: int) -> Range:
        """Return the same of one method, without the work for all others; None where it can tell nothing."""
        kind = "quotes" if self.first is None and name in DECIDING else "others"
        null = self._nulls(n, kind).get(name) if name else None
        return None if null is None else (null.mean, *null.range)

    def shift_test(self, n: int) -> ShiftTest:
        size, shifts = shared_size(n), self.measured.shifts
        if size not in shifts:
            rate, seed = self.settings.false_alarms, self.settings.seed
            shifts[size] = fit_shift_test(self.source, size, rate=rate, over=YEAR, seed=seed)
        return shifts[size]

    def limit(self, n: int) -> AlarmLimit:
        size, limits = shared_size(n), self.measured.limits
        if size not in limits:
            null, how = self.alarm_null(n), self.settings
            limits[size] = alarm_limit(null, size, rate=how.false_alarms, over=YEAR, seed=how.seed)
        return limits[size]

    def alarm(self, accuracy: float | None, n: int, before: float) -> Alarm | None:
        """Return the accuracy alarm after a period of n images, which stood at `before`; None without an alert."""
        return None if self.settings.alert is None else self._alarm(accuracy, n, before, self.limit(n))

    def alarm_once(self, accuracy: float | None, n: int) -> Alarm | None:
        """Return the alarm of a target that is not cut: one test, not one of 365 in a year."""
        how = self.settings
        if how.alert is None:
            return None
        limit = alarm_limit(self.alarm_null(n), n, rate=how.false_alarms, over=1, seed=how.seed)
        return self._alarm(accuracy, n, 0.0, limit)

    def _alarm(self, accuracy: float | None, n: int, before: float, limit: AlarmLimit) -> Alarm:
        alert = present(self.settings.alert, "an alert")
        ratio = add_step(before, 0.0 if accuracy is None else limit.step(accuracy, n, alert))
        falls = limit.alone(n, alert), limit.lasting(n, alert)
        return Alarm(accuracy, ratio * limit.limit, limit.limit, ratio > 1, *falls)

    def alarm_null(self, n: int) -> Null:
        """Return what is quoted of sets of about n images that are like the source."""
        size, alarms = shared_size(n, ALARM_STEPS), self.measured.alarms
        if size in alarms:
            return alarms[size]
        for name, estimator in self.rests_on.items():
            if "partners" in estimator.needs and not self.source.partners:
                raise OpenworldError(
                    f"an alert needs what {name} says of sets like the source: give its partners' scores there, too "
                    "(--source-partner), or name another estimator."
                )
        alone = replace(self, measured=Measured(quotes=dict(self.measured.quotes)))  # sizes of alarms are none of it
        nulls = self._measure({"tested": Tested(alone, size)}, size, ALARM_SOURCES)
        if "tested" not in nulls:
            raise OpenworldError(
                f"an alert needs what {self.first} says of sets like the source, and of some it gives no accuracy; "
                "name another estimator first, or none."
            )
        return alarms.setdefault(size, nulls["tested"])

    def _all_nulls(self, n: int) -> dict[str, Null]:
        return self._nulls(n, "others", *(["quotes"] if self.first is None else []))

    def _nulls(self, n: int, *kinds: str) -> dict[str, Null]:
        """Return what is `measured` of these kinds of methods; what is missing is measured on the same sets at once."""
        size, held = shared_size(n), {kind: getattr(self.measured, kind) for kind in kinds}
        missing = [kind for kind in kinds if size not in held[kind]]
        if missing:
            decides = {name: self.first is None and name in DECIDING for name in self.estimators}
            kind_of = {name: "quotes" if deciding else "others" for name, deciding in decides.items()}
            estimators = {
                name: estimator
                for name, estimator in self.estimators.items()
                if kind_of[name] in missing and ("partners" not in estimator.needs or self.source.partners)
            }
            sources = {name: SOURCES if decides[name] else FEW_SOURCES for name in estimators}
            nulls = self._measure(estimators, size, sources)
            for kind in missing:
                held[kind][size] = {name: null for name, null in nulls.items() if kind_of[name] == kind}
        return {name: null for kind in kinds for name, null in held[kind][size].items()}

    def _measure(self, estimators: Mapping[str, Any], n: int, sources: int | Mapping[str, int]) -> dict[str, Null]:
        progress = self._telling("measuring the methods on sets like the source")
        source = self.source if self.source.features is self.source.appearance is None else self._without_vectors
        return measure_null(estimators, source, n, sources=sources, seed=self.settings.seed, progress=progress)

    def _telling(self, doing: str) -> Callable[[int], None] | None:
        return None if self.progress is None else partial(self.progress, doing)

    @cached_property
    def _without_vectors(self) -> Outputs:
        """The source as estimators need it, so that no draw of images copies features."""
        return replace(self.source, features=None, appearance=None)


@dataclass(frozen=True)
class Tested:
    """What an alert tests, in the form of an estimator."""

    quoting: Quoting
    n: int
    on_source: float | None = None  # the accuracy there, as `fitted` once fitted
    fitted: Mapping[str, FittedEstimator] = field(default_factory=dict)

    def fit(self, source: Outputs) -> "Tested":
        fitted = {name: estimator.fit(source) for name, estimator in self.quoting.rests_on.items()}
        return replace(self, on_source=1 - source.mistakes / source.n, fitted=fitted)

    def estimate(self, target: Outputs, *, interval: bool) -> Estimate:
        estimates = {name: method.estimate(target, interval=interval) for name, method in self.fitted.items()}
        accuracy = self.quoting.tested(self.n, estimates, present(self.on_source, "a source to fit on"))
        return Estimate.of(None if accuracy is None else 1 - accuracy)


def shared_size(n: int, steps: int = STEPS) -> int:
    """Return the size at which all sizes near n are measured: they differ by less than the `steps`-th root of 2."""
    return round(2 ** (round(steps * log2(n)) / steps))
