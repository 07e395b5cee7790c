"""Do we and the paper put the methods into the same order? Kendall's tau, which needs no common data."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from openworld.metrics import holm
from openworld.papers import METRICS, PaperTable, PublishedNumber
from openworld.papers.results import PaperResult
from openworld.reproduction.comparison.cells import summary
from openworld.results import significant

MINIMUM = 3  # of two methods an order says next to nothing


@dataclass(frozen=True)
class Agreement:
    """Kendall's tau-b between our order of `n` methods and the paper's, 1 = the same, -1 = reversed.

    None with a `reason` where it is not defined. `p` is two-sided, of the hypothesis of unrelated orders,
    corrected over the table's metrics (Holm). `task` and `setting` are empty where methods are ordered by their average
    over these.
    """

    metric: str
    task: str
    tau: float | None
    p: float | None
    n: int
    reason: str = ""
    setting: str = ""

    @property
    def sentence(self) -> str:
        """One sentence.

        >>> print(Agreement("HM", "", 0.8, 0.03, 6).sentence)
        HM: the two orders of 6 methods agree, τ = 0.80 (p 0.03).
        """
        if self.tau is None:
            return f"{self._name}: the orders cannot be compared, {self.reason}."
        related = "agree" if self.tau > 0 else "oppose each other"
        verdict = related if self.related else "are not shown to be related"
        return f"{self._name}: the two orders of {self.n} methods {verdict}, {self._numbers})."

    @property
    def short(self) -> str:
        """The same in a few words."""
        return f"{self._name} –" if self.tau is None else f"{self._name} {self._numbers}, n = {self.n})"

    @property
    def related(self) -> bool:
        """Whether the two orders are shown to have to do with one another."""
        return significant(self.p)

    @property
    def _numbers(self) -> str:
        return f"τ = {self.tau:.2f} (p {self.p:.2g}".replace("-", "\u2212", 1)

    @property
    def column(self) -> str:
        """The task or setting that it is of; empty where it is of their average."""
        return self.task or self.setting

    def is_of(self, number: PaperResult | PublishedNumber) -> bool:
        """Whether a number is one of those that are ordered."""
        return number.metric == self.metric and self.task in ("", number.task) and self.setting in ("", number.setting)

    @property
    def _name(self) -> str:
        return ", ".join(filter(None, (METRICS[self.metric].title, self.column)))


def agreements(
    table: PaperTable, ours: Sequence[PaperResult], printed: Sequence[PublishedNumber]
) -> tuple[Agreement, ...]:
    """One per metric of the table, and per task or setting where columns are such first, over the methods of both.

    Of each side the average over its data sets is ordered. Final ranks are the order of the Friedman ranks, and are
    left out; so are tables whose rows are settings.
    """
    if table.rows == "setting":
        return ()
    by_task, by_setting = "task" in table.columns, table.columns[0] == "setting"
    sides = [
        {(number.metric, number.task if by_task else "", number.setting if by_setting else ""): None for number in side}
        for side in (printed, ours)
    ]
    kinds = [kind for kind in sides[0] if kind in sides[1] and kind[0] != "Final_rank"]
    orders = [_agreement(Agreement(kind[0], kind[1], None, None, 0, setting=kind[2]), ours, printed) for kind in kinds]
    corrected = holm([agreement.p for agreement in orders])
    return tuple(replace(agreement, p=p) for agreement, p in zip(orders, corrected, strict=True))


def both_sides(
    agreement: Agreement, ours: Sequence[PaperResult], printed: Sequence[PublishedNumber]
) -> dict[str, tuple[float, float]]:
    """{method: (ours, printed)} that is ordered, averages over either side's data sets, for the methods of both."""
    sides = [_by_method([number for number in side if agreement.is_of(number)]) for side in (ours, printed)]
    return {name: (value, sides[1][name]) for name, value in sides[0].items() if name in sides[1]}


def _agreement(agreement: Agreement, ours: Sequence[PaperResult], printed: Sequence[PublishedNumber]) -> Agreement:
    """Return the agreement with its numbers."""
    methods = both_sides(agreement, ours, printed)
    agreement = replace(agreement, n=len(methods))
    if len(methods) < MINIMUM:
        return replace(agreement, reason=f"fewer than {MINIMUM} methods are on both sides")
    from scipy.stats import kendalltau

    test = kendalltau(*zip(*methods.values(), strict=True), nan_policy="raise")
    tau, p = float(test.statistic), float(test.pvalue)
    if tau != tau:
        return replace(agreement, reason="all methods of one side are equal")
    return replace(agreement, tau=tau, p=p)


def _by_method(numbers: Sequence[PaperResult | PublishedNumber]) -> dict[str, float]:
    groups: dict[str, list] = {}
    for number in numbers:
        groups.setdefault(number.method, []).append(number)
    values = {method: summary(group) for method, group in groups.items()}
    return {method: round(value, 12) for method, value in values.items() if value is not None}
