"""Carry out a run: what a spec names is encoded, every unit is computed, and records are all that comes of it.

Class names are audited before anything is encoded. The audit warns and never stops a run: two classes of exactly one
name are refused by the data set itself; what remains, such as names that a tokenizer reads alike, costs accuracy, and
published numbers were measured with such names.
"""

import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from openworld import __version__
from openworld.core.errors import OpenworldError, failing
from openworld.core.progress import SILENT, Observer
from openworld.core.sizes import parse_size
from openworld.datasets import require_places
from openworld.evaluations import evaluation_of
from openworld.evaluations.evaluation import ClassList
from openworld.runs import RunStore, to_json
from openworld.runs.outputs import RUN, require_folder

MOST_UNITS = 4  # on one GPU, whatever its memory: they take turns there
CUDA_BYTES = 2**30  # in a process before any tensor
# Of a unit's weights: ViT-B/16 with 1,000 names and ViT-L/14 with a learner that sees the images of a step both keep
# about 13 times their weights for the backward pass, by the sizes of their tensors; not measured on a GPU.
MULTIPLE = 14


@dataclass(frozen=True)
class RunOptions:
    """How a run is carried out; nothing here changes a result."""

    folder: Path  # where its records go; an unfinished run in it is continued
    device: str = "auto"  # "auto", a device, or a list of GPUs with commas; `devices` are those that it comes to
    workers: int = 0  # units at a time; 0 for as many as suit the machine
    cache: Path | None = None  # where encoded images are kept; None for the usual place
    allow_corrupt: int = 0  # unreadable images that each image set may lack
    engine: str = "local"  # "local" or "ray"
    cache_limit: str = ""  # what the cache may take, such as "50GB"; "" for any size
    command: Sequence[str] = ()  # what a person typed, for the record of where the numbers come from
    remark: str = ""  # a line that is said at the beginning
    # Of a run in a series of runs: what its bars say, such as "[2/6] recognition-dtd: ", the units of the runs before
    # it and of all, and the folders of the others, from which units that are the same are taken over.
    title: str = ""
    before: int = 0
    units: int | None = None
    siblings: tuple[Path, ...] | None = None
    beside: tuple[str, ...] = ()  # what the folder may hold beside the run, of `runs.outputs.MARKS`

    def __post_init__(self) -> None:
        if self.cache_limit:
            parse_size(self.cache_limit, "--cache-limit")

    @cached_property
    def devices(self) -> tuple[str, ...]:
        """Where units are computed."""
        from openworld.backbones.devices import find_devices

        if self.engine == "ray" and self.device in ("auto", "cuda"):  # Ray itself shares the GPUs out
            return find_devices(self.device)[0].partition(":")[:1]
        return find_devices(self.device)

    @property
    def cache_bytes(self) -> int | None:
        return parse_size(self.cache_limit, "--cache-limit") if self.cache_limit else None

    @property
    def several_devices(self) -> tuple[str, ...]:
        """What is to be shared out among the workers; nothing where all of them have the same device."""
        return self.devices if len(self.devices) > 1 else ()


def carry_out(spec, given: Any, options: RunOptions, observer: Observer = SILENT) -> None:
    """Encode and run every unit of a checked spec that is not done yet; the observer is told how far it is."""
    from openworld.runs import provenance

    if code := code_named(spec):
        observer.say(f"this spec runs code: {', '.join(code)}")
    machine = machine_of(options, spec)
    store = RunStore(options.folder)
    require_folder("--out", options.folder, own=(RUN, *options.beside))
    require_data(spec)
    _require_room_for_contexts(spec, machine)
    evaluation = evaluation_of(spec)
    units = evaluation.units(spec, machine)
    weights = {name: machine.backbone(name).fingerprint for name in evaluation.backbones(spec)}
    made_by = provenance(weights=weights, data=evaluation.fingerprints(spec), command=list(options.command))
    added = store.create(given, spec, made_by, units, options.beside)
    options = replace(options, workers=count_workers(options, spec))
    observer.say(headline(spec, options))
    if added:
        observer.say(f"the run in {options.folder} takes more: {'; '.join(added)}; what it has is kept")
    if options.remark:
        observer.say(options.remark)
    with failing():
        audit_names(spec, options.devices[0], options.folder, observer.say)
        _take_over(units, store, options, spec)
        if not all(map(store.has, units)):
            for stage in evaluation.artifacts(spec, machine):
                _prepare(stage, options, observer)
        _execute(units, store, options, observer)


