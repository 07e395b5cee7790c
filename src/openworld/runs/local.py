"""The engine for this machine: one unit after the other here, or several worker processes.

Workers are spawned, never forked, so a unit finds the same fresh interpreter everywhere; each is handed one
unit at a time and dies with its parent. Where several devices are given, every worker belongs to one of them.
They read nothing of the program that starts them, so a script needs no `if __name__ == "__main__":`.
"""

import contextlib
import os
import signal
import sys
import threading
from collections import Counter
from collections.abc import Generator, Sequence
from multiprocessing import connection, get_context, parent_process
from pathlib import Path
from types import ModuleType
from typing import Any

from openworld.core.errors import OpenworldError
from openworld.runs.allocator import keep_freed_memory
from openworld.runs.board import Board, steps, steps_elsewhere
from openworld.runs.store import RunStore
from openworld.runs.unit import Unit


def run_local(board: Board, store: RunStore, workers: int, devices: Sequence[str] = ()) -> None:
    """Work on the units of the board until none is left to take."""
    if workers == 1:
        _run_here(board, store)
    else:
        _run_in_processes(board, store, min(workers, len(board.waiting)), devices)


def _run_here(board: Board, store: RunStore) -> None:
    while taken := board.take():
        unit, wait = taken
        try:
            with contextlib.closing(steps(unit, store, wait=wait)) as words:
                for word, detail in words:
                    board.hear(unit, word, detail)
        except OpenworldError as error:
            board.failed(unit, error)


def _run_in_processes(board: Board, store: RunStore, workers: int, devices: Sequence[str]) -> None:
    team: list[_Worker] = []
    try:
        while True:
            idle = [worker for worker in team if worker.unit is None]
            while (idle or len(team) < workers) and (taken := board.take()):
                if not idle:
                    on_device = Counter(worker.device for worker in team)
                    device = min(devices, key=on_device.__getitem__, default=None)
                    idle.append(_Worker(store.folder, device))
                    team.append(idle[-1])
                idle.pop().hand(*taken)
            working: dict[Any, tuple[_Worker, Unit]] = {
                worker.pipe: (worker, worker.unit) for worker in team if worker.unit
            }
            if not working:
                return
            for pipe in connection.wait(list(working)):
                if not _listen(board, *working[pipe]):
                    team.remove(working[pipe][0])
    finally:
        for worker in team:
            worker.end()


def _listen(board: Board, worker: "_Worker", unit: Unit) -> bool:
    """Take one message of a worker to the board; False when the worker has died."""
    try:
        word, detail = worker.pipe.recv()
    except (EOFError, OSError):
        cause = worker.end()
        board.lost(unit, cause)
        return False
    if board.hear(unit, word, detail):
        worker.unit = None
    return True


_PATIENCE = 5.0  # seconds that a worker has to take its scratch files away


class _Worker:
    """One process, the pipe to it, and the unit it has in hand."""

    def __init__(self, folder: Path, device: str | None = None):
        self.device = device
        context = get_context("spawn")
        self.unit: Unit | None = None
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(str(folder), theirs), daemon=True)
        with _without_main():
            self._process.start()
        theirs.close()  # so that the worker's death closes the pipe

    def hand(self, unit: Unit, wait: bool) -> None:
        self.unit = unit
        with contextlib.suppress(OSError):  # the worker just died: the next `recv` will find that out
            self.pipe.send((unit.on(self.device) if self.device else unit, wait))

    def end(self) -> str:
        """Stop the process, wherever it is: records appear whole or not at all. Says how it ended."""
        self.pipe.close()
        self._process.terminate()
        self._process.join(_PATIENCE)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        return f"exit code {self._process.exitcode}"


@contextlib.contextmanager
def _without_main() -> Generator[None]:
    """Start processes that do not read the program that was started: a script without a `__main__` guard stays one."""
    # A process that is spawned imports the main module of its parent, which would begin the run anew; units are found
    # by the names of their own modules.
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _serve(folder: str, pipe: connection.Connection) -> None:
    """The life of a worker: a unit comes, its outcome goes, until the parent is gone."""
    keep_freed_memory()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides
    signal.signal(signal.SIGTERM, _terminated)
    threading.Thread(target=_die_with_parent, daemon=True).start()
    store = RunStore(folder)
    try:
        try:
            while True:
                unit, wait = pipe.recv()
                for word in steps_elsewhere(unit, store, wait=wait):
                    pipe.send(word)
        except (EOFError, OSError):  # the parent closed the pipe: nothing more to do
            signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it also says so by a signal, which may come while this ends
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGTERM)


def _terminated(number: int, _frame: object) -> None:
    """End as after Ctrl-C, so that what is half-written is taken away."""
    signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def _die_with_parent() -> None:
    connection.wait([parent_process().sentinel])  # ty: ignore[missing-union-attribute]: a worker has a parent
    os._exit(1)
