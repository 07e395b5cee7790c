"""Carry out a run: shared by `demo`, `run` and `reproduce`; what is said of it afterwards is `_telling`."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

from openworld import OpenworldError, __version__
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
    from openworld.cli._telling import say_run

    out = console.output(quiet=manner.quiet or manner.as_json)
    perform(spec, given, manner, out)
    with console.working():
        say_run(spec.protocol, manner.folder, out, as_json=manner.as_json and not manner.quiet)


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
    _require_free(manner.folder)
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


def _require_free(folder: Path) -> None:
    """Refuse a folder whose page is not that of a run, and would be written over."""
    if (folder / "report.html").exists() and not (folder / "run.json").exists():
        raise OpenworldError(f"--out {folder} holds the page of something else than a run; give another folder.")


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
