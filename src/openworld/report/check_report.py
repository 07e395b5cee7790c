"""What `openworld check` says: a table, JUnit XML for test reports, and Markdown for the summary of a pipeline."""

from collections import Counter
from dataclasses import dataclass
from xml.etree import ElementTree

from openworld import _html
from openworld._terminal import as_text
from openworld.report.render import markdown_table, plain_html_table, terminal_table
from openworld.report.report_base import ReportBase
from openworld.report.table import Column, Row, Table
from openworld.results import TEXT, Result, Results
from openworld.results.requirements import BROKEN, HOLDS, OPEN, Check

EXIT_CODES = {HOLDS: 0, BROKEN: 3, OPEN: 4}


@dataclass(frozen=True, repr=False)
class CheckReport(ReportBase):
    """Requirements on a run, each with what is known of it.

    Args:
        run: what the run is called.
        checks: one or more.
    """

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

    @property
    def results(self) -> Results:
        """The numbers that were checked, told apart by `where["required"]`."""
        rows = (Result(check.title, check.metric, check.value, {"required": check.required}) for check in self.checks)
        return Results("check", tuple({row.key: row for row in rows}.values()))  # a requirement may come twice

    @property
    def verdict(self) -> tuple[str, ...]:
        """The decision, then a sentence for every number."""
        return (self.text, *(f"{check.sentence}." for check in self.checks))

    def _all_tables(self) -> tuple[Table]:
        """A row per number."""
        metrics = dict.fromkeys(check.metric for check in self.checks)
        columns = (Column(TEXT, "required"), *map(Column, metrics), Column(TEXT, "decision"), Column(TEXT, "to tell"))
        rows = []
        for check in self.checks:
            values = (check.value if metric == check.metric else None for metric in metrics)
            more = f"{check.more:,} more {check.value.intervals[0].over}" if check.more else check.reason
            rows.append(Row(check.title, (check.required, *values, check.decision, more)))
        caption = "[95 %]: a requirement holds where the whole interval is on its right side."
        return (Table("check", f"What is required of {self.run}", caption, "", columns, tuple(rows), best=""),)

    @property
    def text(self) -> str:
        """The whole in a sentence."""
        counts = Counter(check.decision for check in self.checks)
        listed = ", ".join(f"{count} {decision}" for decision, count in counts.items())
        return f"{self.run}: {self.decision} ({len(self.checks)} checked: {listed})."

    def __repr__(self) -> str:
        return as_text(lambda out: out.print(terminal_table(*self._all_tables()))) + f"\n\n{self.text}"

    def _repr_html_(self) -> str:
        return _html.block([self.text], plain_html_table(*self._all_tables()))

    def markdown(self) -> str:
        """Return the text for the summary of a pipeline."""
        return f"{markdown_table(*self._all_tables())}\n{self.text}\n"

    def junit(self) -> str:
        """Return JUnit XML: what is broken is a failure, what cannot be told is skipped."""
        counts = Counter(check.decision for check in self.checks)
        totals = {"tests": str(len(self.checks)), "failures": str(counts[BROKEN]), "skipped": str(counts[OPEN])}
        suite = ElementTree.Element("testsuite", {"name": f"openworld check {self.run}", **totals})
        for check in self.checks:
            case = ElementTree.SubElement(suite, "testcase", {"classname": check.title, "name": check.required})
            if check.decision != HOLDS:
                tag = "failure" if check.decision == BROKEN else "skipped"
                ElementTree.SubElement(case, tag, {"message": check.sentence})
        ElementTree.indent(suite)
        return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"
