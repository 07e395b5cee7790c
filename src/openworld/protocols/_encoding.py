"""Encode what tasks read on an engine: a unit per missing shard, which writes the bytes that encoding here would write.

The shards go into the cache of encoded image sets; a set becomes whole when `encode_all` of the protocol has looked at
it afterwards. That a unit was done is noted in the run's folder until all are.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from openworld.features import Encoding, encode_shard, missing_shards
from openworld.protocols._planning import Plannable
from openworld.protocols._workbench import Machine, Source, backbone
from openworld.runs import RunStore, Unit, UnitResult, execute, read_spec
from openworld.runs.atomic import remove
from openworld.runs.lock import file_lock


def encode_on(
    engine: str,
    workers: int,
    folder: Path,
    tasks: Sequence[Plannable],
    machine: Machine,
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Encode every shard that the tasks need and that is not on disk.

    Args:
        engine, workers: as for `execute`.
        folder: of the run; on a cluster one that all nodes share.
        progress: called with (images done, images to be encoded) after every shard.

    Raises:
        OpenworldError: what `encode_shard` and `execute` raise.
    """
    with file_lock(folder / "units" / ".locks" / "encoding.lock"):  # a second process of this run waits, then has none
        sizes = dict(_missing(tasks, machine))
        if not sizes:
            return
        total, done = sum(sizes.values()), 0
        counts = {unit.name: size for unit, size in sizes.items()}

        def told(event) -> None:
            nonlocal done
            if event.state == "finished":
                done += counts[event.unit]
                if progress:
                    progress(done, total)

        notes = folder / ".encoding"
        remove(notes)  # of a process that was killed: what it did shows in the cache
        try:
            execute(list(sizes), RunStore(notes), engine=engine, workers=workers, progress=told)
        finally:
            remove(notes)


def encode_one(source: Mapping, encoding: Mapping, backbone_name: str, shard: int, machine: Mapping) -> UnitResult:
    """The unit: one shard of one image set."""
    source, encoding = read_spec(source, Source), read_spec(encoding, Encoding)
    machine = read_spec(machine, Machine)
    encode_shard(
        backbone(backbone_name, machine.device),
        source.load(),
        encoding,
        shard,
        cache=machine.folder,
        allow_corrupt=machine.allow_corrupt,
        cores=1 if machine.device == "cpu" else None,  # the engine counts cores; reading for a GPU needs all there are
    )
    return UnitResult()


def _missing(tasks: Sequence[Plannable], machine: Machine) -> Iterator[tuple[Unit, int]]:
    """A unit per shard that is not on disk, and how many images it has."""
    needed = {(task.sources[part], task.encoding(part), task.backbone): None for task in tasks for part in task.sources}
    for number, (source, encoding, name) in enumerate(needed):
        clip = backbone(name, machine.device)
        for shard, size in missing_shards(clip, source.load(), encoding, cache=machine.folder).items():
            what = {"source": asdict(source), "encoding": asdict(encoding), "backbone_name": name, "shard": shard}
            unit = Unit(
                function=f"{__name__}:{encode_one.__name__}",
                arguments=what,
                name=f"{source}, image set {number + 1}, shard {shard + 1}",
                resources={"machine": asdict(machine)},
            )
            yield unit, size
