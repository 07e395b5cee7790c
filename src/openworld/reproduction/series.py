"""Carry out the runs of a plan one after the other, in folders beside each other, and write the page of each."""

import time
from dataclasses import replace
from pathlib import Path

from openworld import datasets
from openworld.core.errors import OpenworldError
from openworld.core.progress import Observer
from openworld.core.sizes import duration
from openworld.datasets.checking import first_missing, require_places
from openworld.evaluations.finished_runs import read_report
from openworld.evaluations.running import RunOptions, carry_out
from openworld.reproduction.plan import ReproductionPlan, in_words, plan
from openworld.reproduction.planned_runs import placed
from openworld.runs.outputs import require_folder


def carry_out_runs(plan, options: RunOptions, observer: Observer) -> dict[str, str]:
    """Carry out every run in turn, past those that fail; return {run that failed: why}."""
    require_folder("--out", options.folder, pages=("reproduction", ""))
    failures, before, within = {}, 0, Observer(observer.progress)
    for place, run in enumerate(plan.runs, start=1):
        title = f"[{place}/{len(plan.runs)}] {run.name}"
        folder, started = options.folder / run.name, time.perf_counter()
        others = tuple(path.parent for path in sorted(options.folder.glob("*/run.json")) if path.parent != folder)
        try:
            spec = run.spec
            if run.twin is not None:  # the images that it reads are made first
                run.twin.make(options.folder, options.device, within)
                spec = placed(spec, options.folder)
            series = replace(options, title=f"{title}: ", before=before, units=plan.units, siblings=others)
            carry_out(spec, spec, replace(series, folder=folder), within)
            read_report(folder).write()
        except OpenworldError as error:
            failures[run.name] = str(error)
            observer.say(f"{title}: failed")
        else:
            observer.say(f"{title}: done in {duration(time.perf_counter() - started)}")
        before += run.units
    return failures


def use_data(plan, *, whole: bool) -> None:
    """Read data sets from the folder of a plan from now on; refuse one that lacks any if they must be `whole`."""
    if plan.downloads and Path(plan.setup.data).is_dir():
        datasets.use_root(plan.setup.data)
    if whole:
        require_places(plan.downloads, plan.setup.data)


def plan_what_is_there(paper: str, tables, setup, *, figures=()) -> ReproductionPlan:
    """Plan a reproduction as `plan` does, without those rows of a source asked for whose data are not there."""
    planned = plan(paper, tables, setup, figures=figures)
    missing = missing_data(planned) if setup.datasets else ()
    return plan(paper, tables, replace(setup, missing=missing), figures=figures) if missing else planned


def missing_data(plan) -> tuple[str, ...]:
    """Return the data sets of a plan that are not in its folder; none where there is no folder yet."""
    folder = Path(plan.setup.data)
    return tuple(name for name in plan.downloads if folder.is_dir() and first_missing(name, folder))


def failure(plan, failures: dict[str, str]) -> OpenworldError:
    """Return what to raise: which runs failed, and which tables and figures lack them; what is done is kept."""
    failed = [run for run in plan.runs if run.name in failures]
    reasons = [f"\n- {run.name} (for {in_words(run.tables, run.figures)}): {failures[run.name]}" for run in failed]
    lost = in_words(*plan.without(failures))
    lacking = f"{lost} cannot be made" if lost else "the tables or figures that need them lack them"
    error = OpenworldError(
        f"{len(failed)} of {len(plan.runs)} runs failed, and {lacking}; what is done is kept, and the same command "
        f"resumes from there.{''.join(reasons)}"
    )
    error.exit_code = 1
    return error
