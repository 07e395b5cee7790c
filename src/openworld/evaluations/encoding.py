"""Encode what tasks read on an engine: a unit per missing shard, which writes the bytes that encoding here would write.

The shards go into the cache of encoded image sets; a set becomes whole when `encode_tasks` has looked at it afterwards.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

from openworld.evaluations.artifacts import Crew, Progress, Stage, work_off
from openworld.evaluations.image_selection import Pictures
from openworld.evaluations.runtime import Machine, Source
from openworld.evaluations.tasks import Plannable, encode_tasks, not_encoded
from openworld.evaluations.units import stage_unit
from openworld.features import Encoding, encode_shard, missing_shards
from openworld.runs import Unit, UnitResult, read_spec


def encode_on(crew: Crew, tasks: Sequence[Plannable], machine: Machine, progress: Progress | None = None) -> None:
    """Encode every shard that the tasks need and that is not on disk.

    Args:
        crew: who does it.
        progress: called with (images done, images to be encoded) after every shard.

    Raises:
        OpenworldError: what `encode_shard` and `execute` raise.
    """
    work_off("encoding", lambda: dict(_missing(tasks, machine)), crew, progress)


def encoding(tasks: Sequence[Plannable], machine: Machine) -> Stage:
    """The stage that encodes what the tasks read."""

    def work(crew: Crew, progress: Progress | None) -> int:
        # On a CPU one process has all cores busy already; where the cache has a limit, one process makes room.
        spread = crew.engine != "local" or (crew.workers > 1 and machine.device != "cpu")
        if spread and machine.cache_limit is None:
            encode_on(crew, tasks, machine, progress)
        return encode_tasks(tasks, machine, progress, crew.workers)

    return Stage("encoding", "encoded", "images", work)


def encode_one(
    source: Mapping, encodings: Sequence[Mapping], backbone_name: str, shard: int, machine: Mapping
) -> UnitResult:
    """The unit: one shard of one image set, in every encoding that lacks it."""
    source = read_spec(source, Pictures if "sources" in source else Source)
    machine = read_spec(machine, Machine)
    encode_shard(
        machine.backbone(backbone_name),
        source.load(),
        [read_spec(one, Encoding) for one in encodings],
        shard,
        cache=machine.folder,
        allow_corrupt=machine.allow_corrupt,
        cores=1 if machine.device == "cpu" else None,  # the engine counts cores; reading for a GPU needs all there are
    )
    return UnitResult()


def _missing(tasks: Sequence[Plannable], machine: Machine) -> Iterator[tuple[Unit, int]]:
    """A unit per shard that is not on disk, and how many images it has."""
    for number, ((source, name), encodings) in enumerate(not_encoded(tasks, machine).items()):
        clip = machine.backbone(name)
        for shard, size in missing_shards(clip, source.load(), encodings, cache=machine.folder).items():
            ways = [asdict(one) for one in encodings]
            what = {"source": asdict(source), "encodings": ways, "backbone_name": name, "shard": shard}
            name_of_shard = f"{source}, image set {number + 1}, shard {shard + 1}"
            yield stage_unit(encode_one, what, name_of_shard, machine), size
