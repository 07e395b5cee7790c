"""Whether a finished run is good enough to be used: what `openworld check` does."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from openworld._errors import OpenworldError
from openworld._types import checked
from openworld.api.finished_run import as_run
from openworld.evaluations.finished_runs import compare_runs
from openworld.report.check_report import CheckedRun, check_report
from openworld.report.report import Report
from openworld.results.requirements import Requirement, judge, judge_difference


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
