"""What a plan will cost: pictures to encode, units, disk, hours. Told before anything is done; an estimate.

Counts of pictures are the published ones, so that no data set needs to be there. Hours follow from what was measured
on this machine (`_speeds`): passes through the image tower, steps of training times seconds of a step, pictures times
seconds of an answer.
"""

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from openworld.protocols._disk_cost import DiskCost, Ledger
from openworld.protocols._speeds import Speeds, shape, speed_key
from openworld.protocols._work import UnitWork, work_of
from openworld.reproduction.plan import Plan

RECORD_BYTES = 100_000
"""Of a unit's record beside its rows: thumbnails and numbers."""

ROW_BYTES = 24
"""Of a picture in it."""


@dataclass(frozen=True)
class RunCost:
    """One run of a plan.

    Args:
        name: of the run.
        units: how many that no run before it has done.
        tables: numbers of the tables that are read from it.
        pictures: to encode for it that no run before it has encoded.
        encode_seconds, unit_seconds: of the image tower's passes, and of all units one after the other; None where
            nothing was measured.
        seconds: until it is done, with several units at a time.
    """

    name: str
    units: int
    tables: tuple[str, ...]
    pictures: int
    encode_seconds: float | None
    unit_seconds: float | None
    seconds: float | None


@dataclass(frozen=True)
class Cost:
    """A plan.

    Args:
        runs: one by one.
        pictures: to encode, each image set once for all learners of a run.
        passes: through the image tower: pictures and their augmented views.
        feature_bytes: of what is kept of them, at most.
        record_bytes: of the units' records.
        learners: seconds of all units of each learner together, the longest first; empty where nothing was measured.
        workers: units at a time.
        guessed: learners whose answers were not measured but taken to be as slow as those of the slowest of their kind.
        limited: what becomes of them where the cache has a limit; None where it has none.
    """

    runs: tuple[RunCost, ...]
    pictures: int
    passes: int
    feature_bytes: int
    record_bytes: int
    learners: Mapping[str, float]
    workers: int
    guessed: tuple[str, ...] = ()
    limited: DiskCost | None = None

    @property
    def units(self) -> int:
        """How many units all runs have."""
        return sum(run.units for run in self.runs)

    @property
    def seconds(self) -> float | None:
        """Until everything is done, if nothing else runs on this machine; None where nothing was measured."""
        each = [run.seconds for run in self.runs]
        return None if None in each else sum(each)


def cost(plan: Plan, speeds: Speeds | None = None, workers: int = 1, limit: int | None = None) -> Cost:
    """What a plan will cost.

    Args:
        plan: of `reproduction.plan`.
        speeds: of `_speeds.measure` for its units; None tells no seconds.
        workers: units that run at a time, at least 1.
        limit: bytes that the cache may have; None for no limit.

    Raises:
        OpenworldError: a limit that is too small for some unit.
    """
    disk = Ledger(shape(plan.ground.backbone), limit, workers)
    work, everything, told = work_of(plan.runs), {}, []
    pictures = passes = 0
    for run in plan.runs:
        units = [unit for unit in work[run.name] if unit not in everything]
        everything |= dict.fromkeys(units)
        counted = disk.add(units)
        pictures, passes = pictures + counted[0], passes + counted[1]
        told.append(_run_cost(run, units, counted, speeds, workers))
    return Cost(
        runs=tuple(told),
        pictures=pictures,
        passes=passes,
        feature_bytes=disk.cost.most,
        record_bytes=sum(_record_bytes(unit) for unit in everything),
        learners=_by_learner(everything, speeds) if speeds else {},
        workers=workers,
        guessed=speeds.briefly if speeds else (),
        limited=disk.cost if limit is not None else None,
    )


def seconds_of(unit: UnitWork, speeds: Speeds) -> float:
    """Of one unit: its training, and all of its answers."""
    speed = speeds.learners[speed_key(unit.learner)]
    training = unit.steps * speed.step.at(unit.classes)
    return training + sum(speed.names.at(names) + pictures * speed.answer.at(names) for pictures, names in unit.answers)


def _run_cost(run, units: list[UnitWork], counted: tuple[int, int], speeds: Speeds | None, workers: int) -> RunCost:
    pictures, passes = counted
    if speeds is None:
        return RunCost(run.name, len(units), run.tables, pictures, None, None, None)
    encoding = speeds.encode * passes
    each = [seconds_of(unit, speeds) for unit in units]
    whole = encoding + _side_by_side(each, workers)
    return RunCost(run.name, len(units), run.tables, pictures, encoding, sum(each), whole)


def _side_by_side(seconds: Iterable[float], workers: int) -> float:
    """Until the last is done, each beginning when a worker is free.

    >>> _side_by_side([3, 1, 1], 2), _side_by_side([3, 1, 1], 1)
    (3.0, 5.0)
    """
    free = [0.0] * workers
    for each in seconds:
        heapq.heapreplace(free, free[0] + each)
    return max(free)


def _by_learner(units: Iterable[UnitWork], speeds: Speeds) -> dict[str, float]:
    found: dict[str, float] = {}
    for unit in units:
        found[unit.learner.name] = found.get(unit.learner.name, 0.0) + seconds_of(unit, speeds)
    return dict(sorted(found.items(), key=lambda pair: -pair[1]))


def _record_bytes(unit: UnitWork) -> int:
    return RECORD_BYTES + ROW_BYTES * sum(pictures for pictures, _ in unit.answers)
