"""What may be quoted of a target and its chunks, and what each method says of as many images of the source's kind."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import log2

from openworld.applications.estimate.accuracy_estimate import Range
from openworld.estimators import (
    Estimate,
    LabelledShift,
    LearnedShifts,
    Null,
    Outputs,
    check_reference,
    learn_from_shifts,
    measure_null,
)
from openworld.estimators.engine.confidence_check import check_confidence
from openworld.estimators.quote import ALONE, NO_SHIFT, Quote, quote, readings
from openworld.estimators.quote.learned_shifts import candidates
from openworld.estimators.quote.null import SOURCES

DECIDING = (*ALONE, "two-views")
"""The methods that the rules of a quote rest on."""

LABELLED = "labelled shifts"
"""The rule of a quote that rests on them."""

FEW_SOURCES = 8  # resampled for methods that no quote rests on
STEPS = 4  # sizes that differ by less than the STEPS-th root of 2 share what is measured


@dataclass(frozen=True, eq=False)
class Quoting:
    """Decides what may be quoted; measures the methods on source-like sets of a size once."""

    source: Outputs  # with labels
    estimators: Mapping[str, object]  # by name, all that are wanted
    first: str | None = None  # the one to quote; None to go by the rules
    seed: int = 0
    progress: Callable[[str, int], None] | None = None  # called with how many resampled sources are done
    shifts: Sequence[LabelledShift] = ()  # labelled ones to learn from
    vouched: str = "unknown"  # what somebody knows of the class shares, one of `SHARES`
    measured: dict[tuple[int, bool], dict[str, Null]] = field(default_factory=dict)  # by size, and if rules need it
    _learned: dict[int, LearnedShifts] = field(default_factory=dict, init=False)

    @property
    def rests_on(self) -> dict[str, object]:
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

    def learned(self, n: int) -> LearnedShifts | None:
        """Return what labelled shifts show of sets of about n images; None without any."""
        if not self.shifts:
            return None
        size = shared_size(n)
        if size not in self._learned:
            names = candidates(self.source, self.shifts) if self.first is None else self.estimators
            wanted = {name: self.estimators[name] for name in names if name in self.estimators}
            progress = self._progress("learning from labelled shifts")
            self._learned[size] = learn_from_shifts(
                wanted, self.source, self.shifts, self._all_nulls(n), seed=self.seed, progress=progress
            )
        return self._learned[size]

    def _by_rule(self, target: Outputs, n: int, estimates: Mapping[str, Estimate]) -> Quote:
        if self.first is None:
            return quote(
                self.source, target, estimates, self._nulls(n, deciding=True), vouched=self.vouched, seed=self.seed
            )
        first = estimates[self.first]
        if first.accuracy is None:
            return Quote(None, None, 0.0, 1.0, f"{self.first}, which was named first, tells none")
        low, high = first.interval or (first.accuracy, first.accuracy)
        return Quote(self.first, first.accuracy, low, high, "it was named first", tested=first.accuracy)

    def tested(self, n: int, estimates: Mapping[str, Estimate], source: float) -> float | None:
        """Return what an alert tests of sets of n images like the source, of which that has the accuracy `source`."""
        if self.first is not None or self.by_reference:
            return estimates[self.first or "two-views"].accuracy
        return min(readings(source, estimates, self._nulls(n, deciding=True)).values())

    def on_source(self, n: int) -> dict[str, Range]:
        """Return what each method says of about n images of the source's kind, by name."""
        return {name: (null.mean, *null.range) for name, null in self._all_nulls(n).items()}

    def of_source(self, name: str | None, n: int) -> Range:
        """Return the same of one method, without the work for all others; None where it can tell nothing."""
        null = self._nulls(n, deciding=self.first is None and name in DECIDING).get(name) if name else None
        return None if null is None else (null.mean, *null.range)

    def _all_nulls(self, n: int) -> dict[str, Null]:
        if self.first is not None:
            return self._nulls(n, deciding=False)
        self._measure(shared_size(n), (False, True))
        return self._nulls(n, deciding=False) | self._nulls(n, deciding=True)

    def _nulls(self, n: int, *, deciding: bool) -> dict[str, Null]:
        """Return those of the methods that the rules rest on, or of the others."""
        size = shared_size(n)
        self._measure(size, (deciding,))
        return self.measured[size, deciding]

    def _measure(self, size: int, kinds: Sequence[bool]) -> None:
        """Measure what is missing of the deciding methods and of the others, on the same sets at once."""
        missing = [deciding for deciding in kinds if (size, deciding) not in self.measured]
        if not missing:
            return
        kind = {name: self.first is None and name in DECIDING for name in self.estimators}
        estimators = {
            name: estimator
            for name, estimator in self.estimators.items()
            if kind[name] in missing and ("partners" not in estimator.needs or self.source.partners)
        }
        sources = {name: SOURCES if kind[name] else FEW_SOURCES for name in estimators}
        nulls = self.measure(estimators, size, sources)
        for deciding in missing:
            self.measured[size, deciding] = {name: null for name, null in nulls.items() if kind[name] is deciding}

    def measure(self, estimators: Mapping[str, object], n: int, sources: int | Mapping[str, int]) -> dict[str, Null]:
        """Return what estimators say of sets of n images that are like the source."""
        progress = self._progress("measuring the methods on sets like the source")
        source = self.source if self.source.features is self.source.appearance is None else self._without_vectors
        return measure_null(estimators, source, n, sources=sources, seed=self.seed, progress=progress)

    @cached_property
    def _without_vectors(self) -> Outputs:
        """The source as estimators need it, so that no draw of images copies features."""
        return replace(self.source, features=None, appearance=None)

    def _progress(self, doing: str) -> Callable[[int], None] | None:
        return self.progress and partial(self.progress, doing)


def shared_size(n: int, steps: int = STEPS) -> int:
    """Return the size at which all sizes near n are measured: they differ by less than the `steps`-th root of 2."""
    return round(2 ** (round(steps * log2(n)) / steps))
