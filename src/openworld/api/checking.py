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
from openworld.report.layout import ENTITY, Brief, Layout, Pivot
from openworld.report.report import Report
from openworld.results import Result, Results
from openworld.results.requirements import BROKEN, HOLDS, OPEN, Check, Requirement, judge, judge_difference

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
        words={"check": {"decision": decisions, "to tell": further}},
        sentences=(answer, *(f"{check.sentence}." for check in outcome.checks)),
    )
    checks = [{"decision": check.decision, "says": check.sentence, "more": check.more} for check in outcome.checks]
    facts = {"decision": outcome.decision, "checks": checks}
    return LAYOUT.report(brief, text=(), made={"run": outcome.run}, found=outcome, facts=facts)


def junit(outcome: CheckedRun) -> str:
    """Return JUnit XML: what is broken is a failure, what cannot be told is skipped."""
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
