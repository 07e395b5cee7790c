"""Carry out a run and say what came of it: shared by `demo` and `run`."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

from openworld import __version__
from openworld.cli import console


@dataclass(frozen=True)
class Manner:
    """How a run is carried out and told; nothing here changes a result."""

    folder: Path
    device: str = "cpu"
    workers: int = 0
    cache: Path | None = None
    allow_corrupt: int = 0
    quiet: bool = False
    as_json: bool = False
    remark: str = ""
    engine: str = "local"
    among: "Among | None" = None


@dataclass(frozen=True)
class Among:
    """Where a run stands in a series of runs.

    Args:
        title: what its bars say, such as "[2/6] recognition-dtd: ".
        before: units of the runs before it.
        units: of all runs.
        siblings: folders of the other runs, from which units that are the same are taken over.
    """

    title: str
    before: int
    units: int
    siblings: tuple[Path, ...] = ()


def carry_out(spec, given, manner: Manner) -> None:
    """Encode, run every unit, build the report, print the table."""
    out = console.output(quiet=manner.quiet or manner.as_json)
    perform(spec, given, manner, out)
    with console.working():
        say_run(spec, manner.folder, out, as_json=manner.as_json and not manner.quiet)


def say_run(spec, folder: Path, out, *, as_json: bool) -> None:
    """The page of a run of any protocol, and its tables."""
    from openworld.cli._open_world_shifts import say_open_world_shifts

    told = {
        "dynamic": say_courses,
        "accuracy-estimation": say_estimates,
        "incremental-shift": say_shifts,
        "open-world-by-shift": say_open_world_shifts,
    }
    told.get(spec.protocol, say_recognition)(folder, out, as_json=as_json)


def perform(spec, given, manner: Manner, out) -> None:
    """Encode and run every unit; records are all that comes of it."""
    from openworld.cli._names import audit_names
    from openworld.protocols import module_of, stages_of
    from openworld.protocols._names import require_data
    from openworld.protocols._workbench import Machine
    from openworld.runs import RunStore

    machine = Machine(
        device=manner.device,
        cache=None if manner.cache is None else str(manner.cache),
        allow_corrupt=manner.allow_corrupt,
    )
    store = RunStore(manner.folder)
    require_data(spec)
    units = module_of(spec).units(spec, machine)
    store.create(given, spec, _provenance(spec, machine))
    out.print(_headline(spec, manner))
    if manner.remark:
        out.print(manner.remark)
    with console.working():
        audit_names(spec, manner, out)
        _take_over(units, store, manner)
        if not all(map(store.has, units)):
            for stage in stages_of(spec, machine):
                _prepare(stage, out, manner)
        _execute(units, store, manner)


def say_estimates(folder: Path, out, *, as_json: bool) -> None:
    """The page of accuracies estimated without labels, the table of errors, and who lies nearest to the truth."""
    from openworld import report

    run = report.load_estimates(folder)
    page = report.build_estimates(folder, run=run)
    if as_json:
        print(report.export_estimates(run, "json"), end="")
        return
    say_error_table(run, out)
    out.print(f"Report: {page}   Records: {folder}/   Lines by methods: openworld report {folder} --table markdown")


def say_error_table(run, out) -> None:
    """Mean absolute errors, methods by lines, and the verdict's first sentence."""
    from openworld import report

    out.print("\nMean absolute error of the estimated accuracy", style="bold", markup=False)
    out.print(report.terminal_estimates(run))
    out.print(f"\n{report.estimate_verdict(run)[0]}", markup=False)


def say_shifts(folder: Path, out, *, as_json: bool) -> None:
    """The page of detectors over cells of shift, their table, and what either shift does."""
    from openworld import report

    run = report.load_shifts(folder)
    page = report.build_shifts(folder, run=run)
    if as_json:
        print(report.export_shifts(run, "json"), end="")
        return
    say_shift_table(run, out)
    out.print(f"Report: {page}   Records: {folder}/   Cell by cell: openworld report {folder} --table markdown")


def say_shift_table(run, out) -> None:
    """A line per model and detector, and the verdict but for what it rests on."""
    from openworld import report

    out.print("\nDetectors over cells of semantic and covariate shift", style="bold", markup=False)
    out.print(report.terminal_shifts(run))
    for sentence in report.shift_verdict(run)[:-1]:
        out.print(f"\n{sentence}", markup=False)
    out.print()


def say_courses(folder: Path, out, *, as_json: bool) -> None:
    """The page of dynamic scenarios, and a table per course."""
    from openworld import report

    page, tables = report.build_courses(folder), report.load_courses(folder)
    if as_json:
        print(report.courses_json(tables))
        return
    say_course_tables(tables, out)
    out.print(f"Report: {page}   Records: {folder}/   As text: openworld report {folder} --table markdown")


def say_course_tables(tables, out) -> None:
    """A table per course; of many courses one per scenario, with the means over its courses."""
    from openworld import report

    many = len(tables) > report.MANY
    for table in report.scenario_tables(tables) if many else tables:
        title = table.title if many else table.key.title
        out.print(f"\n{title}", style="bold", markup=False)
        out.print(report.terminal_scenario(table) if many else report.terminal_course(table))
    out.print(f"\n{report.terminal_legend(tables[0].yardstick)}", markup=False)
    if many:
        out.print(f"Every one of the {len(tables)} courses is in the report.", markup=False)


