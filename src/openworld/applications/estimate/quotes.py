"""What may be quoted of a target and of its spans, and what each method says of as many images of the source's kind."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import log2

from openworld.estimators import Estimate, LabelledShift, LearnedShifts, Null, Outputs, learn_from_shifts, measure_null
from openworld.estimators.quote import ALONE, Quote, no_shift_seen, quote
from openworld.estimators.quote.learned_shifts import candidates
from openworld.estimators.quote.null import SOURCES

ASKED = (*ALONE, "two-views")
SHOWN = 8  # resampled sources for methods that are shown only
STEPS = 4  # sizes that differ by less than the STEPS-th root of 2 share what is measured


class Quoting:
    """Decides what may be quoted; measures the methods on source-like sets of a size once.

    Args:
        source: its outputs, with labels. estimators: by name, all that are asked. first: the name of the one to quote;
            None to go by the rules. seed: of the draws. progress: told how many resampled sources were looked at.
        shifts: labelled shifts to learn from, if there are any.
    """

    def __init__(
        self,
        source: Outputs,
        estimators: Mapping[str, object],
        first: str | None,
        seed: int,
        progress: Callable[[str, int], None] | None,
        shifts: Sequence[LabelledShift] = (),
    ):
        self.source, self.estimators, self.first, self.seed = source, estimators, first, seed
        self._measuring = partial(progress, "measuring the methods on sets like the source") if progress else None
        self.shifts, self._learning = shifts, partial(progress, "learning from labelled shifts") if progress else None
        self._measured: dict[tuple[int, int], dict[str, Null]] = {}
        self._learned: dict[int, LearnedShifts] = {}

    @property
    def rests_on(self) -> dict[str, object]:
        """The estimators that decide what is quoted, by name."""
        names = (*(ASKED if self.first is None else (self.first,)), *self._candidates())
        return {name: one for name, one in self.estimators.items() if name in names}

    def quote(
        self, target: Outputs, n: int, estimates: Mapping[str, Estimate], *, source: Outputs | None = None
    ) -> Quote:
        """Of a target of n images, of which `target` may be a sample.

        What was learned from labelled shifts, where it can be relied on and does not rest on corruptions alone, which
        miss other kinds of shift too often; else by the rules, or the method that was named first, if one was. Where no
        shift is seen, the rules err less on what has not shifted, and the interval is widened by what was learned.

        source: another one that the estimates are from, such as a resampled one.
        """
        by_rule, learned = self._by_rule(target, n, estimates, source or self.source), self.learned(n)
        if learned is None or learned.artificial:
            return by_rule
        found = learned.quote(estimates)
        if found.accuracy is None:
            return by_rule
        if by_rule.signs is not None and no_shift_seen(by_rule.signs):
            return replace(by_rule, low=min(by_rule.low, found.low), high=max(by_rule.high, found.high))
        return replace(found, signs=by_rule.signs)

    def learned(self, n: int) -> LearnedShifts | None:
        """What labelled shifts show of sets of about n images; None without any."""
        if not self.shifts:
            return None
        size = shared_size(n)
        if size not in self._learned:
            asked = {name: self.estimators[name] for name in self._candidates()}
            self._learned[size] = learn_from_shifts(
                asked, self.source, self.shifts, self._all_nulls(n), seed=self.seed, progress=self._learning
            )
        return self._learned[size]

    def _candidates(self) -> list[str]:
        """Names of the estimators that labelled shifts choose among."""
        if not self.shifts:
            return []
        wanted = candidates(self.source, self.shifts) if self.first is None else self.estimators
        return [name for name in wanted if name in self.estimators]

    def _by_rule(self, target: Outputs, n: int, estimates: Mapping[str, Estimate], source: Outputs) -> Quote:
        if self.first is None:
            return quote(source, target, estimates, self._nulls(n, SOURCES, quoted=True))
        found = estimates[self.first]
        if found.accuracy is None:
            return Quote(None, None, 0.0, 1.0, f"{self.first}, which was named first, tells none")
        low, high = found.interval or (found.accuracy, found.accuracy)
        return Quote(self.first, found.accuracy, low, high, "it was named first")

    def on_source(self, n: int) -> dict[str, tuple[float, float, float]]:
        """What each method says of about n images of the source's kind, by name: mean, low, high."""
        return {name: (one.mean, *one.range) for name, one in self._all_nulls(n).items()}

    def one_on_source(self, name: str | None, n: int) -> tuple[float, float, float] | None:
        """The same of one method, without asking all others; None for none, and where it can tell nothing."""
        quoted = self.first is None and name in ASKED
        null = self._nulls(n, SOURCES if quoted else SHOWN, quoted=quoted).get(name) if name else None
        return None if null is None else (null.mean, *null.range)

    def _all_nulls(self, n: int) -> dict[str, Null]:
        nulls = self._nulls(n, SHOWN, quoted=False)
        return nulls if self.first is not None else nulls | self._nulls(n, SOURCES, quoted=True)

    def _nulls(self, n: int, sources: int, *, quoted: bool) -> dict[str, Null]:
        """Of the methods that a quote rests on, or of the others."""
        size = shared_size(n)
        by_rules = self.first is None
        asked = {name: one for name, one in self.estimators.items() if (by_rules and name in ASKED) is quoted}
        of = {name: one for name, one in asked.items() if "partners" not in one.needs or self.source.partners}
        if (size, sources) not in self._measured:
            self._measured[size, sources] = self.measure(of, size, sources)
        return self._measured[size, sources]

    def measure(self, estimators: Mapping[str, object], n: int, sources: int) -> dict[str, Null]:
        """Ask estimators about sets of n images that are like the source."""
        return measure_null(estimators, self.source, n, sources=sources, seed=self.seed, progress=self._measuring)


def shared_size(n: int, steps: int = STEPS) -> int:
    """The size at which all sizes near n are measured: they differ by less than the `steps`-th root of 2.

    >>> shared_size(500), shared_size(500, 1)
    (512, 512)
    """
    return round(2 ** (round(steps * log2(n)) / steps))
