"""The engine on Ray: a Ray of its own on this machine, or a cluster that is there already.

A cluster is used where Ray is initialised in this process, or `RAY_ADDRESS` names one; else a local Ray is started,
quietly, with a core per worker, and shut down at the end. On a cluster the folder of the run must be one that all
nodes share, on a file system that can lock; so must the cache be, and the images, under the same paths, and every
node needs this version of openworld. A unit is a task; Ray decides where it runs.

A node that dies takes the units with it that it has in hand, and they are begun again on another: until its process is
gone the kernel keeps their locks, so that no unit has two writers. A worker outlives its node by up to some seconds; a
unit whose record it still writes meanwhile is done, and not lost. Where no node is left that could do a unit, others
are awaited for some minutes; then the run ends, and is resumed by starting it again.
"""

import contextlib
import logging
import os
import sys
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

from openworld.core.errors import OpenworldError
from openworld.runs.allocator import keep_freed_memory
from openworld.runs.board import Board, Word, steps_elsewhere
from openworld.runs.scratch import cache_folder
from openworld.runs.store import RunStore
from openworld.runs.unit import Unit

_OBJECT_STORE = 80 * 2**20  # bytes, about the least that Ray takes: only words travel, results go to the folder
_DEATHS = "A worker died or was killed while executing", "Raylet is terminated", "node with node id.*marked dead"
_PATIENCE = 10.0  # seconds that a task called off has to let go of its unit
_ARRIVAL = 60.0  # seconds until a record that a node wrote shows here; NFS remembers for 30 that a file was missing
_LOOK = 15.0  # seconds between two looks at the nodes
_AWAITED = 300.0  # seconds that nodes have to come back where none is left


def run_on_ray(board: Board, store: RunStore, workers: int, devices: Sequence[str] = ()) -> None:
    """Work on the units of the board, at most `workers` at a time, until none is left to take."""
    numbered = sorted(device for device in {*devices, *_devices(board)} if device.startswith("cuda:"))
    if numbered:  # a task sees those GPUs alone that Ray gives it, counted from 0
        raise OpenworldError(
            f"--device names {', '.join(numbered)}, and Ray itself says which GPU a unit gets; give --device cuda."
        )
    workers = min(workers, len(board.waiting))
    if not workers:
        return
    ray = _import_ray()
    with _cluster(ray, workers):
        _run_tasks(ray, board, store, workers)


def _place_of(store: RunStore) -> dict[str, Any]:
    """Return where the driver stands, so that a relative path or a module's name means the same in a task."""
    variables = {name: value for name, value in os.environ.items() if name.startswith("OPENWORLD_")}
    variables["OPENWORLD_CACHE"] = str(cache_folder())  # a node's home may be another
    folder, working_directory = str(store.folder.absolute()), os.getcwd()
    return {"folder": folder, "working_directory": working_directory, "paths": sys.path[:], "variables": variables}