def say_recognition(folder: Path, out, *, as_json: bool) -> None:
    """The page of a recognition run, and what `say_results` says."""
    from openworld import report

    say_results(folder, report.build(folder), out, as_json=as_json)


def say_results(folder: Path, page: Path, out, *, as_json: bool) -> None:
    """The tables, where the points go, and where things lie."""
    from openworld import report

    summary = report.summarise(report.load(folder).outcomes)
    if as_json:
        print(report.export(summary, "json"))
        return
    reached = report.reaches(summary)
    for reach in reached:
        out.print(f"\nOpenworldAUC in {reach.heading}", style="bold", markup=False)
        out.print(report.terminal_reach(reach))
    if not reached:
        say_tables(summary, out)
    after = f"Target by target: openworld report {folder} --table text" if reached else _AGAIN
    out.print(f"Report: {page}   Records: {folder}/   {after}")


_AGAIN = "Again with your own data: openworld run --help"


def say_tables(summary, out) -> None:
    """Every table with where the points of its best learner go; headed by its title where there are several."""
    for table in summary.tables:
        if len(summary.tables) > 1:
            out.print(f"\n{table.title}", style="bold", markup=False)
        say_table(table, [table.best], out)
        say_operating(table, out)


def say_table(table, rows, out) -> None:
    """A table, and for some of its rows where the points go, or why that cannot be said."""
    from openworld import report

    out.print(report.terminal_table(table))
    for row in rows:
        out.print(_why_none(row) if row.openworld_auc is None else report.losses_line(row), markup=False)


def say_operating(table, out) -> None:
    """Where the learners are run, if the run has chosen that: a table, and of the preferred one a sentence."""
    from openworld.report.operating import all_run_at, preferred, sentence, why_none
    from openworld.report.operating_tables import terminal_operating

    found = all_run_at(table)
    if found:
        best = preferred(found)
        out.print()
        out.print(terminal_operating(table))
        out.print(why_none(found) if best is None else sentence(best), markup=False)


def _why_none(row) -> str:
    reasons = {outcome.metrics["openworld_auc"]["reason"]: None for outcome in row.outcomes}
    return f"{row.learner} has no OpenworldAUC: {'; '.join(filter(None, reasons))}."


def _provenance(spec, machine) -> dict:
    from openworld.protocols import module_of
    from openworld.protocols._names import readers
    from openworld.protocols._workbench import backbone
    from openworld.runs import provenance

    weights = {name: backbone(name, machine.device).fingerprint for name in readers(spec)}
    return provenance(weights=weights, data=module_of(spec).fingerprints(spec), command=console.command())


def _headline(spec, manner: Manner) -> str:
    from openworld.protocols import module_of

    parts = [
        f"openworld {__version__}",
        *module_of(spec).summary(spec),
        "seeds " + " ".join(map(str, spec.seeds)),
        f"{manner.device}, {count_workers(manner)} worker(s){_on(manner)} x {spec.threads} thread(s)",
    ]
    return " · ".join(parts)


def _prepare(stage, out, manner: Manner) -> None:
    """Do a stage of a run, and say what came of it where there was something to do."""
    from openworld.protocols._stages import Crew

    started = time.perf_counter()
    with console.bars(manner.quiet or manner.as_json) as progress:
        bar = progress.add_task(f"{_title(manner)}{stage.doing}", total=None, rate="")

        def told(done: int, total: int) -> None:
            rate = done / (time.perf_counter() - started)
            progress.update(bar, completed=done, total=total, rate=f"{rate:,.1f} {stage.counted}/s")

        count = stage.work(Crew(manner.engine, count_workers(manner), manner.folder), told)
    seconds = time.perf_counter() - started
    if count:
        out.print(
            f"{stage.done} {count:,} {stage.counted} in {seconds:.0f} s, {count / seconds:,.1f}/s "
            "(kept: the next run skips this)"
        )


def _execute(units, store, manner: Manner) -> None:
    from openworld.runs import execute

    with console.bars(manner.quiet or manner.as_json) as progress:
        before, total = (manner.among.before, manner.among.units) if manner.among else (0, len(units))
        bar = progress.add_task(f"{_title(manner)}fitting", total=total, completed=before, rate="")

        def told(event) -> None:
            doing = f"{_title(manner)}{event.state} {event.unit}"
            progress.update(bar, completed=before + event.done, description=doing)

        execute(units, store, engine=manner.engine, workers=min(count_workers(manner), len(units)), progress=told)


def _take_over(units, store, manner: Manner) -> None:
    """Copy the records of units that another run of the series has done already."""
    from openworld.runs import RunStore

    others = [RunStore(folder) for folder in manner.among.siblings] if manner.among else []
    for unit in units if others else ():
        store.take_over(unit, others)


def _title(manner: Manner) -> str:
    return manner.among.title if manner.among else ""


def _on(manner: Manner) -> str:
    return " on Ray" if manner.engine == "ray" else ""


def count_workers(manner: Manner) -> int:
    """Units that are worked on at a time."""
    return manner.workers or (os.cpu_count() or 1 if manner.device == "cpu" else 1)
