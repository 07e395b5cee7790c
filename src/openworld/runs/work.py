"""What one worker does with one unit, whatever the engine: claim it, keep or compute it, write it, and say so."""

import os
import platform
import time
import traceback
from collections.abc import Generator, Iterator
from datetime import UTC, datetime

from openworld.core.errors import OpenworldError
from openworld.runs.store import NO_RECORD, RunStore
from openworld.runs.unit import Unit

Word = tuple[str, object]  # what a worker says to `Board.hear`


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
