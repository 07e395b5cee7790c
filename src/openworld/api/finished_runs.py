"""Finished runs: opened, compared, averaged, held against requirements, and the threshold to run one with.

`openworld compare`, `average`, `check` and `decide`.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from openworld.api.arguments import EVERY, OutputFile, OutputFolder, Places, Report, Run, Runs
from openworld.core.console import Ending
from openworld.core.errors import OpenworldError
from openworld.core.reading import wrong
from openworld.core.types import checked

SUMMARY = "GITHUB_STEP_SUMMARY"


@checked
def open_run(folder: Path | str) -> Report:
    """Return the finished run in a folder, every record verified.

    Args:
        folder: of the run; it holds run.json.

    Raises:
        OpenworldError: there is no run, or a unit is missing or damaged.
    """
    from openworld.evaluations.finished_runs import read_report

    return read_report(folder)


def plain_records(folder: Path) -> "list[dict[str, Any]]":
    """Return the metrics of every record of a run without a report, which only another package's may be."""
    from openworld.runs import RunStore

    return [{"unit": record.name, "metrics": record.metrics} for record in RunStore(folder).records()]


def as_run(run: Run) -> Report:
    """Return a run, or the one in a folder; raises as `open_run`."""
    from openworld.report.report import Report

    return run if isinstance(run, Report) else open_run(folder_of(run))


def folder_of(run: Run) -> Path:
    """Return the folder of a run, or the folder that was given."""
    from openworld.report.report import Report

    if isinstance(run, Report):
        return run.folder
    if not isinstance(run, str | Path) or not str(run):
        raise wrong(run, "a finished run or its folder", "run")
    return Path(run)


@checked
def compare(first: Run, second: Run, metric: str = "") -> Report:
    """Compare two runs on the same test images, and say for each learner or detector whether it got better.

    Change one thing between the runs, such as the backbone or the number of training images: that is what is compared.
    Whatever else differs, such as the settings of a learner, is listed above the table. Runs on other test images are
    refused, because part of their difference would come from the images.

    Every row is a paired test, and the p-values of the table are corrected for their number (Holm). Runs of learners,
    and predictions that were scored, are paired image by image; runs of OOD detection cell by cell; runs of other
    evaluations number by number, over the seeds that both runs have.

    Args:
        first: a run, or its folder.
        second: another run on the same test images.
        metric: what is compared: openworld_auc (default), auroc, base_accuracy, new_accuracy, harmonic_mean, ...; of
            runs of OOD detection auroc (default), auroc_slope, fpr_out_positive, aupr_in, ...

    Returns:
        A report: `.found.pairs` has each pair of numbers and its test, `.found.changes` what was asked differently.

    Raises:
        OpenworldError: runs of two evaluations, on other data, without a number in common; an unknown metric.
    """
    from openworld.evaluations.finished_runs import compare_runs
    from openworld.report.finished_runs import comparison_report

    folders = [folder_of(run) for run in (first, second)]
    here, there = (
        str(folder) if isinstance(run, str | Path) else str(getattr(run, "title", "") or folder)
        for run, folder in zip((first, second), folders, strict=True)
    )
    return comparison_report(compare_runs(*folders, metric, (here, there)))


@checked
def average(
    runs: Runs, *, of: str = "", out: Annotated[Path | str | None, OutputFolder(pages=(EVERY,))] = None
) -> Report:
    """Average several runs of one evaluation, one on each data set, and say which methods differ over data sets.

    ```
    openworld average runs/dtd runs/eurosat runs/pets
    openworld average runs/near-*/ --of fpr_out_positive --out runs/all
    ```

    The mean counts every data set the same. Its two intervals say what they are over: seeds (these data sets, other
    draws and trainings) and data sets (these are a sample). Methods are tested in pairs over the data sets (Student's
    t, Holm), and ranked: Friedman's test, and Nemenyi's critical difference in a diagram. The page has a panel for
    each data set. Data sets bear the names of their folders.

    A spec with `[[each]]` makes such runs in one go: `openworld run --help`.

    Args:
        runs: folders of finished runs, a data set each; in Python also runs, or {name of the data set: run or folder}.
        of: metric, such as auroc or absolute_error; default: that by which the evaluation compares methods.
        out: folder that keeps page and numbers.

    Returns:
        A report: `.tables`, `.results` (means, ranks and tests as rows); it shows its tables in a notebook.

    Raises:
        OpenworldError: fewer than two runs, two of one name, runs of two evaluations, an unknown metric.
    """
    from openworld.evaluations.finished_runs import average_runs

    report = average_runs(_folders(runs), of)
    if out is None:
        return report
    out = Path(out)
    report.write(out)
    return replace(report, ending=Ending.at(out, f"Numbers: {out / 'results.parquet'}"))


