"""Do all units of a run, on whichever engine: the bytes of outputs and metrics are the same."""

from collections.abc import Callable, Sequence
from typing import Literal

from openworld.core.errors import OpenworldError, unknown_name
from openworld.core.types import checked
from openworld.runs.board import Board, Event
from openworld.runs.local import run_local
from openworld.runs.on_ray import run_on_ray
from openworld.runs.record import Record
from openworld.runs.store import RunStore
from openworld.runs.unit import Unit

# An engine takes units from the board, has `board.steps` done on each somewhere, and the board hear what they say.
ENGINES: dict[str, Callable[[Board, RunStore, int, Sequence[str]], None]] = {"local": run_local, "ray": run_on_ray}


@checked
def execute(
    units: Sequence[Unit],
    store: RunStore,
    *,
    engine: str = "local",
    workers: int = 1,
    devices: Sequence[str] = (),
    progress: Callable[[Event], None] | None = None,
    on_failure: Literal["stop", "finish"] = "stop",
) -> list[Record]:
    """The records of all units, in order; those whose record verifies are kept, the others computed.

    engine: a name in ENGINES; "ray" needs pip install 'openworld[ray]' (see `on_ray`).
    workers: units at a time, those of most effort first; one on "local" is done in this process, in order.
    devices: several GPUs, such as "cuda:0" and "cuda:1", among which "local" shares its workers out, each of them
    having its units computed there (their resource "machine" names the device); without, units say where.
    progress: called with an Event at every step.
    on_failure: "stop" begins no further unit once one has failed, "finish" still does the others.
    Raises OpenworldError naming the unit that failed (or all of them); records written so far stay, and the
    same call continues from them.
    """
    if engine not in ENGINES:
        raise unknown_name("engine", engine, ENGINES)
    if workers < 1:
        raise OpenworldError(f"workers is {workers}, expected 1 or more.")
    store.plan(units)
    store.sweep()
    board = Board(list(dict.fromkeys(units)), progress, stop=on_failure == "stop")
    board.keep(store.has)
    if workers > 1:
        board.begin_with_the_longest()
    try:
        ENGINES[engine](board, store, workers, devices)
    finally:
        store.sweep()
    failures = board.failures
    if len(failures) == 1:
        raise failures[0]
    if failures:
        listed = "\n".join(f"- {error}" for error in failures)
        raise OpenworldError(f"{len(failures)} units failed; the others are kept.\n{listed}") from failures[0]
    return [store.read(unit) for unit in units]