def _run_tasks(ray: ModuleType, board: Board, store: RunStore, workers: int) -> None:
    place, in_hand, seen = _place_of(store), {}, time.monotonic()
    # No retry by Ray: the board counts deaths. No end after a call, which tasks with a GPU have: backbones stay loaded.
    options = {"max_retries": 0, "max_calls": 0, "num_returns": "streaming", "num_cpus": 1}
    # What a task asks for where units name a GPU: all GPUs are used, by as few tasks each as can be.
    gpus = int(ray.cluster_resources().get("GPU", 0))
    on_gpus = gpus and any(device.startswith("cuda") for device in _devices(board))
    share = 1 / -(-workers // gpus) if on_gpus else 0
    task = ray.remote(**options, num_gpus=share)(_serve)
    try:
        while True:
            while len(in_hand) < workers and (taken := board.take()):
                in_hand[task.remote(place, *taken)] = taken[0]
            if not in_hand:
                return
            ready = ray.wait(list(in_hand), timeout=_LOOK)[0]
            if not ready:
                seen = _last_seen(ray, share, seen, len(in_hand) + len(board.waiting))
            for messages in ready:
                if _listen(ray, board, store, in_hand[messages], messages):
                    del in_hand[messages]
    finally:
        _call_off(ray, store, in_hand)


def _serve(place: Mapping[str, Any], unit: Unit, wait: bool) -> Iterator[Word]:
    """The task."""
    keep_freed_memory()
    os.environ.update(place["variables"])
    if os.path.isdir(place["working_directory"]):
        os.chdir(place["working_directory"])
    sys.path += [path for path in place["paths"] if path not in sys.path]
    yield from steps_elsewhere(unit, RunStore(place["folder"]), wait=wait)


def _last_seen(ray: ModuleType, share: float, seen: float, left: int) -> float:
    """Return when a node that can hold a task was seen last; raise once there has been none for long.

    Nodes die, and others may join. `left` says how many units are not done.
    """
    there, now = ray.cluster_resources(), time.monotonic()
    if there.get("CPU", 0) >= 1 and there.get("GPU", 0) >= share:
        return now
    if now - seen > _AWAITED:
        needed = "a core and a GPU" if share else "a core"
        raise OpenworldError(
            f"no node with {needed} was in the Ray cluster for {_AWAITED / 60:.0f} minutes, and {left} unit(s) "
            "are not done; start the run again once there are nodes: what is done is kept."
        )
    return seen


def _listen(ray: ModuleType, board: Board, store: RunStore, unit: Unit, messages: Iterator) -> bool:
    """Take one message of a task to the board; True when it was the last one."""
    try:
        word, detail = ray.get(next(messages))
    except ray.exceptions.RayTaskError as error:  # not ours: the unit's own failures are said in words
        problem = OpenworldError(f"unit {unit.name!r} could not be begun on Ray: {error.cause or error}.")
        problem.__cause__ = error
        board.failed(unit, problem)
        return True
    except ray.exceptions.RayError as error:
        board.lost(unit, f"{type(error).__name__}: {_first_sentence(error)}")
        return True
    if word in ("finished", "kept") and not _arrives(store, unit):
        problem = (
            f"unit {unit.name!r} was done by a node of the Ray cluster, and its record does not show in "
            f"{store.folder.absolute()} here; give a folder for the run that all nodes share, under the same path."
        )
        board.failed(unit, OpenworldError(problem))
        return True
    return board.hear(unit, word, detail)


def _arrives(store: RunStore, unit: Unit) -> bool:
    """Whether the record of a unit that a node has done shows here, now or soon."""
    last = time.monotonic() + _ARRIVAL
    while not store.shows(unit):
        if time.monotonic() > last:
            return False
        time.sleep(0.2)
    return True


def _first_sentence(error: Exception) -> str:
    return str(error).partition("\n")[0].partition(". ")[0].rstrip(".")


def _call_off(ray: ModuleType, store: RunStore, in_hand: dict[Iterator, Unit]) -> None:
    """End the tasks that are left after an interrupt, and see them gone: the folder is swept next."""
    for messages in in_hand:
        ray.cancel(messages, force=True)
    last = time.monotonic() + _PATIENCE
    for unit in in_hand.values():
        is_free = False
        while not is_free and time.monotonic() < last:
            with store.claim(unit, wait=False) as is_free:
                pass
            time.sleep(0 if is_free else 0.05)


def _devices(board: Board) -> set[str]:
    return {str(unit.resources.get("machine", {}).get("device")) for unit in board.waiting}


def _import_ray() -> ModuleType:
    # Read at import: Ray would print deaths on the standard output, where a table may be expected; the board tells.
    os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", "|".join(_DEATHS))
    try:
        import ray
    except ImportError as error:
        raise OpenworldError(
            f"the engine 'ray' needs Ray ({error}); install it with pip install 'openworld[ray]', or leave the engine "
            "at 'local'."
        ) from error
    return ray


@contextlib.contextmanager
def _cluster(ray: ModuleType, workers: int) -> Generator[None]:
    """Be connected to a Ray: the one at hand, the one that RAY_ADDRESS names, or one made for the occasion."""
    if ray.is_initialized():
        yield
        return
    address = os.environ.get("RAY_ADDRESS", "local")
    if address.startswith("ray://"):
        raise OpenworldError(f"RAY_ADDRESS is {address!r}, a client's; start openworld on a node of the cluster.")
    logging.getLogger("ray").setLevel(logging.ERROR)
    try:
        _connect(ray, address, workers)
        yield
    finally:
        ray.shutdown()


def _connect(ray: ModuleType, address: str, workers: int) -> None:
    quiet = {"logging_level": logging.ERROR, "log_to_driver": False}
    if address == "local":
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        options = {"num_cpus": workers, "include_dashboard": False, "object_store_memory": _OBJECT_STORE}
        ray.init(address, **options, **quiet)
        return
    try:
        ray.init(address, **quiet)
    except ConnectionError as error:
        raise OpenworldError(f"no Ray answers at RAY_ADDRESS, {address!r} ({_first_sentence(error)}).") from error
