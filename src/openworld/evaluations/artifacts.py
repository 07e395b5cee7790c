"""Things that are kept in the cache and built where they are missing, before the units of a run: encoded images,
trained classifiers, outputs of models, decompositions, shift degrees.

Stages build them, a kind each. The engine of the run does a unit for every one that is missing; that a unit was done is
noted in the run's folder until the stage is over, for what it made shows in the cache.
"""

import hashlib
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from openworld.core.errors import OpenworldError
from openworld.evaluations.running import RunOptions
from openworld.evaluations.runtime import Machine
from openworld.features import default_cache
from openworld.features.checksums import is_intact, require_intact, write_with_checksum
from openworld.runs import RunStore, Unit, UnitResult, digest, execute, read_spec, readable_json, to_json
from openworld.runs.atomic import remove, write_file
from openworld.runs.lock import file_lock
from openworld.runs.store import LOCKS

MANIFEST = "manifest.json"  # written last into the folder of an artifact, which is whole with it

Progress = Callable[[int, int], None]

_ARRIVAL = 60.0  # seconds until what another machine wrote shows here


class Artifact(Protocol):
    """A frozen dataclass, as specs are, that says what is to be built."""

    @property
    def name(self) -> str:
        """What people call it, one of a kind in its stage."""

    @property
    def key(self) -> str:
        """A hash of all that it depends on; where two have one key, one is built."""

    def size(self) -> int:
        """How much there is to do, in what its stage counts."""

    def is_kept(self, machine: Machine) -> bool:
        """Whether the cache has it, whole and undamaged."""

    def build(self, machine: Machine) -> None:
        """Build it, into the cache."""


@dataclass(frozen=True)
class Stage:
    """Artifacts of one kind, of which those are built that the cache does not have."""

    doing: str  # "encoding"; one of a kind in its run
    done: str  # "encoded"
    counted: str  # such as "images"
    machine: Machine
    artifacts: Callable[[], Iterable[Artifact]]  # asked once nobody else works on the stage

    def work(self, options: RunOptions, progress: Progress | None = None) -> int:
        """Build every artifact that is missing; return how much of `counted` that was.

        `progress` is called with (size done, size in all) before the first artifact and after each.
        """
        machine, folder = self.machine, options.folder  # on a cluster one that all nodes share
        with file_lock(folder / LOCKS / f"{self.doing}.lock"):  # a second process of this run waits
            needed = missing(self.artifacts(), machine)
            units = [_unit(artifact, machine) for artifact in needed]
            sizes = {artifact.name: artifact.size() for artifact in needed}
            total, done = sum(sizes.values()), 0

            def count(event) -> None:
                nonlocal done
                if event.state in ("finished", "kept"):  # kept: the node died once it was built, and was not heard
                    if options.engine == "ray" and not done:
                        _require_shared(next(each for each in needed if each.name == event.unit), machine)
                    done += sizes[event.unit]
                    if progress:
                        progress(done, total)

            notes = folder / f".{self.doing}"
            remove(notes)  # of a process that was killed: what it did shows in the cache
            try:
                if units:
                    if progress:
                        progress(0, total)  # from now on the pace is that of the work, not of the search for it
                    how: dict[str, Any] = {"engine": options.engine, "devices": options.several_devices}
                    workers = min(options.workers, len(units))
                    execute(units, RunStore(notes), workers=workers, progress=count, **how)
            finally:
                remove(notes)
            return total


def missing(artifacts: Iterable[Artifact], machine: Machine) -> list[Artifact]:
    distinct: dict[str, Artifact] = {}
    for artifact in artifacts:
        distinct.setdefault(artifact.key, artifact)
    return [artifact for artifact in distinct.values() if not artifact.is_kept(machine)]


def _require_shared(artifact: Artifact, machine: Machine) -> None:
    """Refuse a cache that does not have what a node of a cluster has built in its own; `_ARRIVAL` seconds may pass."""
    last = time.monotonic() + _ARRIVAL
    while not artifact.is_kept(machine):
        if time.monotonic() > last:
            raise OpenworldError(
                f"{artifact.name} was built by a node of the Ray cluster, and does not show in the cache here, "
                f"{cache_of(machine)}; give --cache a folder that all nodes share, under the same path."
            )
        time.sleep(0.2)


def build_artifact(kind: str, artifact: Mapping, machine: Mapping) -> UnitResult:
    """Build one artifact of the class "module:class", as JSON: the unit of every stage."""
    module, name = kind.split(":")
    read_spec(artifact, getattr(import_module(module), name)).build(read_spec(machine, Machine))
    return UnitResult()


def cache_of(machine: Machine) -> Path:
    return machine.folder or default_cache()


def folder_of(artifact: Artifact, machine: Machine) -> Path:
    return cache_of(machine) / artifact.key


def keep(folder: Path, files: Mapping[str, bytes], about: Mapping) -> None:
    """Write the files of an artifact with their checksums, and last its manifest, which says `about` for people."""
    for name, content in files.items():
        write_with_checksum(folder / name, content)
    write_file(folder / MANIFEST, readable_json(about))


def has_whole(folder: Path, name: str) -> bool:
    """Return whether a folder has its manifest, and a file in it as it was written."""
    return (folder / MANIFEST).exists() and is_intact(folder / name)


def hash_of_files(paths: Iterable[Path]) -> str:
    """Return a hash of files, in their order: by name and content."""
    return digest({path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths})[:32]


def kept_file(artifact: Artifact, name: str, machine: Machine) -> Path:
    return require_intact(folder_of(artifact, machine) / name)


def _unit(artifact: Artifact, machine: Machine) -> Unit:
    kind = type(artifact)
    what = {"kind": f"{kind.__module__}:{kind.__qualname__}", "artifact": to_json(artifact)}
    return Unit("artifact", what, name=artifact.name, resources={"machine": asdict(machine)})
