"""Whether a finished run is good enough: the answer for all requirements, as a report and as JUnit XML."""

from collections import Counter
from dataclasses import dataclass
from xml.etree import ElementTree

from openworld.report.layout import ENTITY, Brief, Layout, Pivot
from openworld.report.report import Report
from openworld.results import Result, Results
from openworld.results.requirements import BROKEN, HOLDS, OPEN, Check

EXIT_CODES = {HOLDS: 0, BROKEN: 3, OPEN: 4}
NUMBERS = Pivot(
    name="check",
    title="What is required",
    rows=(ENTITY, "required"),
    note="A requirement holds where the whole interval is on its right side.",
)
LAYOUT = Layout("Is it good enough?", "", (NUMBERS,))


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
