"""Every number of the papers' result tables, as printed, from the CSV files beside this one."""

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from math import isfinite
from typing import Any

from openworld.core.errors import OpenworldError, unknown_name
from openworld.papers.tables import FACTS, TABLES, PaperTable
from openworld.results import METRICS as OURS
from openworld.results import Metric

HEADER = ["table", "task", "dataset", "setting", "method", "metric", "value", "std"]
AVERAGE = "Average"
SOURCE_SETTING = "source"  # the setting of what was learned from, where a table has targets beside it
PRINTED_SEEDS = {"openworldauc": 3}
"""Paper -> seeds behind the deviations that it prints. OpenworldAUC's own count cannot be read from its text; 3, the
field's least, makes the printed numbers the least certain. FRAP's deviations are of errors over conditions and say
nothing of other seeds; the two other papers print none."""


def _metric(card: Mapping[str, Any]) -> Metric:
    """Return our metric with what is printed otherwise, or one of the papers' own."""
    ends: dict[str, Any] = (
        {"bounds": tuple(None if end == "" else end for end in card["bounds"])} if "bounds" in card else {}
    )
    fields = {**card, **ends}
    return replace(OURS[card["key"]], **fields) if card["key"] in OURS else Metric(**fields)


METRICS: dict[str, Metric] = {name: _metric(card) for name, card in FACTS["metrics"].items()}
"""What a paper calls a number -> its metric. Values are in the unit of data, as everywhere: shares are fractions."""


@dataclass(frozen=True)
class PublishedNumber:
    """One printed number, in the unit printed (`METRICS` names it)."""

    table: str  # its number, such as "8-9"
    task: str  # as the paper calls it
    dataset: str  # "Average" for a printed average; empty where a number belongs to no data set
    setting: str  # what else differs within the table, such as "new/base=10"; else empty
    method: str  # as the paper calls it, spelt alike in all tables
    metric: str  # a name of `METRICS`
    value: float
    std: float | None  # None where none is printed. FRAP prints its deviations as fractions beside percents

    @property
    def in_data(self) -> float:
        """The value in the unit of data, as ours are: shares are fractions there."""
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
    """The tables of a paper by number, in the order of `TABLES`; another paper is refused."""
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
    """Every printed number of a paper, or of one of its tables (some stand in several), in the order printed."""
    published_tables(paper)
    if table is None:
        return _read(paper)
    wanted = paper_table(paper, table).number
    return tuple(number for number in _read(paper) if number.table == wanted)


def printed_deviations(paper: str) -> dict[tuple, float]:
    """Return {`PublishedNumber.same_number`: standard deviation in the unit of data} of a paper's tables."""
    # A number without one here and with one in a table of details, such as those of OpenworldAUC's Table 2 in Tables 8
    # and 9, has the deviation of the details.
    numbers = ((number.same_number, number.deviation_in_data) for number in published_numbers(paper))
    return {number: deviation for number, deviation in numbers if deviation is not None}


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