def require_data(spec) -> None:
    """Refuse to begin a run while a folder or list of a data set to download is missing, and name all that are."""
    require_places(entry.dataset for entry in evaluation_of(spec).data(spec))


def class_lists(spec) -> tuple[ClassList, ...]:
    lists: dict[tuple, ClassList] = {}
    for class_list in evaluation_of(spec).class_lists(spec):
        met = tuple(sorted(class_list.against))
        lists.setdefault((class_list.names, class_list.base_count, met), class_list)
    return tuple(lists.values())


def audit_names(spec: Any, device: str, folder: Path, say: Callable[[str], None]) -> None:
    """Audit the names of every data set of a run, write audit.json into its folder, and say the worst."""
    from openworld.datasets.names.audit import audit
    from openworld.datasets.names.wordnet import find_wordnet
    from openworld.datasets.templates import PHOTO, TEMPLATES
    from openworld.evaluations.runtime import backbone
    from openworld.report.class_names import tell_audits

    tokenizers = [backbone(name, device).tokenizer for name in tuple(evaluation_of(spec).backbones(spec))[:1]]
    shared: dict[str, Any] = {"wordnet": find_wordnet(), "tokenizer": tokenizers[0] if tokenizers else None}
    audits = [
        audit(
            names.names,
            names.title,
            base_count=names.base_count,
            against=names.against,
            by_order=names.by_order,
            template=TEMPLATES.get(names.dataset, PHOTO),
            **shared,
        )
        for names in class_lists(spec)
    ]
    tell_audits(audits, folder, say)


def code_named(spec: Any) -> tuple[str, ...]:
    """Return the code of a user's own that a spec names, each with where it lies; nothing is imported.

    >>> code_named({"models": [{"architecture": "no_such_module:net"}]})
    ('no_such_module:net from an installed package',)
    """
    from openworld.backbones.names import is_function
    from openworld.classifiers.exported import MAY_RUN_CODE

    functions: dict[str, None] = {}
    for table in _tables_of(to_json(spec)):
        for name in (table.get("backbone"), table.get("architecture")):
            if isinstance(name, str) and is_function(name):
                module = name.partition(":")[0].replace(".", "/")
                here = next((file for file in (f"{module}.py", f"{module}/__init__.py") if Path(file).is_file()), "")
                functions[f"{name} from {f'./{here}' if here else 'an installed package'}"] = None
            elif name in MAY_RUN_CODE:
                functions[f"{table.get('weights') or table.get('classifier')}, loaded by {name}"] = None
    return tuple(functions)


def _require_room_for_contexts(spec: Any, machine: Any) -> None:
    """Refuse contexts that leave no room for a name in the sentences of a run's backbones, before anything is done."""
    clips = [machine.backbone(name) for name in evaluation_of(spec).backbones(spec)]
    room = (
        min((getattr(getattr(clip, "tokenizer", None), "positions", math.inf) for clip in clips), default=math.inf) - 3
    )
    for table in _tables_of(to_json(spec)):
        settings, choose = table.get("settings") or {}, table.get("choose") or {}
        for length in (settings.get("context_length"), *choose.get("context_length", ())):
            if "learner" in table and isinstance(length, int) and length > room:
                raise OpenworldError(
                    f"{table.get('label') or table['learner']} has context_length {length}, and sentences of the "
                    f"backbone have room for {room:.0f} beside start, end and a name; give a smaller one."
                )


def _tables_of(part: Any) -> Iterator[dict[str, Any]]:
    if isinstance(part, dict):
        yield part
    for entry in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from _tables_of(entry)


def machine_of(options: RunOptions, spec):
    """Return what a run tells its units of where they compute."""
    from openworld.evaluations.runtime import Machine

    cache, precision = None if options.cache is None else str(options.cache), getattr(spec, "precision", "float32")
    return Machine(options.devices[0], cache, options.allow_corrupt, precision, options.cache_bytes)


