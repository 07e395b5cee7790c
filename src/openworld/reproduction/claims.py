"""What a paper claims, held against our numbers of its tables and figures: shown, in part, contradicted, or undecided.

A claim (`claims.toml`) has parts, each a family of differences between our numbers, averaged over a table's data sets.
Every difference is tested over the seeds (paired t-test), all of a claim corrected together (Holm, 1979). A part is
shown where every difference is, contradicted where one that the claim excludes is shown, in part where some are shown;
else these seeds do not decide. Numbers that no seed moves, such as counts of parameters, are taken as they are.
"""

import tomllib
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from itertools import chain, product
from pathlib import Path
from typing import Any, Literal

from openworld.core.csv_files import csv_text
from openworld.metrics import seeds_test
from openworld.papers import AVERAGE, METRICS, PAPERS, paper_table
from openworld.papers.results import PaperResult, PaperRow, PaperRun, average_of, paper_result, read_numbers
from openworld.report.page import Page, Section
from openworld.report.render.forms import markdown_table
from openworld.report.report import Report
from openworld.report.sentences import listed
from openworld.report.table import Column, Row, Table
from openworld.reproduction.figures.sweeps import SWEEPS, sweep_rows
from openworld.reproduction.page import STAND_IN
from openworld.reproduction.plan import ReproductionPlan
from openworld.reproduction.planned_runs import with_tuples
from openworld.results import TEXT, Comparison, Results, comparison_of, correct_for_many
from openworld.results.value import SIGNED
from openworld.runs.atomic import write_file

SHOWN, PART, CONTRADICTED, UNDECIDED = STATES = ("shown", "in part", "contradicted", "undecided")
EACH, ALL = "each", "all"
Way = Literal["higher", "lower", "equal", "not higher", "unsteady"]


@dataclass(frozen=True)
class ClaimPart:
    """One family of differences: `method` beside each of `than`, or beside itself, or 0, as `claims.toml` says."""

    way: Way
    table: str = ""
    figure: str = ""
    metric: str = "OpenworldAUC"
    method: str = EACH
    setting: str = ""
    than: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    than_setting: str = ""
    than_metric: str = ""
    than_table: str = ""

    def differences(self, numbers: Callable[[str, str], Sequence[PaperResult]]) -> Iterator[Comparison]:
        """Yield every difference that it speaks of; `numbers` gives those of a table or figure, and a metric."""
        ours = numbers(self.table or self.figure, self.metric)
        others = numbers(self.than_table or self.table or self.figure, self.than_metric or self.metric)
        methods, rivals = (list(dict.fromkeys(number.method for number in side)) for side in (ours, others))
        if self.way == "unsteady":
            by_method = {name: number for name in methods if (number := _number(ours, name, self.setting)) is not None}
            if not by_method:  # its run failed
                return
            first = max(by_method, key=lambda name: by_method[name].require())
            chosen, than = [name for name in rivals if name != first], [first]
            ours = others
        else:
            chosen = methods if self.method == EACH else [self.method] if self.method in methods else []
            than = [name for name in rivals if name not in self.excluded] if self.than == (ALL,) else self.than
        beside_itself = self.than_setting or self.than_metric
        pairs = product(chosen, than) if than else ((method, method if beside_itself else "") for method in chosen)
        for method, other in pairs:
            if method == other and than or (other and other not in rivals):
                continue
            one = _number(ours, method, self.setting)
            two = _number(others, other, self.than_setting or self.setting) if other else None
            if one is not None and (two is not None or not other):
                yield _difference(one, two, beside=self.than_setting or self.than_metric)

    def judge(self, tests: Sequence[Comparison]) -> str:
        """Return the state of the part, of its tests."""
        said = [self.holds(test) for test in tests]
        enough, refuting = (1, len(tests)) if self.way == "unsteady" else (len(tests), 1)
        if tests and said.count(True) >= enough:
            return SHOWN
        if tests and said.count(False) >= refuting and (True not in said or self.than == (ALL,)):
            return CONTRADICTED
        return PART if True in said else UNDECIDED

    def holds(self, test: Comparison) -> bool | None:
        """Whether a test shows what the part says, or the contrary; None where it shows neither."""
        if self.way in ("equal", "not higher") and test.equivalent:
            return True
        # Numbers that no seed moves, such as of parameters, need no test.
        exact = test.p is None and test.metric.unit in ("count", "thousands")
        if not (test.differs or exact) or not test.difference:
            return None
        return self.way != "equal" and (test.difference < 0) == (self.way in ("lower", "not higher"))

    def nearest(self, tests: Sequence[Comparison]) -> Comparison:
        """Return the difference that speaks least for the part, or most where one is enough."""
        size = {"higher": 1, "unsteady": -1, "lower": -1, "not higher": -1}.get(self.way)
        return min(tests, key=lambda test: size * (test.difference or 0) if size else -abs(test.difference or 0))

    @property
    def place(self) -> str:
        return f"Table {self.table}" if self.table else f"Figure {self.figure}"


