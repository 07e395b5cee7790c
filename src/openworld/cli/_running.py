"""Carry out a run: shared by `demo`, `run` and `reproduce`; what is shown of it afterwards: `_run_reports`."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from openworld import OpenworldError, __version__
from openworld.cli import console


@dataclass(frozen=True)
class RunOptions:
    """How a run is carried out and shown; nothing here changes a result.

    device: as asked for: "auto", a device, or a list of GPUs with commas; `devices` are those that it comes to.
    workers: units at a time; 0 for as many as suit the machine.
    """

    folder: Path
    device: str = "auto"
    workers: int = 0
    cache: Path | None = None
    allow_corrupt: int = 0
    quiet: bool = False
    as_json: bool = False
    remark: str = ""
    engine: str = "local"
    cache_limit: int | None = None
    series: "SeriesProgress | None" = None

    @cached_property
    def devices(self) -> tuple[str, ...]:
        """Where units are computed."""
        from openworld.backbones.devices import find_devices

        if self.engine == "ray" and self.device in ("auto", "cuda"):  # Ray itself shares the GPUs out
            return find_devices(self.device)[0].partition(":")[:1]
        return find_devices(self.device)

    @property
    def several_devices(self) -> tuple[str, ...]:
        """What is to be shared out among the workers; nothing where all of them have the same device."""
        return self.devices if len(self.devices) > 1 else ()

    @property
    def title(self) -> str:
        """What the bars of a series of runs begin with."""
        return self.series.title if self.series else ""


@dataclass(frozen=True)
class SeriesProgress:
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


def carry_out(spec, given, options: RunOptions) -> None:
    """Encode, run every unit, build the report, print the table."""
    from openworld.cli._run_reports import show_run

    out = console.output(quiet=options.quiet or options.as_json)
    perform(spec, given, options, out)
    with console.working():
        show_run(options.folder, out, as_json=options.as_json and not options.quiet)


def perform(spec, given, options: RunOptions, out) -> None:
    """Encode and run every unit; records are all that comes of it."""
    from openworld.cli._names import audit_names
    from openworld.evaluations import evaluation_of
    from openworld.evaluations.class_lists import require_data
    from openworld.runs import RunStore

    machine = machine_of(options, spec)
    store = RunStore(options.folder)
    _require_free(options.folder)
    require_data(spec)
    evaluation = evaluation_of(spec)
    units = evaluation.units(spec, machine)
    store.create(given, spec, _provenance(spec, machine))
    options = replace(options, workers=count_workers(options, [spec]))
    out.print(_headline(spec, options))
    if options.remark:
        out.print(options.remark)
    with console.working():
        audit_names(spec, options, out)
        _take_over(units, store, options)
        if not all(map(store.has, units)):
            for stage in evaluation.artifacts(spec, machine):
                _prepare(stage, out, options)
        _execute(units, store, options)


def machine_of(options: RunOptions, spec):
    """What a run tells its units of where they compute."""
    from openworld.evaluations.runtime import Machine

    cache, precision = None if options.cache is None else str(options.cache), getattr(spec, "precision", "float32")
    return Machine(options.devices[0], cache, options.allow_corrupt, precision, options.cache_limit)


def _require_free(folder: Path) -> None:
    """Refuse a folder whose page is not that of a run, and would be written over."""
    if (folder / "report.html").exists() and not (folder / "run.json").exists():
        raise OpenworldError(f"--out {folder} holds the page of something else than a run; give another folder.")


def _provenance(spec, machine) -> dict:
    from openworld.evaluations import evaluation_of
    from openworld.runs import provenance

    evaluation = evaluation_of(spec)
    weights = {name: machine.backbone(name).fingerprint for name in evaluation.backbones(spec)}
    return provenance(weights=weights, data=evaluation.fingerprints(spec), command=console.command())


def _headline(spec, options: RunOptions) -> str:
    from openworld.evaluations import evaluation_of

    threads, precision = getattr(spec, "threads", 1), getattr(spec, "precision", "float32")
    parts = [
        f"openworld {__version__}",
        *evaluation_of(spec).summary(spec),
        *(["seeds " + " ".join(map(str, spec.seeds))] if hasattr(spec, "seeds") else []),
        *([] if precision == "float32" else [f"frozen towers in {precision}"]),
        f"{_places(options)}, {options.workers} worker(s){' on Ray' * (options.engine == 'ray')} x {threads} thread(s)",
    ]
    return " · ".join(parts)


def _prepare(stage, out, options: RunOptions) -> None:
    """Do a stage of a run, and say what came of it where there was something to do."""
    from openworld.evaluations.artifacts import Crew

    started = time.perf_counter()
    with console.bars(options.quiet or options.as_json) as progress:
        bar = progress.add_task(f"{options.title}{stage.doing}", total=None, rate="")

        def show_progress(done: int, total: int) -> None:
            rate = done / (time.perf_counter() - started)
            progress.update(bar, completed=done, total=total, rate=f"{rate:,.1f} {stage.counted}/s")

        count = stage.work(
            Crew(options.engine, options.workers, options.folder, options.several_devices), show_progress
        )
    seconds = time.perf_counter() - started
    if count:
        out.print(
            f"{stage.done} {count:,} {stage.counted} in {seconds:.0f} s, {count / seconds:,.1f}/s "
            "(kept: the next run skips this)"
        )


def _execute(units, store, options: RunOptions) -> None:
    from openworld.runs import execute

    with console.bars(options.quiet or options.as_json) as progress:
        before, total = (options.series.before, options.series.units) if options.series else (0, len(units))
        bar = progress.add_task(f"{options.title}fitting", total=total, completed=before, before=before, rate="")

        def show_event(event) -> None:
            doing = f"{options.title}{event.state} {event.unit}"
            done = before + event.done
            kept = {"before": done} if event.state == "kept" else {}
            progress.update(bar, completed=done, description=doing, **kept)

        workers = min(options.workers, len(units))
        execute(
            units, store, engine=options.engine, workers=workers, devices=options.several_devices, progress=show_event
        )


def _take_over(units, store, options: RunOptions) -> None:
    """Copy the records of units that another run of the series has done already, or this one under a former key."""
    from openworld.runs import RunStore

    others = [RunStore(folder) for folder in options.series.siblings] if options.series else []
    for unit in units:
        store.take_over(unit, others)


def _places(options: RunOptions) -> str:
    """The devices, and that they were found and not asked for.

    >>> _places(RunOptions(Path("runs/demo"), "cpu"))
    'cpu'
    >>> _places(RunOptions(Path("runs/demo"), "auto")).endswith(" (found)")
    True
    """
    return " ".join(options.devices) + (" (found)" if options.device == "auto" else "")


def count_workers(options: RunOptions, specs: Sequence) -> int:
    """Units that are worked on at a time in runs of these specs, where nobody says how many."""
    from openworld.evaluations.unit_memory import count_units, needed_by

    return options.workers or count_units(options.devices, lambda: needed_by(specs))