def _folders(runs: Runs) -> dict[str, Path]:
    """Return the folders by the names of their data sets."""
    if isinstance(runs, Mapping):
        return {str(name): folder_of(run) for name, run in runs.items()}
    if not isinstance(runs, list | tuple):
        raise OpenworldError(f"one run came, {runs}; give a list of several.")
    folders: list[Path] = [folder_of(run) for run in runs]
    names = [folder.resolve().name for folder in folders]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise OpenworldError(f"two runs are called {twice!r}, as their folders are; rename one, so that rows differ.")
    return dict(zip(names, folders, strict=True))


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
    from openworld.evaluations.finished_runs import compare_runs
    from openworld.report.finished_runs import CheckedRun, check_report, junit_xml
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


@checked
def decide(
    run: Run,
    *,
    miss_rate: float | None = None,
    hit_rate: float | None = None,
    cost_miss: float | None = None,
    cost_unhit: float | None = None,
    cost_kept: float | None = None,
    cost_hit: float | None = None,
    new_share: float | None = None,
    learner: str = "",
    page: Annotated[Path | str | None, OutputFile(option="--page")] = None,
) -> Report:
    """Choose the threshold below which an image is flagged as new, and say what that misses and hits.

    ```
    openworld decide runs/demo --miss-rate 0.3  # at most 30 % missed
    openworld decide runs/demo --hit-rate 0.5   # at least half hit
    openworld decide runs/demo --cost-miss 1 --cost-unhit 5 --new-share 0.1
    ```

    Give one rule. The threshold is chosen on the run's validation images and measured on its test images.

    A base image is *missed* when it is flagged or misnamed; a new one is *hit* when it is flagged and named right.
    Rates come with intervals over the test images. The last lines are commands: `openworld predict` with the
    threshold, one for each seed, since each seed learned something else. A threshold holds for the names it was chosen
    with: more new names, and baseness falls.

    Args:
        run: a finished run of recognition, or its folder.
        miss_rate: rule: flag as many images as possible, of base images at most this share missed.
        hit_rate: rule: flag as few images as possible, of new images at least this share hit.
        cost_miss: rule: the least cost, where a base image that is flagged or misnamed costs this.
        cost_unhit: beside `cost_miss`: cost of a new image that is not flagged, or misnamed.
        cost_kept: cost of a base image that is kept and named right; default: 0.
        cost_hit: cost of a new image that is flagged and named right; default: 0.
        new_share: share of new images where it will run; default: that of the run.
        learner: only this learner, as the run calls it; default: all.
        page: also write the report page of the run, with the decision in it, into this file.

    Returns:
        A report: `.found.decisions` has each table and learner, `.found.commands(decision)` what to type next,
        and `.found.report_of_run()` is the report of the run with the decision in it.

    Raises:
        OpenworldError: no rule or two, a run without validation images, an unknown learner.
    """
    from openworld.evaluations.recognition.operating_point import OperatingSpec
    from openworld.evaluations.recognition.report import choose_thresholds
    from openworld.results import RunFolder

    costs = {"base_missed": cost_miss, "new_unhit": cost_unhit, "base_kept": cost_kept, "new_hit": cost_hit}
    rule = OperatingSpec(miss_rate=miss_rate, hit_rate=hit_rate, new_share=new_share, **costs)
    return choose_thresholds(RunFolder.read(folder_of(run)), rule, learner, None if page is None else Path(page))
