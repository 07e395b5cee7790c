"""What `openworld check` says: the answer for all requirements, a table, and JUnit XML for test reports."""

from collections import Counter
from dataclasses import dataclass
from xml.etree import ElementTree

from openworld.report.page import Page, Section
from openworld.report.report import Report
from openworld.report.table import Column, Row, Table
from openworld.results import TEXT, Result, Results
from openworld.results.requirements import BROKEN, HOLDS, OPEN, Check

EXIT_CODES = {HOLDS: 0, BROKEN: 3, OPEN: 4}


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
        """0 holds, 3 broken, 4 cannot be told."""
        return EXIT_CODES[self.decision]


def check_report(checked: CheckedRun) -> Report:
    """Return a report whose rows are the numbers that were checked, told apart by `where["required"]`."""
    counts = Counter(check.decision for check in checked.checks)
    listed = ", ".join(f"{count} {decision}" for decision, count in counts.items())
    answer = f"{checked.run}: {checked.decision} ({len(checked.checks)} checked: {listed})."
    rows = (Result(check.title, check.metric, check.value, {"required": check.required}) for check in checked.checks)
    results = Results("check", tuple({row.key: row for row in rows}.values()))  # a requirement may come twice
    table = _table(checked)
    page = Page(
        title="Is it good enough?",
        subtitle=(checked.run,),
        verdict=(answer, *(f"{check.sentence}." for check in checked.checks)),
        sections=(Section("What is required", tables=(table,)),),
    )
    checks = [{"decision": check.decision, "says": check.sentence, "more": check.more} for check in checked.checks]
    facts = {"decision": checked.decision, "checks": checks}
    return Report(results, (table,), page, text=(), made={"run": checked.run}, found=checked, facts=facts)


def _table(checked: CheckedRun) -> Table:
    """A row per number."""
    metrics = dict.fromkeys(check.metric for check in checked.checks)
    columns = (Column(TEXT, "required"), *map(Column, metrics), Column(TEXT, "decision"), Column(TEXT, "to tell"))
    rows = []
    for check in checked.checks:
        values = (check.value if metric == check.metric else None for metric in metrics)
        more = f"{check.more:,} more {check.value.intervals[0].over}" if check.more else check.reason
        rows.append(Row(check.title, (check.required, *values, check.decision, more)))
    caption = "[95 %]: a requirement holds where the whole interval is on its right side."
    return Table("check", f"What is required of {checked.run}", caption, "", columns, tuple(rows), best="")


def junit(checked: CheckedRun) -> str:
    """Return JUnit XML: what is broken is a failure, what cannot be told is skipped."""
    counts = Counter(check.decision for check in checked.checks)
    totals = {"tests": str(len(checked.checks)), "failures": str(counts[BROKEN]), "skipped": str(counts[OPEN])}
    suite = ElementTree.Element("testsuite", {"name": f"openworld check {checked.run}", **totals})
    for check in checked.checks:
        case = ElementTree.SubElement(suite, "testcase", {"classname": check.title, "name": check.required})
        if check.decision != HOLDS:
            tag = "failure" if check.decision == BROKEN else "skipped"
            ElementTree.SubElement(case, tag, {"message": check.sentence})
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"
