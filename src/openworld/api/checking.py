"""Whether a finished run is good enough to be used: `openworld check`."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from openworld.api.arguments import OutputFile, Places, Report, Run
from openworld.api.finished_run import as_run, folder_of
from openworld.core.console import Ending
from openworld.core.errors import OpenworldError
from openworld.core.types import checked

SUMMARY = "GITHUB_STEP_SUMMARY"


@checked
def check(
    run: Run,
    require: str | Sequence[str] = (),
    *,
    of: str = "",
    against: Run | None = None,
    margin: float = 0.01,
    metric: str = "",
    where: Places | None = None,
    junit: Annotated[Path | str | None, OutputFile(option="--junit")] = None,
) -> Report:
    """Hold a run's numbers, with their 95 % intervals, against what is required of them; the exit code is the answer.

    ```
    openworld check runs/demo --of GMoP --require "openworld_auc >= 0.5"
    openworld check runs/new --against runs/old --margin 0.01 --junit check.xml
    ```

    Exit codes: 0 all hold; 3 something is broken; 4 something is undecided with so few images, and nothing is
    broken; 2 wrong use. A number is tested by its 95 % interval: a requirement *holds* where the whole interval is on
    its right side, is *broken* where the whole interval is on the other side, and *undecided* in between; the
    table then says how many more images would decide, if the number stays as it is.

    `--against` asks whether the run may replace another one (non-inferiority): it holds where the interval of their
    paired difference lies above minus the margin.

    In a GitHub workflow the table also goes into the summary of the step.

    Args:
        run: a finished run, or its folder.
        require: such as "openworld_auc >= 0.5"; 50 % is 0.5. Each is asked of every learner, detector or method, and
            all must hold.
        of: only this learner, detector or estimator; default: all of the run.
        against: another run; this one must not be worse than it by more than the margin.
        margin: of `against`, in the unit of data, of shares a fraction in [0, 1): 0.01 is a point.
        metric: what is compared with the other run; default: that by which the evaluation compares methods.
        where: only numbers of this place, such as level=3; in Python {"level": 3}.
        junit: also write JUnit XML into this file.

    Returns:
        A report: `.found.decision` is "holds", "broken" or "undecided", `.found.checks` has each number.

    Raises:
        OpenworldError: nothing required, a requirement that is not understood, a metric that the run does not have.

    >>> import openworld as ow
    >>> run = ow.score({"side": ["base", "base", "new"], "score": [0.9, 0.8, 0.4], "correct": [1, 1, 1]})
    >>> ow.check(run, "auroc >= 0.8").found.decision
    'undecided'
    """
    from dataclasses import replace

    from openworld.evaluations.finished_runs import compare_runs
    from openworld.report.checked_run import CheckedRun, check_report, junit_xml
    from openworld.results.requirements import Requirement, judge, judge_difference
    from openworld.runs.atomic import write_file

    texts = (require,) if isinstance(require, str) else tuple(require)
    if not texts and against is None:
        raise OpenworldError('nothing is required; say what, such as "openworld_auc >= 0.5", or give another run.')
    run = as_run(run)
    checks = judge(run.results, map(Requirement.parse, texts), entity=of, where=where)
    if against is not None:
        pairs = compare_runs(folder_of(against), run.folder, metric).pairs
        checks += judge_difference([pair for pair in pairs if of in ("", pair.second.entity)], margin)
    report = check_report(CheckedRun(run.title or str(run.folder), checks))
    if junit is not None:
        write_file(Path(junit), junit_xml(report.found).encode())
    if summary := os.environ.get(SUMMARY):
        with Path(summary).open("a", encoding="utf-8") as file:
            file.write(f"{report.export('markdown')}\n{report.verdict[0]}\n")
    return replace(report, ending=Ending(exit_code=report.found.exit_code))
