"""Do we and the paper put the methods into the same order? Kendall's tau, which needs no common data."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from openworld.metrics import holm
from openworld.papers import AVERAGE, METRICS, PaperTable, PublishedNumber
from openworld.papers.results import PaperResult
from openworld.results import significant

MINIMUM = 3  # of two methods an order says next to nothing
Numbers = Sequence[PaperResult | PublishedNumber]


@dataclass(frozen=True)
class Agreement:
    """Kendall's tau-b between our order of the methods and the paper's, 1 = the same, -1 = reversed."""

    metric: str
    task: str  # like `setting` empty where methods are ordered by their average over these
    setting: str
    methods: dict[str, tuple[float, float]]  # (ours, printed), averages over either side's data sets
    tau: float | None = None  # None with a `reason` where it is not defined
    p: float | None = None
    reason: str = ""

    @property
    def n(self) -> int:
        return len(self.methods)

    @property
    def column(self) -> str:
        return self.task or self.setting

    @property
    def related(self) -> bool:
        return significant(self.p)

    @property
    def short(self) -> str:
        name = ", ".join(filter(None, (METRICS[self.metric].title, self.column)))
        return f"{name} –" if self.tau is None else f"{name} τ = {self.tau:.2f} (p {self.p:.2g}, n = {self.n})"

    @property
    def sentence(self) -> str:
        if self.tau is None:
            return f"The orders of the methods cannot be compared: {self.reason}."
        way = "agree" if self.tau > 0 else "oppose each other"
        return f"The orders of {self.n} methods {way if self.related else 'are not shown to be related'}: {self.short}."


def agreements(table: PaperTable, ours: Numbers, printed: Numbers) -> tuple[Agreement, ...]:
    """Return one per metric of the table, and per task or setting where columns are such first, over shared methods."""
    # Of each side the average over its data sets is ordered. Final ranks are the order of the Friedman ranks, and are
    # left out; so are tables whose rows are settings.
    if table.rows == "setting":
        return ()
    by_task, by_setting = "task" in table.columns, table.columns[0] == "setting"
    sides = []
    for side in (ours, printed):
        groups: dict[tuple[str, str, str], dict[str, list]] = {}
        for number in side:
            kind = (number.metric, number.task if by_task else "", number.setting if by_setting else "")
            groups.setdefault(kind, {}).setdefault(number.method, []).append(number)
        sides.append(groups)
    orders = []
    for kind in sides[1]:
        if kind in sides[0] and kind[0] != "Final_rank":
            means = [{name: mean_of(numbers) for name, numbers in side[kind].items()} for side in sides]
            pairs = {name: (value, means[1].get(name)) for name, value in means[0].items()}
            shared = {name: (a, b) for name, (a, b) in pairs.items() if a is not None and b is not None}
            orders.append(_ordered(Agreement(*kind, shared)))
    corrected = holm([order.p for order in orders])
    return tuple(replace(order, p=p) for order, p in zip(orders, corrected, strict=True))


def mean_of(numbers: Numbers) -> float | None:
    """Return one number for several of one method and metric: their average, or the mean without a source."""
    averages = [number for number in numbers if number.dataset == AVERAGE]
    chosen = averages or [number for number in numbers if number.setting != "source"]
    values = [number.number if isinstance(number, PaperResult) else number.in_data for number in chosen]
    defined = [value for value in values if value is not None]
    return round(fmean(defined), 12) if defined and len(defined) == len(values) else None


def _ordered(order: Agreement) -> Agreement:
    if order.n < MINIMUM:
        return replace(order, reason=f"fewer than {MINIMUM} methods are on both sides")
    from scipy.stats import kendalltau

    test = kendalltau(*zip(*order.methods.values(), strict=True), nan_policy="raise")
    if test.statistic != test.statistic:
        return replace(order, reason="all methods of one side are equal")
    return replace(order, tau=float(test.statistic), p=float(test.pvalue))
