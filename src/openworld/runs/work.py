"""What one worker does with one unit, whatever the engine: claim it, keep or compute it, write it."""

import os
import platform
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Literal

from openworld._errors import OpenworldError
from openworld.runs.store import NO_RECORD, RunStore
from openworld.runs.unit import Unit, UnitResult

Outcome = Literal["kept", "finished", "busy"]


def do(unit: Unit, store: RunStore, started: Callable[[str], None], *, wait: bool) -> Outcome:
    """Make sure the unit is done.

    started: called before computing, with what is wrong with the record that is there ("" where none is).
    Returns "kept" (done already), "finished" (computed now), or, with wait=False only, "busy" (in the hands
    of another process). Raises OpenworldError naming the unit when its function or the writing fails.
    """
    with store.claim(unit, wait=wait) as held:
        if not held:
            return "busy"
        problem = store.problem(unit)
        if problem is None:
            return "kept"
        started("" if problem == NO_RECORD else f"computed again: {problem}")
        try:
            _compute(unit, store)
        except OpenworldError as error:
            raise OpenworldError(f"unit {unit.name!r}: {error}") from error
        except Exception as error:
            raise OpenworldError(f"unit {unit.name!r} failed with {type(error).__name__}: {error}") from error
        return "finished"


def _compute(unit: Unit, store: RunStore) -> None:
    start, clock = datetime.now(UTC), time.perf_counter()
    result: UnitResult = unit.run()
    timing = {
        "start": start.isoformat(timespec="milliseconds"),
        "seconds": round(time.perf_counter() - clock, 3),
        "host": platform.node(),
        "process": os.getpid(),
        "cores": os.cpu_count(),
        "threads_asked": os.environ.get("OMP_NUM_THREADS"),
    }
    store.write(unit, result, timing)
