"""Whether a finished run is good enough to be used: what `openworld check` does, and what it says.

The answer for all requirements, a table, and JUnit XML for test reports.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from openworld._errors import OpenworldError
from openworld._types import checked
from openworld.api.finished_run import as_run
from openworld.evaluations.finished_runs import compare_runs
from openworld.report.page import Page, Section
from openworld.report.report import Report
from openworld.report.table import Column, Row, Table
from openworld.results import TEXT, Result, Results
from openworld.results.requirements import BROKEN, HOLDS, OPEN, Check, Requirement, judge, judge_difference

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


@checked
def check(
    run: Report | Path | str,
    require: str | Sequence[str] = (),
    *,
    of: str = "",
    against: Report | Path | str | None = None,
    margin: float = 0.01,
    metric: str = "",
    where: Mapping[str, str | int | float] | None = None,
) -> Report:
    """Hold a run's numbers, with their 95 % intervals, against what is required of them.

    Args:
        run: a finished run, or its folder.
        require: such as "openworld_auc >= 0.5"; each is asked of every learner, detector or method.
        of: only this one; "" for all.
        against: another run; then the run must not be worse than it by more than the margin.
        margin: in the unit of data, of shares a fraction in [0, 1): 0.01 is a point.
        metric: what is compared with the other run; "" for the first of the evaluation.
        where: only numbers of this place, such as {"level": 3}.

    Returns:
        A report: `.found.decision` is "holds", "broken" or "cannot be told", `.found.checks` has each number.

    Raises:
        OpenworldError: nothing required, a requirement that is not understood, a metric that the run does not have.

    >>> import openworld as ow
    >>> run = ow.score({"side": ["base", "base", "new"], "score": [0.9, 0.8, 0.4], "correct": [1, 1, 1]})
    >>> ow.check(run, "auroc >= 0.8").found.decision
    'cannot be told'
    """
    texts = (require,) if isinstance(require, str) else tuple(require)
    if not texts and against is None:
        raise OpenworldError('nothing is required; say what, such as "openworld_auc >= 0.5", or give another run.')
    run = as_run(run)
    checks = judge(run.results, map(Requirement.parse, texts), entity=of, where=where)
    if against is not None:
        other = against.folder if isinstance(against, Report) else against
        pairs = compare_runs(other, run.folder, metric).pairs
        checks += judge_difference([pair for pair in pairs if of in ("", pair.second.entity)], margin)
    return check_report(CheckedRun(run.title or str(run.folder), checks))


def check_report(answered: CheckedRun) -> Report:
    """Return a report whose rows are the numbers that were answered, told apart by `where["required"]`."""
    counts = Counter(check.decision for check in answered.checks)
    listed = ", ".join(f"{count} {decision}" for decision, count in counts.items())
    answer = f"{answered.run}: {answered.decision} ({len(answered.checks)} answered: {listed})."
    rows = (Result(check.title, check.metric, check.value, {"required": check.required}) for check in answered.checks)
    results = Results("check", tuple({row.key: row for row in rows}.values()))  # a requirement may come twice
    table = _table(answered)
    page = Page(
        title="Is it good enough?",
        subtitle=(answered.run,),
        verdict=(answer, *(f"{check.sentence}." for check in answered.checks)),
        sections=(Section("What is required", tables=(table,)),),
    )
    checks = [{"decision": check.decision, "says": check.sentence, "more": check.more} for check in answered.checks]
    facts = {"decision": answered.decision, "checks": checks}
    return Report(results, (table,), page, text=(), made={"run": answered.run}, found=answered, facts=facts)


def _table(answered: CheckedRun) -> Table:
    metrics = dict.fromkeys(check.metric for check in answered.checks)
    columns = (Column(TEXT, "required"), *map(Column, metrics), Column(TEXT, "decision"), Column(TEXT, "to tell"))
    rows = []
    for check in answered.checks:
        values = (check.value if metric == check.metric else None for metric in metrics)
        more = f"{check.more:,} more {check.value.intervals[0].over}" if check.more else check.reason
        rows.append(Row(check.title, (check.required, *values, check.decision, more)))
    caption = "[95 %]: a requirement holds where the whole interval is on its right side."
    return Table("check", f"What is required of {answered.run}", caption, "", columns, tuple(rows), best="")


def junit(answered: CheckedRun) -> str:
    """Return JUnit XML: what is broken is a failure, what cannot be told is skipped."""
    counts = Counter(check.decision for check in answered.checks)
    totals = {"tests": str(len(answered.checks)), "failures": str(counts[BROKEN]), "skipped": str(counts[OPEN])}
    suite = ElementTree.Element("testsuite", {"name": f"openworld check {answered.run}", **totals})
    for check in answered.checks:
        case = ElementTree.SubElement(suite, "testcase", {"classname": check.title, "name": check.required})
        if check.decision != HOLDS:
            tag = "failure" if check.decision == BROKEN else "skipped"
            ElementTree.SubElement(case, tag, {"message": check.sentence})
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"
