"""What may be quoted of a target and of its spans, and what each method says of as many images of the source's kind."""

from collections.abc import Callable, Mapping
from functools import partial
from math import log2

from openworld.estimators import Estimate, Null, Outputs, measure_null
from openworld.estimators.null import SOURCES
from openworld.estimators.quote import ALONE, Quote, quote

ASKED = (*ALONE, "two-views")
SHOWN = 8  # resampled sources for methods that are shown only
STEPS = 4  # sizes that differ by less than the STEPS-th root of 2 share what is measured


class Quoting:
    """Decides what may be quoted; measures the methods on source-like sets of a size once.

    Args:
        source: its outputs, with labels. estimators: by name, all that are asked. first: the name of the one to quote;
            None to go by the rules. seed: of the draws. progress: told how many resampled sources were looked at.
    """

    def __init__(
        self,
        source: Outputs,
        estimators: Mapping[str, object],
        first: str | None,
        seed: int,
        progress: Callable[[str, int], None] | None,
    ):
        self.source, self.estimators, self.first, self.seed = source, estimators, first, seed
        self._told = partial(progress, "measuring the methods on sets like the source") if progress else None
        self._measured: dict[tuple[int, int], dict[str, Null]] = {}

    @property
    def rests_on(self) -> dict[str, object]:
        """The estimators that decide what is quoted, by name."""
        names = ASKED if self.first is None else (self.first,)
        return {name: one for name, one in self.estimators.items() if name in names}

    def quote(
        self, target: Outputs, n: int, estimates: Mapping[str, Estimate], *, source: Outputs | None = None
    ) -> Quote:
        """Of a target of n images, of which `target` may be a sample; the method that was named first, if one was.

        source: another one that the estimates are from, such as a resampled one.
        """
        if self.first is None:
            return quote(source or self.source, target, estimates, self._nulls(n, SOURCES, quoted=True))
        found = estimates[self.first]
        if found.accuracy is None:
            return Quote(None, None, 0.0, 1.0, f"{self.first}, which was named first, tells none")
        low, high = found.interval or (found.accuracy, found.accuracy)
        return Quote(self.first, found.accuracy, low, high, "it was named first")

    def on_source(self, n: int) -> dict[str, tuple[float, float, float]]:
        """What each method says of about n images of the source's kind, by name: mean, low, high."""
        nulls = self._nulls(n, SHOWN, quoted=False)
        if self.first is None:
            nulls = nulls | self._nulls(n, SOURCES, quoted=True)
        return {name: (one.mean, *one.range) for name, one in nulls.items()}

    def _nulls(self, n: int, sources: int, *, quoted: bool) -> dict[str, Null]:
        """Of the methods that a quote rests on, or of the others."""
        size = round(2 ** (round(STEPS * log2(n)) / STEPS))
        by_rules = self.first is None
        asked = {name: one for name, one in self.estimators.items() if (by_rules and name in ASKED) is quoted}
        of = {name: one for name, one in asked.items() if "partners" not in one.needs or self.source.partners}
        if (size, sources) not in self._measured:
            self._measured[size, sources] = self.measure(of, size, sources)
        return self._measured[size, sources]

    def measure(self, estimators: Mapping[str, object], n: int, sources: int) -> dict[str, Null]:
        """Ask estimators about sets of n images that are like the source."""
        return measure_null(estimators, self.source, n, sources=sources, seed=self.seed, told=self._told)
