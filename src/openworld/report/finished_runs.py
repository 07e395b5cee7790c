"""What finished runs are asked: whether one is good enough, and which of two is better.

The first answer is a report, or JUnit XML, of all requirements. The second has both numbers, the difference, and
whether it is more than chance.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from xml.etree import ElementTree

from openworld.report.layout import ENTITY, Brief, Layout, Pivot
from openworld.report.page import Page, Section
from openworld.report.report import Report
from openworld.report.sentences import counted
from openworld.report.table import Cell, Column, Row, Table
from openworld.results import TEXT, Metric, Pair, Result, Results
from openworld.results.requirements import BROKEN, HOLDS, OPEN, Check
from openworld.results.value import SHARES, SIGNED

EXIT_CODES = {HOLDS: 0, BROKEN: 3, OPEN: 4}
NUMBERS = Pivot(
    name="check",
    title="What is required",
    rows=(ENTITY, "required"),
    note="A requirement holds where the whole interval is on its right side.",
)
LAYOUT = Layout("Is it good enough?", "", (NUMBERS,))
Change = tuple[str, str, str]


@dataclass(frozen=True)
class CheckedRun:
    """Requirements on a run, each with what is known of it."""

    run: str
    checks: tuple[Check, ...]

    @property
    def decision(self) -> str:
        """BROKEN where anything is, else OPEN where anything is, else HOLDS."""
        return max((check.decision for check in self.checks), key=[HOLDS, OPEN, BROKEN].index)

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.decision]


def check_report(outcome: CheckedRun) -> Report:
    """Return a report whose rows are the numbers that were checked, told apart by `where["required"]`."""
    counts = Counter(check.decision for check in outcome.checks)
    listed = ", ".join(f"{count} {decision}" for decision, count in counts.items())
    answer = f"{outcome.run}: {outcome.decision} ({len(outcome.checks)} checked: {listed})."
    rows, decisions, further = {}, {}, {}
    for check in outcome.checks:  # of which one may come twice
        row = Result(check.title, check.metric, check.value, {"required": check.required})
        label = ", ".join(filter(None, (check.title, check.required)))
        rows[row.key], decisions[label] = row, check.decision
        further[label] = f"{check.more:,} more {check.value.intervals[0].over}" if check.more else check.reason
    brief = Brief(
        Results("check", tuple(rows.values())),
        label="number",
        subtitle=(outcome.run,),
        words={"check": {"decision": decisions, "to decide": further}},
        sentences=(answer, *(f"{check.sentence}." for check in outcome.checks)),
    )
    checks = [{"decision": check.decision, "says": check.sentence, "more": check.more} for check in outcome.checks]
    facts = {"decision": outcome.decision, "checks": checks}
    return LAYOUT.report(brief, text=(), made={"run": outcome.run}, found=outcome, facts=facts)


def junit_xml(outcome: CheckedRun) -> str:
    """Return JUnit XML: what is broken is a failure, what is undecided is skipped."""
    counts = Counter(check.decision for check in outcome.checks)
    totals = {"tests": str(len(outcome.checks)), "failures": str(counts[BROKEN]), "skipped": str(counts[OPEN])}
    suite = ElementTree.Element("testsuite", {"name": f"openworld check {outcome.run}", **totals})
    for check in outcome.checks:
        case = ElementTree.SubElement(suite, "testcase", {"classname": check.title, "name": check.required})
        if check.decision != HOLDS:
            tag = "failure" if check.decision == BROKEN else "skipped"
            ElementTree.SubElement(case, tag, {"message": check.sentence})
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


@dataclass(frozen=True)
class RunComparison:
    """What two runs have in common, and what differs."""

    names: tuple[str, str]
    metric: Metric
    pairs: Sequence[Pair]  # of the numbers that both have, of this metric first; never none
    changes: Sequence[Change] = ()
    basis: str = ""
    unpaired: tuple[str, ...] = ()


def comparison_report(compared: RunComparison) -> Report:
    """Return a report of both runs' numbers, told apart by `where["run"]`, "first" or "second", and of their tests."""
    pairs = [pair for pair in compared.pairs if _has_number(pair)]
    tables = tuple(_table(compared, metric, pairs) for metric in dict.fromkeys(pair.first.metric for pair in pairs))
    changes = tuple(f"{name.replace('_', ' ')}: {before} → {after}" for name, before, after in compared.changes)
    page = Page(
        title="Did it get better?",
        subtitle=tuple(f"{place}: {name}" for place, name in zip(("first", "second"), compared.names, strict=True)),
        verdict=_verdict(pairs),
        sections=(Section("Side by side", changes, tables),),
    )
    notes = tuple(f"Not compared: {sentence}." for sentence in (*_undefined(compared.pairs), *compared.unpaired))
    facts = {"of": compared.metric.key, "changes": list(map(list, compared.changes)), "basis": compared.basis}
    facts["unpaired"] = list(compared.unpaired)
    made = dict(zip(("first run", "second run"), compared.names, strict=True))
    return Report(_results(compared.pairs), tables, page, changes, notes, made, compared, facts=facts)


