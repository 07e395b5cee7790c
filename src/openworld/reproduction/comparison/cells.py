"""The cells of a paper's table with ours: which printed number belongs to which of ours, and what may be subtracted."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt
from statistics import fmean

from openworld.metrics import holm, seed_spread
from openworld.papers import AVERAGE, AVERAGED, METRICS, PaperTable, PublishedNumber
from openworld.papers.measured import Measured
from openworld.results import significant

AXES = ("task", "method", "dataset", "setting")
SAME_MEAN = 1e-9  # a mean over seeds is tested only where it is the number itself


@dataclass(frozen=True)
class Column:
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
class Pair:
    """One cell: our number, the printed one, or one of the two.

    `difference` is ours minus the printed one, None where they are not of the same thing. `p` tests it over our seeds
    (Student's t, the printed number taken as exact), corrected over the table (Holm); None where it cannot be tested.
    """

    ours: Measured | None
    published: float | None
    std: float | None = None
    difference: float | None = None
    p: float | None = None

    @property
    def words(self) -> str:
        """Higher or lower than printed, or not shown to differ; empty where it is not tested."""
        if self.p is None:
            return ""
        if not significant(self.p):
            return f"does not differ at n = {len(self.ours.per_seed)} seeds"
        return "higher than printed" if self.difference > 0 else "lower than printed"


Cells = dict[tuple[str, Column], Pair]


@dataclass(frozen=True)
class Sides:
    """Both sides of a table.

    Args:
        table: what the paper shows.
        axes: of AXES, those that columns differ in.
        ours, printed: the numbers.
        same_data: whether ours are on the table's own data sets.
    """

    table: PaperTable
    axes: tuple[str, ...]
    ours: Sequence[Measured]
    printed: Sequence[PublishedNumber]
    same_data: bool

    def key(self, number: Measured | PublishedNumber) -> tuple[str, Column]:
        """Row and column of a number."""
        column = Column(number.metric, **{axis: getattr(number, axis) for axis in self.axes})
        return getattr(number, self.table.rows), column

    def kind(self, number: PublishedNumber) -> Column:
        """The column of its average where ours are on other data: its metric, and setting where that comes first."""
        setting = number.setting if self.table.columns[0] == "setting" else ""
        return Column(number.metric, setting=setting, printed_only=True)

    def averaged_with(self, row: str, column: Column) -> tuple:
        """The same for all numbers that one average is of: those of a method and metric."""
        return (column,) if self.table.rows == "dataset" else (row, column.metric)

    @cached_property
    def by_key(self) -> dict[tuple[str, Column], PublishedNumber]:
        """The printed numbers by row and column."""
        return {self.key(one): one for one in self.printed}

    @property
    def same_methods(self) -> bool:
        """Whether ours are of exactly the paper's methods, so that ranks among them compare."""
        return {one.method for one in self.ours} == {one.method for one in self.printed}


def cells(sides: Sides) -> Cells:
    """Every cell that is not empty, differences tested."""
    return _tested(_same_data(sides) if sides.same_data else _other_data(sides))


def _same_data(sides: Sides) -> Cells:
    """The paper's columns as far as we measured them; in them every printed number, run by us or not."""
    averaged = any(one.dataset == AVERAGE for one in sides.printed)
    ours = {sides.key(one): one for one in sides.ours if averaged or one.dataset != AVERAGE}
    columns: dict[Column, Measured] = {}
    for (_, column), one in ours.items():
        columns.setdefault(column, one)
    found = {}
    for row, column in [*ours, *(key for key in sides.by_key if key[1] in columns and key not in ours)]:
        one = ours.get((row, column))
        printed = _printed_like(sides, row, column, _measured_on(sides, one, columns[column]))
        found[row, column] = Pair(one, None) if printed is None else _paired(sides, one, printed)
    return found


def _other_data(sides: Sides) -> Cells:
    """Ours; and printed averages beside ours, or in columns of their own where ours has none."""
    found = {}
    for one in sides.ours:
        like = sides.by_key.get(sides.key(one))
        found[sides.key(one)] = Pair(one, None) if like is None else Pair(one, like.value, like.std)
    if any(pair.published is not None for pair in found.values()):
        return found
    kinds = {sides.kind(one): None for one in sides.printed}
    for row in dict.fromkeys(row for row, _ in found):
        for kind in kinds:
            average = summary([one for one in sides.printed if sides.key(one)[0] == row and sides.kind(one) == kind])
            if average is not None:
                found[row, kind] = Pair(None, average)
    return found


def summary(numbers: Sequence[Measured | PublishedNumber]) -> float | None:
    """One number for several of one method and metric: their printed average, or the mean without a source."""
    averages = [one.value for one in numbers if one.dataset == AVERAGE]
    values = averages or [one.value for one in numbers if one.setting != "source"]
    return None if not values or None in values else fmean(values)


@dataclass(frozen=True)
class _Printed:
    """A printed number, or the mean of printed rows (then without a deviation), and whether it is of the same data."""

    value: float
    std: float | None
    alike: bool


def _printed_like(sides: Sides, row: str, column: Column, datasets: Sequence[str]) -> _Printed | None:
    """What the paper prints there; for an average over some of its data sets the mean of their rows."""
    exact = sides.by_key.get((row, column))
    dataset = row if sides.table.rows == "dataset" else column.dataset
    if dataset and dataset != AVERAGE:
        return exact and _Printed(exact.value, exact.std, True)
    listed = [one for one in sides.printed if one.dataset not in ("", AVERAGE)] if dataset else []
    whole = {one.dataset for one in listed} or set(_averaged(sides.table, column))
    if listed and set(datasets) != whole:
        alike = [one for one in listed if sides.averaged_with(*sides.key(one)) == sides.averaged_with(row, column)]
        own = [one.value for one in alike if one.dataset in datasets]
        return _Printed(fmean(own), None, True) if own else None
    return exact and _Printed(exact.value, exact.std, set(datasets) == whole)


def _measured_on(sides: Sides, ours: Measured | None, another: Measured) -> Sequence[str]:
    """The data sets of our number; where we have none those of `another` of its column, or, in a table of rows, all."""
    if ours is None and sides.table.rows == "dataset":
        return sides.table.datasets
    return (ours or another).datasets


def _averaged(table: PaperTable, column: Column) -> tuple[str, ...]:
    """The data sets behind a column that names none."""
    return AVERAGED[column.task][1] if column.task else table.datasets


def _paired(sides: Sides, ours: Measured | None, printed: _Printed) -> Pair:
    """Seconds are of different machines, ranks of different fields unless the methods are the same.

    Numbers of parameters hardly depend on the data: those measured on any of the paper's data sets will do.
    """
    if ours is None:
        return Pair(None, printed.value, printed.std)
    unit = METRICS[ours.metric].unit
    alike = printed.alike or "parameters" in unit
    alike = alike and unit != "seconds" and (unit != "rank" or sides.same_methods)
    difference = ours.value - printed.value if alike and ours.value is not None else None
    return Pair(ours, printed.value, printed.std, difference)


def _tested(found: Mapping) -> Cells:
    raw = {key: _p_value(pair) for key, pair in found.items()}
    corrected = holm(list(raw.values()))
    return {key: replace(pair, p=p) for (key, pair), p in zip(found.items(), corrected, strict=True)}


def _p_value(pair: Pair) -> float | None:
    """Student's t of our seeds against the printed number."""
    if pair.difference is None or len(pair.ours.per_seed) < 2:
        return None
    values, size = pair.ours.per_seed, max(1.0, abs(pair.ours.value))
    spread = seed_spread(values)
    if spread.interval_reason or abs(spread.mean - pair.ours.value) > SAME_MEAN * size:
        return None
    from scipy.special import stdtr

    return float(2 * stdtr(spread.n - 1, -abs(pair.difference) / (spread.std / sqrt(spread.n))))


def judged(found: Cells) -> Iterator[Pair]:
    """The cells whose difference was tested."""
    return (pair for pair in found.values() if pair.p is not None)