@dataclass(frozen=True)
class Claim:
    paper: str
    says: str
    parts: tuple[ClaimPart, ...] = ()
    untold: str = ""  # why nothing here tells

    tests: tuple[tuple[Comparison, ...], ...] = ()  # of each part, once the claim is judged
    state: str = ""

    def judge(self, numbers: Callable[[str, str], Sequence[PaperResult]]) -> "Claim":
        """Return it with its state, and the tests of its parts against our numbers (see `ClaimPart.differences`)."""
        families = [list(part.differences(numbers)) for part in self.parts]
        corrected = iter(correct_for_many(chain(*families)))
        tests = tuple(tuple(next(corrected) for _ in family) for family in families)
        states = {part.judge(of_part) for part, of_part in zip(self.parts, tests, strict=True)} or {UNDECIDED}
        mixed = PART if states & {SHOWN, PART} else CONTRADICTED  # of contradicted and undecided ones nothing is shown
        return replace(self, tests=tests, state=mixed if len(states) > 1 else states.pop())

    @property
    def counted(self) -> tuple[int, int]:
        """How many differences show what it says, and of how many."""
        parts = zip(self.parts, self.tests, strict=True)
        return sum(part.holds(test) is True for part, tests in parts for test in tests), sum(map(len, self.tests))

    @property
    def nearest(self) -> Comparison | None:
        """The difference that speaks least for it, of the part that holds least; None where nothing was compared."""
        parts = [(part, tests) for part, tests in zip(self.parts, self.tests, strict=True) if tests]
        if not parts:
            return None
        worth = {True: 1, None: 0, False: -1}
        part, tests = min(parts, key=lambda each: sum(worth[each[0].holds(test)] for test in each[1]) / len(each[1]))
        return part.nearest(tests)

    @property
    def place(self) -> str:
        return listed(tuple(dict.fromkeys(part.place for part in self.parts)))

    def record(self) -> dict[str, Any]:
        """Return it as a row of a file."""
        test, (holding, count) = self.nearest, self.counted
        row: dict[str, Any] = {"paper": self.paper, "claim": self.says, "place": self.place}
        row |= {"state": self.state, "differences_shown": holding, "differences": count}
        interval = test.interval if test else None
        row |= {"entity": test.entity, "other": test.other, "metric": test.metric.key} if test else {}
        row |= {"difference": test.difference, "p": test.p} if test else {}
        return row | ({"low": interval.low, "high": interval.high} if interval else {})


CLAIMS: dict[str, tuple[Claim, ...]] = {
    paper: tuple(
        Claim(
            paper,
            entry["says"],
            tuple(ClaimPart(**with_tuples(part)) for part in entry.get("parts", ())),
            entry.get("untold", ""),
        )
        for entry in entries
    )
    for paper, entries in tomllib.loads(
        files("openworld.reproduction").joinpath("claims.toml").read_text(encoding="utf-8")
    ).items()
}
"""Paper -> what it claims, in the order in which it is told."""