def _results(pairs: Sequence[Pair]) -> Results:
    rows = (
        replace(result, where={**result.where, "run": run})
        for pair in pairs
        for run, result in (("first", pair.first), ("second", pair.second))
    )
    tests = (replace(pair.comparison, where={"of": _title(pair), **pair.comparison.where}) for pair in pairs)
    return Results("compare", tuple(rows), tuple(tests))


def _verdict(pairs: Sequence[Pair]) -> tuple[str, ...]:
    """Whether the second run is better: of many numbers a count, then a sentence for each."""
    each = tuple(f"{_title(pair)}: {pair.first.metric.title} {pair.comparison.verdict}." for pair in pairs)
    if len(pairs) == 1:
        return each
    tests = [pair.comparison for pair in pairs]
    better, worse = sum(test.better for test in tests), sum(test.worse for test in tests)
    alike = len(tests) - sum(test.differs for test in tests)
    counts = f"{better} better, {worse} worse, {alike} without a difference that is shown"
    return (f"The second run against the first, in {counted(len(pairs), 'number')}: {counts}.", *each)


def _undefined(pairs: Sequence[Pair]) -> tuple[str, ...]:
    """Sentences on the metrics that neither run has a number of, with the reason."""
    lacking: dict[tuple[str, str], int] = {}
    for pair in pairs:
        if not _has_number(pair):
            key = pair.first.metric.title, pair.comparison.reason
            lacking[key] = lacking.get(key, 0) + 1
    return tuple(
        f"{title} of {counted(count, 'pair')}, which neither run has{f' ({reason})' if reason else ''}"
        for (title, reason), count in lacking.items()
    )


def _table(compared: RunComparison, metric: Metric, pairs: Sequence[Pair]) -> Table:
    pairs = [pair for pair in pairs if pair.first.metric == metric]
    columns = (Column(metric, "first"), Column(metric, "second"), Column(TEXT, "second − first"))
    rows = tuple(Row(_title(pair), _cells(pair)) for pair in pairs)
    tested = sum(pair.comparison.p is not None for pair in pairs)
    over = dict.fromkeys(pair.comparison.interval.over for pair in pairs if pair.comparison.interval)
    test = f"paired, [95 % over {' or '.join(over)}]" if over else "paired"
    test = f" Difference: {test}" + (f"; p after Holm over {counted(tested, 'test')}." if tested else ".")
    unit = f", {metric.unit}" if metric.unit in SHARES else ""
    basis = f"; {compared.basis}" if compared.basis else ""
    caption = f"First: {compared.names[0]}. Second: {compared.names[1]}. {metric.title}{unit}{basis}.{test}"
    name = "comparison" if metric == compared.metric else f"comparison-{metric.key}"
    return Table(name, f"{metric.title} of two runs", caption, "", columns, rows, best="")


def _has_number(pair: Pair) -> bool:
    return pair.first.value.value is not None or pair.second.value.value is not None


def _title(pair: Pair) -> str:
    """Name what the numbers are of, with both places where they differ."""
    both = ((place, pair.second.where.get(name, place)) for name, place in pair.first.where.items())
    places = (f"{first}" if first == second else f"{first} → {second}" for first, second in both)
    return ", ".join(filter(None, (pair.first.entity, *places)))


def _cells(pair: Pair) -> tuple:
    test = pair.comparison
    signed = replace(test.metric, unit=SIGNED.get(test.metric.unit, test.metric.unit))
    interval = signed.write_interval(test.interval)
    reason = test.reason if test.p is None else ""
    return pair.first.value, pair.second.value, Cell(test, under=interval or reason)
