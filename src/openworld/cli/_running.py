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


def carry_out(spec, given, manner: Manner) -> None:
    """Encode, run every unit, build the report, print the table."""
    from openworld.protocols import module_of
    from openworld.protocols._workbench import Machine
    from openworld.runs import RunStore

    machine = Machine(
        device=manner.device,
        cache=None if manner.cache is None else str(manner.cache),
        allow_corrupt=manner.allow_corrupt,
    )
    out = console.output(quiet=manner.quiet or manner.as_json)
    store = RunStore(manner.folder)
    units = module_of(spec).units(spec, machine)
    store.create(given, spec, _provenance(spec, units))
    out.print(_headline(spec, manner))
    if manner.remark:
        out.print(manner.remark)
    with console.working():
        _encode(spec, machine, out, manner)
        _execute(units, store, manner)
        say = say_courses if spec.protocol == "dynamic" else say_recognition
        say(manner.folder, out, as_json=manner.as_json and not manner.quiet)


def say_courses(folder: Path, out, *, as_json: bool) -> None:
    """The page of dynamic scenarios, and a table per course."""
    from openworld import report

    page, tables = report.build_courses(folder), report.load_courses(folder)
    if as_json:
        print(report.courses_json(tables))
        return
    for table in tables:
        out.print(f"\n{table.key.title}", style="bold", markup=False)
        out.print(report.terminal_course(table))
    out.print(f"Report: {page}   Records: {folder}/")


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
    for table in summary.tables:
        if len(summary.tables) > 1:
            out.print(f"\n{table.title}", style="bold")
        say_table(table, [table.best], out)
    out.print(f"Report: {page}   Records: {folder}/   Again with your own data: openworld run --help")


def say_table(table, rows, out) -> None:
    """A table, and for some of its rows where the points go, or why that cannot be said."""
    from openworld import report

    out.print(report.terminal_table(table))
    for row in rows:
        out.print(_why_none(row) if row.openworld_auc is None else report.losses_line(row), markup=False)


def _why_none(row) -> str:
    reasons = {outcome.metrics["openworld_auc"]["reason"]: None for outcome in row.outcomes}
    return f"{row.learner} has no OpenworldAUC: {'; '.join(filter(None, reasons))}."


def _provenance(spec, units) -> dict:
    from openworld.protocols import module_of
    from openworld.runs import provenance

    weights, data = {spec.backbone: units[0].inputs["weights"]}, module_of(spec).fingerprints(spec)
    return provenance(weights=weights, data=data, command=console.command())


def _headline(spec, manner: Manner) -> str:
    from openworld.protocols import module_of

    parts = [
        f"openworld {__version__}",
        *module_of(spec).summary(spec),
        "seeds " + " ".join(map(str, spec.seeds)),
        f"{manner.device}, {_workers(manner)} worker(s) x {spec.threads} thread(s)",
    ]
    return " · ".join(parts)


def _encode(spec, machine, out, manner: Manner) -> None:
    from openworld.protocols import module_of

    started = time.perf_counter()
    with console.bars(manner.quiet or manner.as_json) as progress:
        bar = progress.add_task("encoding", total=None, rate="")

        def told(done: int, total: int) -> None:
            rate = done / (time.perf_counter() - started)
            progress.update(bar, completed=done, total=total, rate=f"{rate:,.0f} images/s")

        count = module_of(spec).encode_all(spec, machine, told)
    seconds = time.perf_counter() - started
    if count:
        out.print(
            f"encoded {count:,} images in {seconds:.0f} s, {count / seconds:,.0f}/s (kept: the next run skips this)"
        )


def _execute(units, store, manner: Manner) -> None:
    from openworld.runs import execute

    with console.bars(manner.quiet or manner.as_json) as progress:
        bar = progress.add_task("fitting", total=len(units), rate="")

        def told(event) -> None:
            progress.update(bar, completed=event.done, description=f"{event.state} {event.unit}")

        execute(units, store, workers=min(_workers(manner), len(units)), progress=told)


def _workers(manner: Manner) -> int:
    return manner.workers or (os.cpu_count() or 1 if manner.device == "cpu" else 1)