def needed(paper: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the tables and the figures that the claims of a paper are about."""
    parts = [part for claim in CLAIMS[paper] for part in claim.parts]
    tables = dict.fromkeys(name for part in parts for name in (part.table, part.than_table) if name)
    return tuple(tables), tuple(dict.fromkeys(part.figure for part in parts if part.figure))


def judge_claims(plan: ReproductionPlan, folder: Path, failed: Collection[str] = ()) -> tuple[Claim, ...]:
    """Hold every claim of a paper against the finished runs of a plan."""
    runs: dict[str, tuple[PaperRun, ...]] = {}
    for kind in ("tables", "figures"):
        runs |= {number: of_number for number, of_number, _ in plan.finished(kind, folder, failed)}
    read: dict[tuple[str, str], Sequence[PaperResult]] = {}

    def numbers(number: str, metric: str) -> Sequence[PaperResult]:
        if number not in runs:
            return ()
        if (number, metric) not in read:
            sweep = next((sweep for sweep in SWEEPS if number in sweep.numbers), None)
            if number in plan.figures and sweep:
                read[number, metric] = [
                    paper_result(
                        PaperRow(row, str(row.where["data_set"]), row.entity),
                        metric,
                        f"{row.where[sweep.varies]:g}" if sweep.varies else "",
                    )
                    for row in sweep_rows(runs[number], sweep)
                ]
            else:
                wanted = paper_table(plan.paper, number)
                read[number, metric] = read_numbers(replace(wanted, metrics=(metric,)), runs[number])
        return read[number, metric]

    return tuple(claim.judge(numbers) for claim in CLAIMS[plan.paper])


def claims_table(verdicts: Sequence[Claim]) -> Table:
    """Return every claim with what was compared, the difference that speaks least for it, and its state."""
    rows = []
    for number, each in enumerate(verdicts, 1):
        (holding, count), cells = each.counted, ["", "", each.untold or "none of its runs is there"]
        if test := each.nearest:
            metric = replace(test.metric, unit=SIGNED.get(test.metric.unit, test.metric.unit))
            difference = f"{metric.write(test.difference)} {metric.write_interval(test.interval)}"
            cells = [f"{holding} of {count}", difference.strip(), f"{test.entity} minus {test.other}: {metric.title}"]
        rows.append(Row(str(number), (each.says, each.state, *cells, each.place)))
    caption = (
        "How many differences show a claim, of means over the seeds, tested over the seeds and corrected within the "
        "claim (Holm); and the one that speaks least for it, with its 95 % interval over the seeds, not corrected."
    )
    titles = ("claim", "state", "shown", "difference", "which", "where")
    columns = tuple(Column(TEXT, title, priority=title in ("claim", "state")) for title in titles)
    return Table("claims", "Every claim", caption, "", columns, tuple(rows))


def claims_report(plan: ReproductionPlan, verdicts: Sequence[Claim]) -> Report:
    """Return how many claims are in each state, and every claim with the difference that speaks least for it."""
    counts = [f"{sum(each.state == state for each in verdicts)} {state}" for state in STATES]
    verdict = (f"Of {len(verdicts)} claims of {PAPERS[plan.paper]}, {listed(tuple(counts))}.",)
    if len(plan.setup.seeds) < 2:
        verdict += (
            'One seed says nothing about other seeds, so that nothing is decided: give several (--seeds "1 2 3").',
        )
    verdict += (STAND_IN,) if plan.setup.embedded else ()
    table = claims_table(verdicts)
    facts = (f"backbone {plan.setup.backbone}", f"seeds {listed(tuple(map(str, plan.setup.seeds)))}")
    page = Page(
        f"What {PAPERS[plan.paper]} claims", facts, (*verdict, *plan.sentences), (Section("", tables=(table,)),)
    )
    tests = [replace(test, where={"claim": n}) for n, each in enumerate(verdicts, 1) for test in chain(*each.tests)]
    return Report(Results("reproduction", (), tuple(tests)), (table,), page, text=verdict[1:])


def write_claims(report: Report, verdicts: Sequence[Claim], folder: Path) -> Path:
    """Write the page, and the claims as a table of CSV and of Markdown; return the page."""
    records = [claim.record() for claim in verdicts]
    columns = tuple(dict.fromkeys(name for record in records for name in record))
    rows = [[record.get(name) for name in columns] for record in records]
    write_file(folder / "claims.csv", csv_text(columns, rows).encode())
    write_file(folder / "claims.md", (markdown_table(report.terminal_tables[0]) + "\n").encode())
    write_file(folder / "claims.html", report.html().encode())
    return folder / "claims.html"


def _number(numbers: Sequence[PaperResult], method: str, setting: str) -> PaperResult | None:
    """Return the number of a method in a setting, averaged over the data sets; None where it has none."""
    chosen = [each for each in numbers if each.method == method and setting in ("", each.setting)]
    chosen = [each for each in chosen if each.dataset == AVERAGE] or chosen
    number = chosen[0] if len(chosen) == 1 else average_of(chosen) if chosen else None
    return number if number is not None and number.number is not None else None


def _difference(one: PaperResult, two: PaperResult | None, beside: str) -> Comparison:
    metric = METRICS[one.metric]
    other = "0" if two is None else two.method if two.method != one.method else two.setting or beside
    first, second = one.per_seed or (one.number,), (0.0,) if two is None else two.per_seed or (two.number,)
    count = max(len(first), len(second))  # what no seed moves stands beside every seed of the other
    first, second = (side * count if len(side) == 1 else side for side in (first, second))
    if len(first) != len(second):
        first, second = (one.number,), (two and two.number,)
    setting = one.setting if two is not None and one.method == two.method else ""
    entity = f"{one.method}, {setting}" if setting else one.method
    return comparison_of(entity, other, metric, seeds_test(first, second), over="seeds")
