"""The cells of a paper's table with ours: which printed number belongs to which of ours, and what may be subtracted."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import hypot
from statistics import fmean

from openworld.metrics import seeds_test_against_summary
from openworld.papers import (
    AVERAGE,
    AVERAGED,
    METRICS,
    PRINTED_SEEDS,
    PaperTable,
    PublishedNumber,
    printed_deviations,
)
from openworld.papers.results import PaperResult
from openworld.results import Comparison, comparison_of, correct_for_many
from openworld.results.comparison import MARGIN

AXES = ("task", "method", "dataset", "setting")
SAME_MEAN = 1e-9  # a mean over seeds is tested only where it is the number itself
SIZES, TIMES = ("n_params", "n_params_thousand"), ("inference_time_s",)
RANKS = ("Friedman_rank", "Final_rank")


@dataclass(frozen=True)
class PaperColumn:
    """A column: its metric, and its value on the axes that columns differ in; empty on the others.

    `printed_only`: the paper's average or its only number, where ours are on other data.
    """

    metric: str
    task: str = ""
    method: str = ""
    dataset: str = ""
    setting: str = ""
    printed_only: bool = False


@dataclass(frozen=True)
class CellPair:
    """One cell: our number, the printed one in the unit of data, or one of the two.

    Args:
        ours: None where the method was not run.
        printed: None where the paper has no such number.
        deviation: of the printed number, in the unit of data; None where none is printed.
        test: ours minus the printed one, tested over our seeds and the printed deviation (Welch's t; a number printed
            without one is taken as exact) and corrected over the table; None where the two are not of the same thing.
    """

    ours: PaperResult | None
    printed: float | None
    deviation: float | None = None
    test: Comparison | None = None

    @property
    def difference(self) -> float | None:
        """Ours minus the printed one; None where they are not of the same thing."""
        return self.test and self.test.difference

    @property
    def tested(self) -> bool:
        """Whether the difference has a p-value."""
        return self.test is not None and self.test.p is not None

    @property
    def verdict(self) -> str:
        """Reproduced within the margin, else higher or lower than printed, or neither; empty where untested."""
        if not self.tested:
            return ""
        if self.test.equivalent:
            return f"reproduced within {self.test.margin_text}"
        if not self.test.differs:
            return f"not told apart at n = {len(self.ours.per_seed)} seeds"
        return "higher than printed" if self.difference > 0 else "lower than printed"


Cells = dict[tuple[str, PaperColumn], CellPair]


@dataclass(frozen=True)
class TableNumbers:
    """Our numbers of a table and the printed ones.

    Args:
        table: what the paper shows.
        axes: of AXES, those that columns differ in.
        ours, printed: the numbers.
        same_data: whether ours are on the table's own data sets.
        margin: as for `compare_with_paper`.
    """

    table: PaperTable
    axes: tuple[str, ...]
    ours: Sequence[PaperResult]
    printed: Sequence[PublishedNumber]
    same_data: bool
    margin: float = MARGIN

    def key(self, number: PaperResult | PublishedNumber) -> tuple[str, PaperColumn]:
        """Row and column of a number."""
        column = PaperColumn(number.metric, **{axis: getattr(number, axis) for axis in self.axes})
        return getattr(number, self.table.rows), column

    def kind(self, number: PublishedNumber) -> PaperColumn:
        """The column of its average where ours are on other data: its metric, and setting where that comes first."""
        setting = number.setting if self.table.columns[0] == "setting" else ""
        return PaperColumn(number.metric, setting=setting, printed_only=True)

    def averaged_with(self, row: str, column: PaperColumn) -> tuple:
        """Return what all numbers of one average share: those of a method and metric."""
        return (column,) if self.table.rows == "dataset" else (row, column.metric)

    @cached_property
    def by_key(self) -> dict[tuple[str, PaperColumn], PublishedNumber]:
        """The printed numbers by row and column."""
        return {self.key(number): number for number in self.printed}

    @cached_property
    def _deviations(self) -> dict[tuple, float]:
        return printed_deviations(self.table.paper)

    def deviation(self, *numbers: PublishedNumber) -> float | None:
        """Deviation of a printed number, or of the mean of several that were trained by themselves; None: unknown."""
        parts = [self._deviations.get(number.same_number) for number in numbers]
        if None in parts or (len(parts) > 1 and self.table.paper not in PRINTED_SEEDS):
            return None
        return hypot(*parts) / len(parts)

    @property
    def same_methods(self) -> bool:
        """Whether ours are of exactly the paper's methods, so that ranks among them compare."""
        return {number.method for number in self.ours} == {number.method for number in self.printed}


def cells(numbers: TableNumbers) -> Cells:
    """Return every cell that is not empty, with the tests of the whole table corrected together (Holm)."""
    pairs = _same_data(numbers) if numbers.same_data else _other_data(numbers)
    tests = {key: pair.test for key, pair in pairs.items() if pair.test}
    corrected = dict(zip(tests, correct_for_many(tests.values()), strict=True))
    return {key: replace(pair, test=corrected.get(key)) for key, pair in pairs.items()}


