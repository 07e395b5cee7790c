"""What a run does before its units, stage by stage: encoding pictures, training models.

What comes of it lies in the cache. The engine of the run does a unit for each thing that is missing; that a unit was
done is noted in the run's folder until the stage is over.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from openworld.runs import RunStore, Unit, execute
from openworld.runs.atomic import remove
from openworld.runs.lock import file_lock
from openworld.runs.store import LOCKS

Progress = Callable[[int, int], None]
Missing = Callable[[], Mapping[Unit, int]]


@dataclass(frozen=True)
class Crew:
    """Who works on a stage: an engine and its workers, for the run in a folder (on a cluster one that all share).

    devices: as for `execute`.
    """

    engine: str
    workers: int
    folder: Path
    devices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Stage:
    """One stage of a run.

    Args:
        doing, done: what it is called while and after, such as "encoding" and "encoded".
        counted: what is counted, such as "images".
        work: does what is missing, and returns how many of `counted` that were; tells (so many done, of so many).
    """

    doing: str
    done: str
    counted: str
    work: Callable[[Crew, Progress | None], int]


def work_off(title: str, missing: Missing, crew: Crew, progress: Progress | None = None) -> int:
    """Have every unit done that is missing; returns the sum of their sizes.

    Args:
        title: of the stage, one of a kind in its run.
        missing: finds the units, and how large each is; asked once nobody else works on the stage.
        progress: called with (size done, size in all) after every unit.

    Raises:
        OpenworldError: what `execute` raises.
    """
    with file_lock(crew.folder / LOCKS / f"{title}.lock"):  # a second process of this run waits
        sizes = dict(missing())
        total, done = sum(sizes.values()), 0
        by_name = {unit.name: size for unit, size in sizes.items()}

        def told(event) -> None:
            nonlocal done
            if event.state == "finished":
                done += by_name[event.unit]
                if progress:
                    progress(done, total)

        notes = crew.folder / f".{title}"
        remove(notes)  # of a process that was killed: what it did shows in the cache
        try:
            if sizes:
                workers = min(crew.workers, len(sizes))
                how = {"engine": crew.engine, "workers": workers, "devices": crew.devices}
                execute(list(sizes), RunStore(notes), **how, progress=told)
        finally:
            remove(notes)
        return total