def count_workers(options: RunOptions, spec: Any) -> int:
    """Return how many units are worked on at a time: as many as are asked for, or one per core, or some on each GPU."""
    # Training steps of prompt learners are small, and a GPU mostly waits for kernels to be started.
    cores = os.cpu_count() or 1
    if options.workers:
        return options.workers
    if options.devices[0] == "cpu":
        return cores
    needed = _unit_bytes(spec) if options.devices[0].startswith("cuda") else None
    if needed is None:
        return len(options.devices)

    import torch

    free = min(torch.cuda.mem_get_info(device)[0] for device in options.devices)
    each = min(max(free // needed, 1), MOST_UNITS)
    return max(min(each * len(options.devices), cores), len(options.devices))


def _unit_bytes(spec: Any) -> int | None:
    """Bytes of GPU memory of a unit of learners, with room to spare; None where nobody knows."""
    from openworld.backbones.devices import DTYPES
    from openworld.backbones.names import is_foreign
    from openworld.evaluations.runtime import shape

    if not evaluation_of(spec).tunings or is_foreign(spec.backbone):
        return None
    config = shape(spec.backbone)
    weights = sum(tower.layers * tower.width * (4 * tower.width + 2 * tower.mlp_width)
                  for tower in (config.text, config.image)) + config.text.width * config.text.vocabulary  # fmt: skip
    return CUDA_BYTES + MULTIPLE * DTYPES[spec.precision].itemsize * weights


def headline(spec, options: RunOptions) -> str:
    precision = getattr(spec, "precision", "float32")
    choice = " (found)" if options.device == "auto" else ""
    on_ray = " on Ray" if options.engine == "ray" else ""
    parts = [
        f"openworld {__version__}",
        *evaluation_of(spec).summary(spec),
        *(["seeds " + " ".join(map(str, spec.seeds))] if hasattr(spec, "seeds") else []),
        *([] if precision == "float32" else [f"frozen towers in {precision}"]),
        f"{' '.join(options.devices)}{choice}, {options.workers} worker(s){on_ray} x {getattr(spec, 'threads', 1)} "
        "thread(s)",
    ]
    return " · ".join(parts)


def _take_over(units, store: RunStore, options: RunOptions, spec) -> None:
    folders = list(options.siblings or ())
    # Of a spec of several data sets, a run of one of them may lie beside its folder.
    if options.siblings is None and getattr(spec, "datasets", ()):
        beside = (path.parent for path in sorted(options.folder.resolve().parent.glob("*/run.json")))
        folders = [folder for folder in beside if folder != options.folder.resolve()]
    others = [RunStore(folder) for folder in folders]
    for unit in units:
        store.take_over(unit, others)


def _prepare(stage, options: RunOptions, observer: Observer) -> None:
    """Do a stage of a run, and say what came of it where there was something to do."""
    started = time.perf_counter()

    def progress(done: int, total: int) -> None:
        nonlocal started
        now = time.perf_counter()
        if not done:
            started = now
        pace = f" {done / (now - started):,.1f} {stage.counted}/s" if done else ""
        observer.progress(f"{options.title}{stage.doing}{pace}", done, total)

    observer.progress(f"{options.title}{stage.doing}", 0, None)
    count = stage.work(options, progress)
    seconds = time.perf_counter() - started
    if count:
        observer.say(
            f"{stage.done} {count:,} {stage.counted} in {seconds:.0f} s, {count / seconds:,.1f}/s "
            "(kept: the next run skips this)"
        )


def _execute(units, store: RunStore, options: RunOptions, observer: Observer) -> None:
    from openworld.runs import execute

    start, total = options.before, len(units) if options.units is None else options.units
    before = start

    def progress(event) -> None:
        nonlocal before
        if event.state == "kept":
            before = start + event.done
        doing, finished = f"{options.title}{event.state} {event.unit}", event.state == "finished"
        observer.progress(doing, start + event.done, total, before, milestone=finished)

    observer.progress(f"{options.title}fitting", start, total, start)
    workers = min(options.workers, len(units))
    execute(units, store, engine=options.engine, workers=workers, devices=options.several_devices, progress=progress)