def _same_data(numbers: TableNumbers) -> Cells:
    """The paper's columns as far as we measured them; in them every printed number, run by us or not."""
    averaged = any(number.dataset == AVERAGE for number in numbers.printed)
    ours = {numbers.key(number): number for number in numbers.ours if averaged or number.dataset != AVERAGE}
    columns: dict[PaperColumn, PaperResult] = {}
    for (_, column), number in ours.items():
        columns.setdefault(column, number)
    pairs = {}
    for row, column in [*ours, *(key for key in numbers.by_key if key[1] in columns and key not in ours)]:
        number = ours.get((row, column))
        printed = _printed_like(numbers, row, column, _measured_on(numbers, number, columns[column]))
        pairs[row, column] = CellPair(number, None) if printed is None else _pair_up(numbers, number, printed)
    return pairs


def _other_data(numbers: TableNumbers) -> Cells:
    """Return our cells; printed averages stand beside them, or in columns of their own where ours has none."""
    pairs = {}
    for ours in numbers.ours:
        like = numbers.by_key.get(numbers.key(ours))
        pairs[numbers.key(ours)] = (
            CellPair(ours, None) if like is None else CellPair(ours, like.in_data, numbers.deviation(like))
        )
    if any(pair.printed is not None for pair in pairs.values()):
        return pairs
    kinds = {numbers.kind(number): None for number in numbers.printed}
    for row in dict.fromkeys(row for row, _ in pairs):
        for kind in kinds:
            average = summary(
                [number for number in numbers.printed if numbers.key(number)[0] == row and numbers.kind(number) == kind]
            )
            if average is not None:
                pairs[row, kind] = CellPair(None, average)
    return pairs


def summary(numbers: Sequence[PaperResult | PublishedNumber]) -> float | None:
    """Return one number for several of one method and metric: their average, or the mean without a source."""
    averages = [_plain(number) for number in numbers if number.dataset == AVERAGE]
    values = averages or [_plain(number) for number in numbers if number.setting != "source"]
    return None if not values or None in values else fmean(values)


def _plain(number: PaperResult | PublishedNumber) -> float | None:
    """The number of either side in the unit of data."""
    return number.number if isinstance(number, PaperResult) else number.in_data


@dataclass(frozen=True)
class _Printed:
    """A printed number, or the mean of printed rows, its deviation over seeds, and whether it is of the same data."""

    value: float
    deviation: float | None
    alike: bool


def _printed_like(numbers: TableNumbers, row: str, column: PaperColumn, datasets: Sequence[str]) -> _Printed | None:
    """What the paper prints there; for an average over some of its data sets the mean of their rows."""
    exact = numbers.by_key.get((row, column))
    dataset = row if numbers.table.rows == "dataset" else column.dataset
    if dataset and dataset != AVERAGE:
        return exact and _Printed(exact.in_data, numbers.deviation(exact), True)
    listed = [cell for cell in numbers.printed if cell.dataset not in ("", AVERAGE)] if dataset else []
    whole = {cell.dataset for cell in listed} or set(
        AVERAGED[column.task][1] if column.task else numbers.table.datasets
    )
    average = numbers.averaged_with(row, column)
    alike = [cell for cell in listed if numbers.averaged_with(*numbers.key(cell)) == average]
    alike = [cell for cell in alike if cell.dataset in datasets]
    deviation = numbers.deviation(*alike) if alike else None
    if listed and set(datasets) != whole:
        return _Printed(fmean(cell.in_data for cell in alike), deviation, True) if alike else None
    if exact is None:
        return None
    own = numbers.deviation(exact)
    return _Printed(exact.in_data, deviation if own is None else own, set(datasets) == whole)


def _measured_on(numbers: TableNumbers, ours: PaperResult | None, another: PaperResult) -> Sequence[str]:
    """The data sets of our number; where we have none those of `another` of its column, or, in a table of rows, all."""
    if ours is None and numbers.table.rows == "dataset":
        return numbers.table.datasets
    return (ours or another).datasets


def _pair_up(numbers: TableNumbers, ours: PaperResult | None, printed: _Printed) -> CellPair:
    """Seconds are of different machines, ranks of different fields unless the methods are the same.

    Numbers of parameters hardly depend on the data: those measured on any of the paper's data sets are compared.
    """
    if ours is None:
        return CellPair(None, printed.value, printed.deviation)
    alike = printed.alike or ours.metric in SIZES
    alike = alike and ours.metric not in TIMES and (ours.metric not in RANKS or numbers.same_methods)
    test = _test(numbers, ours, printed) if alike and ours.number is not None else None
    return CellPair(ours, printed.value, printed.deviation, test)


def _test(numbers: TableNumbers, ours: PaperResult, printed: _Printed) -> Comparison:
    """Welch's t of our seeds against the printed mean and deviation."""
    metric, difference = METRICS[ours.metric], ours.number - printed.value
    where = {"dataset": ours.dataset, "setting": ours.setting, "task": ours.task}
    seeds = PRINTED_SEEDS.get(numbers.table.paper)
    spread = (printed.deviation, seeds) if seeds and printed.deviation else ()
    test = seeds_test_against_summary(ours.per_seed, printed.value, *spread)
    if test.difference is None:
        return Comparison(ours.method, "printed", metric, difference, reason="there are no seeds", where=where)
    if abs(test.difference - difference) > SAME_MEAN * max(1.0, abs(ours.number)):
        reason = "the number is not the mean of its seeds"
        return Comparison(ours.method, "printed", metric, difference, reason=reason, where=where)
    tested = comparison_of(ours.method, "printed", metric, test, over="seeds", where=where, margin=numbers.margin)
    return replace(tested, difference=difference)
