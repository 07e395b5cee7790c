"""Every number of the papers' result tables, as printed, from the CSV files beside this one."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from math import isfinite

from openworld._errors import OpenworldError, unknown_name
from openworld.papers.tables import TABLES, PaperTable
from openworld.results import METRICS as OURS
from openworld.results import Metric

HEADER = ["table", "task", "dataset", "setting", "method", "metric", "value", "std"]
AVERAGE = "Average"
SOURCE_SETTING = "source"  # the setting of what was learned from, where a table has targets beside it
PRINTED_SEEDS = {"openworldauc": 3}
"""Paper -> seeds behind the deviations that it prints. OpenworldAUC's own count cannot be read from its text; 3, the
field's least, makes the printed numbers the least certain. FRAP's deviations are of errors over conditions and say
nothing of other seeds; the two other papers print none."""


def _ours(key: str, title: str, unit: str = "percent", digits: int = 1) -> Metric:
    """Percentages are printed with one decimal more than on screen."""
    return replace(OURS[key], title=title, unit=unit, digits=digits)


def _along_levels(of: str, key: str) -> dict[str, Metric]:
    """Which way is better depends on the axis: with semantic shift a detector should improve, with covariate not."""
    return {
        f"correlation({of})": Metric(f"{key}_correlation", f"correlation of {of}", "fraction", 2, 0, (-1.0, 1.0)),
        f"sensitivity({of})": Metric(f"{key}_slope", f"sensitivity of {of}", "points per level", 2, 0),
    }


METRICS: dict[str, Metric] = {
    "OpenworldAUC": OURS["openworld_auc"],
    "HM": OURS["harmonic_mean"],
    "AUROC": OURS["auroc"],
    "BaseAcc": _ours("base_accuracy", "BaseAcc"),
    "NewAcc": _ours("new_accuracy", "NewAcc"),
    "OverallAcc": _ours("overall_accuracy", "OverallAcc"),
    "MAE": _ours("absolute_error", "MAE"),
    "ECE": _ours("expected_calibration_error", "ECE", "fraction", 3),
    "n_params": _ours("tuned_parameters", "parameters", "count", 0),
    "n_params_thousand": _ours("tuned_parameters", "parameters (k)", "thousands"),
    "inference_time_s": _ours("latency", "seconds", "number", 4),
    "Acc(0)": _ours("initial_accuracy", "Acc(0)", "fraction", 3),
    "AUC": _ours("auc", "AUC", "fraction", 3),
    "WA": _ours("worst_accuracy", "WA", "fraction", 3),
    "EVM": _ours("variation", "EVM", "fraction", 3),
    "VS": _ours("slope_variance", "VS", "fraction", 3),
    "PosArea": _ours("positive_area", "PA", "fraction", 3),
    "NegArea": _ours("negative_area", "NA", "fraction", 3),
    "delta_AUC": _ours("delta_auc", "ΔAUC", "fraction", 3),
    "delta_PN": _ours("delta_pn", "ΔPN", "fraction", 3),
    "Friedman_rank": _ours("friedman_rank", "Friedman rank", "fraction", 3),
    "Final_rank": OURS["final_rank"],
    "Acc@1": _ours("top1", "Acc@1"),
    "Acc@5": _ours("top5", "Acc@5"),
    **_along_levels("AUROC", "auroc"),
    **_along_levels("FPR@95", "fpr_out_positive"),
    **_along_levels("AUPR", "aupr_in"),
}
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
