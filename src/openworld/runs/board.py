"""One `execute` call, whatever the engine: what a worker does with a unit, and what the board of all units hears."""

import os
import platform
import time
import traceback
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from openworld.core.errors import OpenworldError
from openworld.runs.store import NO_RECORD, RunStore
from openworld.runs.unit import Unit

ATTEMPTS = 3  # times a unit is begun before the death of its worker counts as its own fault

Word = tuple[str, object]  # what a worker says to `Board.hear`
State = Literal["kept", "started", "finished", "lost", "failed"]


@dataclass(frozen=True)
class Event:
    """One step of a run: of `total` units `done` have a record; `detail` says why, where there is a why."""

    unit: str
    state: State
    done: int
    total: int
    detail: str = ""


class Board:
    """Units on their way; engines take from it and report to it, from one thread."""

    def __init__(self, units: Sequence[Unit], progress: Callable[[Event], None] | None, stop: bool):
        self.waiting = deque(units)
        self._order = {unit: place for place, unit in enumerate(units)}
        self._failed: dict[Unit, OpenworldError] = {}
        self._progress = progress or (lambda event: None)
        self._stop = stop
        self._total = len(units)
        self._done = 0
        self._lost: Counter[Unit] = Counter()
        self._busy = 0  # units in a row that other processes held

    @property
    def failures(self) -> list[OpenworldError]:
        """One error per failed unit, in the order of the units, whichever worker was faster."""
        return [self._failed[unit] for unit in sorted(self._failed, key=self._order.__getitem__)]

    def keep(self, is_done: Callable[[Unit], bool]) -> None:
        """Settle the units that are done already, so that engines see only what is to do."""
        units, self.waiting = self.waiting, deque()
        for unit in units:
            if is_done(unit):
                self.settled(unit, "kept")
            else:
                self.waiting.append(unit)

    def begin_with_the_longest(self) -> None:
        """Put units that take long first, so that several workers end at about the same time."""
        self.waiting = deque(sorted(self.waiting, key=lambda unit: unit.effort, reverse=True))

    def take(self) -> tuple[Unit, bool] | None:
        """The next unit, and whether to wait for its lock: only when every waiting one was found busy."""
        if not self.waiting or (self._stop and self._failed):
            return None
        wait = self._busy >= len(self.waiting)
        return self.waiting.popleft(), wait

    def put_back(self, unit: Unit) -> None:
        """Another process has the unit; come back to it later."""
        self._busy += 1
        self.waiting.append(unit)

    def hear(self, unit: Unit, word: str, detail) -> bool:
        """Note what a worker says of the unit (see `steps`); True with its last word."""
        if word == "started":
            self._tell(unit, "started", detail)
        elif word == "busy":
            self.put_back(unit)
        elif word == "failed":
            message, trace = detail
            error = OpenworldError(message)
            error.__cause__ = RuntimeError(f"in a worker process:\n{trace}")
            self.failed(unit, error)
        else:
            self.settled(unit, "kept" if word == "kept" else "finished")
        return word != "started"

    def settled(self, unit: Unit, state: Literal["kept", "finished"]) -> None:
        """The unit is done."""
        self._busy = 0
        self._done += 1
        self._tell(unit, state)

    def failed(self, unit: Unit, error: OpenworldError) -> None:
        self._busy = 0
        self._failed[unit] = error
        self._tell(unit, "failed", str(error))

    def lost(self, unit: Unit, cause: str) -> None:
        """The unit's worker died in the middle; nothing of it is left, so it can be begun again."""
        self._lost[unit] += 1
        if self._lost[unit] < ATTEMPTS:
            self.waiting.appendleft(unit)
            self._tell(unit, "lost", cause)
        else:
            message = f"its process died {ATTEMPTS} times ({cause}); too little memory is the usual cause."
            self.failed(unit, OpenworldError(f"unit {unit.name!r}: {message}"))

    def _tell(self, unit: Unit, state: State, detail: str = "") -> None:
        self._progress(Event(unit.name, state, self._done, self._total, detail))


def steps(unit: Unit, store: RunStore, *, wait: bool) -> Generator[Word]:
    """Make sure the unit is done, and yield what happens; a failure raises OpenworldError that names the unit."""
    # "started" (and what is wrong with the record that is there) before computing; last "kept" for what was done
    # already, "finished" for what is now, or, with wait=False only, "busy" for what another process has in hand.
    with store.claim(unit, wait=wait) as held:
        problem = store.problem(unit) if held else None
        if problem is not None:
            yield "started", "" if problem == NO_RECORD else f"computed again: {problem}"
            _attempt(unit, store)
    yield ("busy" if not held else "kept" if problem is None else "finished"), ""


def steps_elsewhere(unit: Unit, store: RunStore, *, wait: bool) -> Iterator[Word]:
    """Yield steps of another process than the board's, where a failure is said too: ("failed", (message, trace))."""
    try:
        yield from steps(unit, store, wait=wait)
    except OpenworldError as error:
        yield "failed", (str(error), traceback.format_exc())


def _attempt(unit: Unit, store: RunStore) -> None:
    start, clock = datetime.now(UTC), time.perf_counter()
    try:
        result = unit.run()
        timing = {
            "start": start.isoformat(timespec="milliseconds"),
            "seconds": round(time.perf_counter() - clock, 3),
            "host": platform.node(),
            "process": os.getpid(),
            "cores": os.cpu_count(),
            "threads_asked": os.environ.get("OMP_NUM_THREADS"),
        }
        store.write(unit, result, timing)
    except OpenworldError as error:
        raise OpenworldError(f"unit {unit.name!r}: {error}") from error
    except (Exception, SystemExit) as error:  # code of a plug-in may even call sys.exit
        raise OpenworldError(f"unit {unit.name!r} failed with {type(error).__name__}: {error}") from error
