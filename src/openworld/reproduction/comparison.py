"""A table of a paper with our numbers beside the printed ones: printed number + our number + interval -> cell -> table.

On the paper's own data every cell holds our number, the printed one and their difference, tested over our seeds. On
other data the same layout holds our numbers with the printed averages beside them: then only the orders of the methods
are compared, because numbers on different data are not to be subtracted.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import hypot
from statistics import fmean, median

from openworld.core.arrays import require_fraction
from openworld.core.errors import unknown_name
from openworld.metrics import seeds_test_against_summary
from openworld.papers.numbers import (
    AVERAGE,
    AVERAGED,
    METRICS,
    MODELS,
    PRINTED_SEEDS,
    PaperTable,
    PublishedNumber,
    about_ours,
    misprints_of,
    paper_table,
    printed_deviations,
    published_numbers,
)
from openworld.papers.results import PaperResult
from openworld.reproduction.orders import Agreement, agreements, mean_of
from openworld.results import Comparison, comparison_of, correct_for_many
from openworld.results.comparison import MARGIN

SHOWS = ("interval", "deviation")
AXES = ("task", "method", "dataset", "setting")
SAME_MEAN = 1e-9  # a mean over seeds is tested only where it is the number itself
SIZES, TIMES, RANKS = ("n_params", "n_params_thousand"), ("inference_time_s",), ("Friedman_rank", "Final_rank")


@dataclass(frozen=True)
class PaperColumn:
    """A column: its metric, and its value on the axes that columns differ in; empty on the others."""

    metric: str
    task: str = ""
    method: str = ""
    dataset: str = ""
    setting: str = ""
    printed_only: bool = False  # the paper's average or its only number, where ours are on other data


@dataclass(frozen=True)
class CellPair:
    """One cell: our number, the printed one in the unit of data, or one of the two."""

    ours: PaperResult | None  # None where the method was not run
    printed: float | None  # None where the paper has no such number
    deviation: float | None = None  # of the printed number, in the unit of data; None where none is printed
    # Ours minus the printed one, over our seeds and the printed deviation (Welch's t; a number that is printed without
    # one is taken as exact), corrected over the table; None where the two are not of the same thing.
    test: Comparison | None = None

    @property
    def difference(self) -> float | None:
        return None if self.test is None else self.test.difference

    @property
    def tested(self) -> bool:
        return self.test is not None and self.test.p is not None

    @property
    def verdict(self) -> str:
        """Return whether it is reproduced within the margin, else higher or lower, or neither; "" where untested."""
        if self.ours is None or self.test is None or self.test.p is None:
            return ""
        if self.test.equivalent:
            return f"reproduced within {self.test.margin_text}"
        if not self.test.differs:
            return f"undecided at n = {len(self.ours.per_seed)} seeds"
        return "higher than printed" if (self.difference or 0) > 0 else "lower than printed"


Key = tuple[str, PaperColumn]  # row and column


@dataclass(frozen=True, eq=False)
class PaperComparison:
    """A table of a paper and our numbers of it."""

    table: PaperTable
    same_data: bool
    rows: tuple[str, ...]
    columns: tuple[PaperColumn, ...]
    pairs: Mapping[Key, CellPair]
    agreements: tuple[Agreement, ...]
    ours: tuple[PaperResult, ...]
    printed: tuple[PublishedNumber, ...]  # those that our averages are compared with
    remarks: tuple[str, ...] = ()
    show: str = "interval"

    @property
    def backbones(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(number.backbone for number in self.ours if number.backbone))

    @property
    def datasets(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for number in self.ours for name in number.datasets))

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods that have a row, or, where rows are none, a number of ours."""
        return self.rows if self.table.rows == "method" else tuple(dict.fromkeys(number.method for number in self.ours))

    @property
    def verdicts(self) -> tuple[int, int, int, int, int]:
        """Count numbers that are reproduced, higher than printed, lower, undecided, and not tested."""
        ways = Counter(pair.verdict.partition(" ")[0] for pair in self.pairs.values() if pair.difference is not None)
        return ways["reproduced"], ways["higher"], ways["lower"], ways["undecided"], ways[""]

    @property
    def sentences(self) -> tuple[str, ...]:
        if not self.table.printed:
            overall = "Ours stand alone: the printed numbers of this table are missing from the text that is published."
        elif self.same_data:
            overall = self._compared
        else:
            overall = f"Ours are of other data ({'; '.join(self.datasets)}): they are not to be subtracted."
        models = f"Ours with backbone {' and '.join(self.backbones) or 'unknown'}, the paper's with "
        about = about_ours(self.table.paper, self.table.number)
        orders = dict.fromkeys(order.sentence for order in self.agreements)
        return (f"{overall} {models}{MODELS[self.table.paper]}.", *self.remarks, *orders, *about)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is known to be wrong with the printed table."""
        return tuple(misprint.what for misprint in misprints_of(self.table.paper, self.table.number))

    @property
    def _compared(self) -> str:
        pairs = [pair for pair in self.pairs.values() if pair.difference is not None]
        by_metric: dict[str, list[float]] = {}
        for pair in pairs:
            if pair.ours is not None and pair.difference is not None:
                by_metric.setdefault(pair.ours.metric, []).append(abs(pair.difference))
        if not pairs:
            return "Nothing is subtracted: times are of other machines, ranks among other methods."
        reproduced, higher, lower, undecided, untested = self.verdicts
        tests = [pair.test for pair in pairs if pair.test is not None and pair.tested]
        margin = f" within {tests[0].margin_text} points" if tests else ""
        printed = sum(pair.tested and pair.deviation is not None for pair in pairs)
        sizes = {METRICS[metric]: median(differences) for metric, differences in by_metric.items()}
        medians = ", ".join(f"{metric.title} {metric.write(size, 1)}" for metric, size in sizes.items())
        return (
            f"Of {len(pairs)} numbers, {reproduced} are reproduced{margin}, {higher} are higher than printed, {lower} "
            f"lower, {undecided} undecided, {untested} not tested (Welch's t over our seeds, {printed} with a printed "
            f"deviation; Holm over {len(tests)}). The median size of a difference: {medians}."
        )


def compare_with_paper(
    paper: str,
    table: str,
    ours: Sequence[PaperResult],
    *,
    remarks: Sequence[str] = (),
    margin: float = MARGIN,  # fraction; a share that is shown to be no further from the printed one is reproduced
    show: str = "interval",  # behind ours: the 95 % "interval", or the "deviation" over seeds with ±, as papers have it
) -> PaperComparison:
    """Put our numbers of a table, as `paper_results` reads them, beside the printed ones."""
    if show not in SHOWS:
        raise unknown_name("show", show, SHOWS)
    require_fraction(margin=margin)
    wanted, printed = paper_table(paper, table), published_numbers(paper, table)
    measured = {name for number in ours for name in number.datasets}
    same = bool(measured & {*wanted.datasets})
    numbers = _Numbers(wanted, ours, printed, margin)
    pairs = dict(numbers.same_data() if same else numbers.other_data())
    tests = {at: pair.test for at, pair in pairs.items() if pair.test}
    corrected = dict(zip(tests, correct_for_many(tests.values()), strict=True))
    pairs = {at: replace(pair, test=corrected.get(at)) for at, pair in pairs.items()}

    every = {number.dataset for number in printed} - {"", AVERAGE}
    alike = [number for number in printed if not same or measured >= every or number.dataset in measured]
    names = dict.fromkeys(getattr(number, wanted.rows) for number in (*printed, *ours))
    filled = {row for row, _ in pairs}
    return PaperComparison(
        table=wanted,
        same_data=same,
        rows=tuple(sorted((row for row in names if row in filled), key=lambda row: row == AVERAGE)),
        columns=numbers.in_order(pairs),
        pairs=pairs,
        agreements=agreements(wanted, ours, alike),
        ours=tuple(ours),
        printed=tuple(alike),
        remarks=tuple(remarks),
        show=show,
    )


class _Numbers:
    """The numbers of both sides, and where each of them stands in the table."""

    def __init__(self, table: PaperTable, ours: Sequence[PaperResult], printed: Sequence, margin: float) -> None:
        # Columns differ in what the table's do, and in what else differs among ours, which may be on more data sets.
        also = {axis for axis in ("dataset", "method") if len({getattr(number, axis) for number in ours}) > 1}
        self.axes = [axis for axis in AXES if axis != table.rows and axis in {*table.columns, *also}]
        self.table, self.ours, self.printed, self.margin = table, ours, printed, margin
        self.by_key = {self.key(number): number for number in printed}
        self.known_deviations = printed_deviations(table.paper)

    def key(self, number: PaperResult | PublishedNumber) -> Key:
        column = PaperColumn(number.metric, **{axis: getattr(number, axis) for axis in self.axes})
        return getattr(number, self.table.rows), column

    def deviation(self, numbers: Sequence[PublishedNumber]) -> float | None:
        """Deviation of a printed number, or of the mean of several that were trained by themselves; None: unknown."""
        every = [self.known_deviations.get(number.same_number) for number in numbers]
        parts = [part for part in every if part is not None]
        if not parts or len(parts) < len(every) or (len(parts) > 1 and self.table.paper not in PRINTED_SEEDS):
            return None
        return hypot(*parts) / len(parts)

    def same_data(self) -> Iterator[tuple[Key, CellPair]]:
        """The paper's columns as far as we measured them; in them every printed number, run by us or not."""
        averaged = any(number.dataset == AVERAGE for number in self.printed)
        ours = {self.key(number): number for number in self.ours if averaged or number.dataset != AVERAGE}
        columns = {column: number for (_, column), number in reversed(ours.items())}
        for row, column in [*ours, *(key for key in self.by_key if key[1] in columns and key not in ours)]:
            number = ours.get((row, column))
            of_all = number is None and self.table.rows == "dataset"
            datasets = self.table.datasets if of_all else (number or columns[column]).datasets
            yield (row, column), self._pair(number, *self._printed_like(row, column, datasets))

    def _printed_like(self, row: str, column: PaperColumn, datasets: Sequence[str]) -> tuple:
        """Return the printed number, its deviation, and whether it is of the same data."""
        # Of an average over some of the paper's data sets it is the mean of their rows.
        exact, by_rows = self.by_key.get((row, column)), self.table.rows == "dataset"
        dataset = row if by_rows else column.dataset
        if dataset and dataset != AVERAGE:
            return (exact.in_data, self.deviation([exact]), True) if exact else (None, None, False)
        listed = [number for number in self.printed if dataset and number.dataset not in ("", AVERAGE)]
        averaged = AVERAGED[column.task][1] if column.task else self.table.datasets
        whole = {number.dataset for number in listed} or {*averaged}
        parts = []
        for number in listed:
            at, of = self.key(number)
            alike = of == column if by_rows else (at, of.metric) == (row, column.metric)
            parts += [number] if alike and number.dataset in datasets else []
        of_parts = self.deviation(parts)
        if listed and {*datasets} != whole:
            return fmean(number.in_data for number in parts) if parts else None, of_parts, True
        if exact is None:
            return None, None, False
        deviation = self.deviation([exact])
        return exact.in_data, of_parts if deviation is None else deviation, {*datasets} == whole

    def _pair(self, ours: PaperResult | None, printed: float | None, deviation: float | None, alike: bool) -> CellPair:
        """Both numbers, tested if they are of the same thing (Welch's t of our seeds against the printed mean)."""
        # Seconds are of different machines, ranks of different fields unless the methods are the same. Numbers of
        # parameters hardly depend on the data: those measured on any of the paper's data sets are compared.
        if ours is None or printed is None or ours.number is None or ours.metric in TIMES:
            return CellPair(ours, printed, deviation)
        same_methods = {number.method for number in self.ours} == {number.method for number in self.printed}
        if not (alike or ours.metric in SIZES) or (ours.metric in RANKS and not same_methods):
            return CellPair(ours, printed, deviation)

        metric, difference = METRICS[ours.metric], ours.number - printed
        where = {"dataset": ours.dataset, "setting": ours.setting, "task": ours.task}
        seeds = PRINTED_SEEDS.get(self.table.paper)
        test = seeds_test_against_summary(ours.per_seed, printed, *((deviation, seeds) if seeds and deviation else ()))
        reason = ""
        if test.difference is None:
            reason = "there are no seeds"
        elif abs(test.difference - difference) > SAME_MEAN * max(1.0, abs(ours.number)):
            reason = "the number is not the mean of its seeds"
        if reason:
            tested = Comparison(ours.method, "printed", metric, difference, reason=reason, where=where)
        else:
            tested = comparison_of(ours.method, "printed", metric, test, over="seeds", margin=self.margin, where=where)
        return CellPair(ours, printed, deviation, replace(tested, difference=difference))

    def other_data(self) -> Iterator[tuple[Key, CellPair]]:
        """Our cells; printed averages stand beside them, or in columns of their own where ours has none."""
        found = [(self.key(number), number, self.by_key.get(self.key(number))) for number in self.ours]
        for key, number, like in found:
            yield key, CellPair(number, like.in_data, self.deviation([like])) if like else CellPair(number, None)
        if any(like for _, _, like in found):
            return
        groups: dict[Key, list[PublishedNumber]] = {}
        for number in self.printed:
            setting = number.setting if self.table.columns[0] == "setting" else ""
            column = PaperColumn(number.metric, setting=setting, printed_only=True)
            groups.setdefault((getattr(number, self.table.rows), column), []).append(number)
        rows = {row for (row, _), _, _ in found}
        for key, numbers in groups.items():
            if key[0] in rows and (average := mean_of(numbers)) is not None:
                yield key, CellPair(None, average)

    def in_order(self, pairs: Mapping[Key, CellPair]) -> tuple[PaperColumn, ...]:
        """Columns in the order printed, then ours in the order measured, averages and printed ones last."""
        columns = list(dict.fromkeys(self.key(number)[1] for number in self.printed))

        def place(column: PaperColumn) -> tuple:
            last = column.printed_only + (column.dataset == AVERAGE and not column.task)
            metric = self.table.metrics.index(column.metric) if column.printed_only else 0
            return last, columns.index(column) if column in columns else len(columns), metric

        return tuple(sorted(dict.fromkeys(column for _, column in pairs), key=place))
