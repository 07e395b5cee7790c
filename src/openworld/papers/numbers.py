"""Every number of the papers' result tables, as printed, from the CSV files beside this one."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from math import isfinite

from openworld._errors import OpenworldError, unknown_name
from openworld.papers.metrics import METRICS
from openworld.papers.tables import TABLES, PaperTable

HEADER = ["table", "task", "dataset", "setting", "method", "metric", "value", "std"]
AVERAGE = "Average"
SOURCE_SETTING = "source"  # the setting of what was learned from, where a table has targets beside it
PRINTED_SEEDS = {"openworldauc": 3}
"""Paper -> seeds behind the deviations that it prints. OpenworldAUC's own count cannot be read from its text; 3, the
field's least, makes the printed numbers the least certain. FRAP's deviations are of errors over conditions and say
nothing of other seeds; the two other papers print none."""


@dataclass(frozen=True)
class PublishedNumber:
    """One printed number, in the unit printed (`METRICS` names it).

    Args:
        table: its number, such as "8-9".
        task: what the paper calls the task.
        dataset: "Average" for a printed average; empty where a number belongs to no data set.
        setting: what else differs within the table, such as "new/base=10"; else empty.
        method: what the paper calls it, spelt alike in all tables.
        metric: a name of `METRICS`.
        value, std: as printed; `std` is None where none is. FRAP prints its deviations as fractions beside percents.
    """

    table: str
    task: str
    dataset: str
    setting: str
    method: str
    metric: str
    value: float
    std: float | None

    @property
    def in_data(self) -> float:
        """The value in the unit of data, as ours are: shares are fractions there.

        >>> published_numbers("openworldauc", "17")[0].in_data < 1
        True
        """
        return self.value / METRICS[self.metric].scale

    @property
    def deviation_in_data(self) -> float | None:
        """The deviation in the unit of data; FRAP prints its own so."""
        return self.std if self.std is None or self.metric == "MAE" else self.std / METRICS[self.metric].scale

    @property
    def same_number(self) -> tuple[str, str, str, str, float]:
        """What the same number in another table of the paper shares with it: a source is called so in some alone."""
        return self.dataset, self.setting.removeprefix(SOURCE_SETTING), self.method, self.metric, self.value

    @property
    def key(self) -> tuple[str, ...]:
        """What tells it from every other number of the paper."""
        return self.table, self.task, self.dataset, self.setting, self.method, self.metric


def published_tables(paper: str) -> dict[str, PaperTable]:
    """The tables of a paper by number, in the order of `TABLES`.

    Raises:
        OpenworldError: for another paper.

    >>> published_tables("openpl")["6"].tasks
    ('emerging-classes',)
    """
    if paper not in TABLES:
        raise unknown_name("paper", paper, TABLES)
    return TABLES[paper]


def paper_table(paper: str, number: str) -> PaperTable:
    """One table of a paper; an unknown one is refused with those there are."""
    tables = published_tables(paper)
    if number not in tables:
        raise unknown_name(f"table of {paper}", number, tables)
    return tables[number]


def published_numbers(paper: str, table: str | None = None) -> tuple[PublishedNumber, ...]:
    """Every printed number of a paper or of one of its tables, in the order printed.

    Args:
        paper: "openworldauc", "openpl", "frap" or "is-ood".
        table: its number, as in `TABLES`; None for all. Some numbers stand in several tables.

    Raises:
        OpenworldError: for another paper or table.

    >>> [one.value for one in published_numbers("openworldauc", "17") if one.dataset == "Average"]
    [60.29, 60.65, 60.94]
    """
    published_tables(paper)
    if table is None:
        return _read(paper)
    wanted = paper_table(paper, table).number
    return tuple(number for number in _read(paper) if number.table == wanted)


def printed_deviations(paper: str) -> dict[tuple, float]:
    """The deviations that a paper prints, in the unit of data, for the numbers of all its tables.

    A number that is printed without a deviation here and with one in a table of details, such as those of
    OpenworldAUC's Table 2 in Tables 8 and 9, has the deviation of the details.

    Returns:
        {`PublishedNumber.same_number`: standard deviation}.

    >>> number = published_numbers("openworldauc", "2")[12]
    >>> number.method, number.std, round(printed_deviations("openworldauc")[number.same_number], 4)
    ('CoOp', None, 0.0071)
    """
    numbers = (number for number in published_numbers(paper) if number.std is not None)
    return {number.same_number: number.deviation_in_data for number in numbers}


@lru_cache(maxsize=len(TABLES))
def _read(paper: str) -> tuple[PublishedNumber, ...]:
    text = files("openworld.papers").joinpath(f"{paper}.csv").read_text(encoding="utf-8")
    return tuple(parse(text.splitlines(), paper))


def parse(lines: list[str], paper: str) -> Iterator[PublishedNumber]:
    """The numbers of a CSV text, each one checked."""
    reader, keys = csv.reader(lines), set()
    header = next(reader, [])
    if header != HEADER:
        raise OpenworldError(f"{paper}.csv begins with {header}, expected {HEADER}; reinstall the package.")
    for place, row in enumerate(reader, 2):
        number = _number(row, f"{paper}.csv, line {place}")
        if number.table not in TABLES[paper] or number.metric not in METRICS or number.key in keys:
            raise OpenworldError(
                f"{paper}.csv, line {place}: table {number.table!r} and metric {number.metric!r} must be known and "
                "every row must differ from the others; reinstall the package."
            )
        keys.add(number.key)
        yield number


def _number(row: list[str], place: str) -> PublishedNumber:
    try:
        *names, value, std = row
        number = PublishedNumber(*names, float(value), float(std) if std else None)
    except (TypeError, ValueError):
        raise OpenworldError(f"{place} holds {row}, expected {HEADER}; reinstall the package.") from None
    if not all(isfinite(value) for value in (number.value, number.std or 0.0)):
        raise OpenworldError(f"{place} holds a number that is not finite: {row}; reinstall the package.")
    return number
