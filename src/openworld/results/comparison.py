"""Differences that were tested: a minus b, with interval and p-value; all of one family corrected together (Holm)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated

from openworld.core.arrays import LARGEST, MANY
from openworld.core.errors import OpenworldError
from openworld.core.types import Count, Range, checked
from openworld.metrics import PairedTest, holm
from openworld.metrics.estimate import SIGNIFICANCE
from openworld.results.value import SHARES, Interval, Metric, interval_of

MARGIN = 0.01
"""Shares that are shown to be no further apart than this, one point, are called equivalent."""


@checked
def significant(p: float | None) -> bool:
    """Whether a p-value, after its correction, shows a difference; never where nothing was tested."""
    _require_p_value("p", p)
    return p is not None and p < SIGNIFICANCE


def _require_p_value(name: str, p: float | None) -> None:
    if p is not None and not 0 <= p <= 1:
        raise OpenworldError(f"{name} is {p}, expected a p-value in [0, 1], or None where nothing was tested.")


@checked
@dataclass(frozen=True)
class Comparison:
    """`entity` minus `other` in a metric, under the same conditions.

    Args:
        entity, other: learners, detectors, runs, ...
        metric: which number; it says which way is better.
        difference: in the unit of data; None where it is not defined.
        p: two-sided, after Holm's correction over the family; None where nothing could be tested.
        reason: why p is None.
        interval: of the difference, not corrected.
        where: what else tells it apart, as for a `Result`.
        shared: on how many images both were scored, where either was scored on others too.
        equivalence_p: of the two being no further apart than `margin` (two one-sided tests), after Holm's correction
            over the family; None where that is not tested, as of what is no share.
        margin: in the unit of data.
    """

    entity: str
    other: str
    metric: Metric
    difference: float | None
    p: float | None = None
    reason: str = ""
    interval: Interval | None = None
    where: Mapping[str, str | int | float] = field(default_factory=dict)
    shared: Count | None = None
    equivalence_p: float | None = None
    margin: Annotated[float, Range(0, LARGEST)] = MARGIN

    def __post_init__(self) -> None:
        _require_p_value("p", self.p)
        _require_p_value("equivalence_p", self.equivalence_p)

    @property
    def equivalent(self) -> bool:
        """Whether the two are shown to be no further apart than `margin`."""
        return significant(self.equivalence_p)

    @property
    def differs(self) -> bool:
        """Whether a difference is shown."""
        return significant(self.p) and bool(self.difference)

    @property
    def better(self) -> bool:
        """Whether `entity` is shown to be better."""
        return self.differs and (self.difference or 0) * self.metric.better > 0

    @property
    def worse(self) -> bool:
        """Whether `entity` is shown to be worse."""
        return self.differs and (self.difference or 0) * self.metric.better < 0

    @property
    def p_text(self) -> str:
        """The p-value as papers write it, kept on one line.

        >>> from openworld.results import METRICS
        >>> Comparison("GMoP", "CoOp", METRICS["openworld_auc"], 0.1, 0.031).p_text
        'p\xa0.03'
        """
        return self._write_p(self.p)

    def _write_p(self, p: float | None) -> str:
        if p is None:
            return "not tested"
        shared = f" on {self.shared:,} shared images" if self.shared else ""
        if p < 0.001:
            return f"p\u00a0<\u00a0.001{shared}"
        return "p\u00a0" + f"{p:.{3 if p < 0.01 else 2}f}".removeprefix("0") + shared

    @property
    def verdict(self) -> str:
        """In short, where the other is named elsewhere: which is better, or which of the two is known if none is.

        >>> from openworld.results import METRICS
        >>> Comparison("GMoP", "CoOp", METRICS["openworld_auc"], 0.1, 0.031).verdict
        'better, p\xa0.03'
        >>> Comparison("GMoP", "CoOp", METRICS["openworld_auc"], 0.001, 0.62, equivalence_p=0.004).verdict
        'equivalent ±1.0, p\xa0.004'
        """
        if self.p is None or self.differs:
            return self.p_text if self.p is None else f"{self._way}, {self.p_text}"
        if self.equivalent:
            return f"equivalent ±{self.margin_text}, {self._write_p(self.equivalence_p)}"
        return f"not significant, {self.p_text}"

    @property
    def sentence(self) -> str:
        """Better or worse than the other, equivalent to it, or not significantly different at this number of images.

        >>> from openworld.results import METRICS
        >>> Comparison("GMoP", "CoOp", METRICS["openworld_auc"], 0.1, 0.31).sentence
        'not significantly different from CoOp (p\xa0.31)'
        """
        if self.p is None:
            return f"cannot be tested against {self.other}: {self.reason}"
        if self.differs:
            return f"{self._way} than {self.other} ({self.p_text})"
        if self.equivalent:
            return f"equivalent to {self.other} within {self.margin_text} ({self._write_p(self.equivalence_p)})"
        return f"not significantly different from {self.other} ({self.p_text})"

    @property
    def margin_text(self) -> str:
        """The margin as it is printed: in points, of shares."""
        return self.metric.write(self.margin)

    @property
    def _way(self) -> str:
        if not self.differs or self.difference is None:
            return ""
        if not self.metric.better:
            return "higher" if self.difference > 0 else "lower"
        return "better" if self.better else "worse"

    def reversed(self) -> "Comparison":
        """Return the same test from the other's side."""
        difference = None if self.difference is None else -self.difference
        turned = self.interval and replace(self.interval, low=-self.interval.high, high=-self.interval.low)
        return replace(self, entity=self.other, other=self.entity, difference=difference, interval=turned)


@checked
def comparison_of(
    entity: str,
    other: str,
    metric: Metric,
    test: PairedTest,
    *,
    over: str = "images",
    where: Mapping[str, str | int | float] | None = None,
    shared: Count | None = None,
    margin: Annotated[float, Range(0, LARGEST)] = MARGIN,
) -> Comparison:
    """A test of `openworld.metrics` as a Comparison, not corrected yet; `over`: what was drawn in the test."""
    intervals = interval_of(test.interval(), over)
    first = intervals[0] if intervals else None
    equivalence = test.equivalence(margin) if metric.unit in SHARES else None
    reason = test.reason or ""
    return Comparison(
        entity, other, metric, test.difference, test.p_value, reason, first, where or {}, shared, equivalence, margin
    )


@checked
def correct_for_many(
    comparisons: Iterable[Comparison], among: Annotated[int, Range(0, MANY)] = 0
) -> tuple[Comparison, ...]:
    """Correct the p-values together (Holm, 1979): those of differing as one family, of equivalence too.

    Args:
        comparisons: that were made. among: of how many that could have been, where these were chosen by the numbers
            themselves: no correction is smaller than if all had been made.

    >>> from openworld.results import METRICS
    >>> pairs = [Comparison("a", other, METRICS["accuracy"], 0.1, p) for other, p in (("b", 0.01), ("c", 0.03))]
    >>> [pair.p for pair in correct_for_many(pairs)]
    [0.02, 0.03]
    """
    family = tuple(comparisons)
    others = [1.0] * (among - len(family))  # those that were not made, as if they showed nothing
    differing, equivalent = (
        holm([*(getattr(test, name) for test in family), *others])[: len(family)] for name in ("p", "equivalence_p")
    )
    corrected = zip(family, differing, equivalent, strict=True)
    return tuple(replace(test, p=p, equivalence_p=equivalence) for test, p, equivalence in corrected)
