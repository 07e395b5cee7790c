"""Keep the cache below a limit: what was used longest ago, and nobody reads, makes room for what is needed now.

Patch rows and pixels of training pictures go first, with their views, because a few units use them one after the other;
then pixels of other pictures, which can be had again without the image tower, and their patch rows, which many units
read; embeddings last, which are a hundredth as large and cost as much to make again.

In the folder of a set lies the file `in-use`. Its time tells when the set was used last, and whoever reads or writes
the set holds a share of its lock: a set is removed by who has that lock alone, so never while another process reads it.
(Files that are mapped into memory stay readable on POSIX even when they are removed, but their disk is not given back.)
What `in-use` holds is how many bytes a set that is being written will have: room that is spoken for.
"""

import gc
import logging
import os
import shutil
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from openworld._errors import OpenworldError
from openworld._plain import parse_json
from openworld._sizes import size_in_words
from openworld.runs.lock import SharedLock, file_lock

IN_USE = "in-use"
LOCK = ".room.lock"
LAST = 3
_REMOVED = ".removed-"
_REMOVABLE = ("shard-", ".shard-", "manifest.json", ".manifest.json", IN_USE)  # a training costs more than room
_PAUSE = 1.0  # seconds between two looks for room

_log = logging.getLogger(__name__)


def hold(folder: Path) -> SharedLock | None:
    """Mark a set as used now, and as in use while what is returned lives; None where nothing can be marked."""
    while True:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            held = SharedLock(folder / IN_USE)
            os.utime(folder / IN_USE)
        except (FileNotFoundError, FileExistsError):
            if folder.is_file():
                return None
            continue  # removed this moment by who makes room
        except OSError:
            return None  # a cache that is only read, or a file system without locks: nobody makes room there
        if held.stands:
            return held


def reserve(sizes: Mapping[Path, int], limit: int) -> list[SharedLock]:
    """Make room for sets that will be written (folder -> bytes), and hold them.

    Waits while what is in the way is read.
    """
    cache, waiting = next(iter(sizes)).parent, False
    while True:
        with file_lock(cache / LOCK):
            excess, others = _make_room(cache, limit - sum(sizes.values()), set(sizes))
            if excess <= 0:
                return _note(sizes)
        if not others:
            raise OpenworldError(
                f"the cache {cache} may have {size_in_words(limit)}, and {size_in_words(limit + excess)} are needed at "
                "a time; give a larger --cache-limit."
            )
        if not waiting:
            _log.warning("The cache is full of what other units read; waiting until one of them is done.")
        waiting = True
        time.sleep(_PAUSE)


def shrink(cache: Path, limit: int) -> list[Path]:
    """Remove sets, used longest ago first, until a cache has no more than `limit` bytes; returns what was removed.

    What is in use stays, and so does what is no encoded image set: trained classifiers, their answers, decompositions.
    """
    if not cache.is_dir():
        return []
    before = {entry.folder for entry in _sets(cache)}
    with file_lock(cache / LOCK):
        _make_room(cache, limit, set())
    return sorted(before - {entry.folder for entry in _sets(cache)})


def occupied(cache: Path, folders: Iterable[Path]) -> int:
    """Bytes of what is the last to go, or stays: embeddings and what is no encoded set, but for `own` folders."""
    folders = set(folders)
    others = (entry for entry in _sets(cache) if entry.folder not in folders)
    return sum(entry.size for entry in others if entry.rank == LAST or not entry.removable)


def remove_unused(folder: Path) -> bool:
    """Remove a set, unless somebody reads or writes it; returns whether it is gone."""
    if folder.name.startswith(_REMOVED):  # of a process that was killed
        shutil.rmtree(folder, ignore_errors=True)
        return True
    with file_lock(folder / IN_USE, wait=False) as alone:
        if alone and os.name != "nt":
            # Renamed first: whoever opens the set in this moment finds it whole or not at all.
            shutil.rmtree(folder.with_name(_REMOVED + folder.name), ignore_errors=True)
            gone = folder.rename(folder.with_name(_REMOVED + folder.name))
    if alone:
        shutil.rmtree(folder if os.name == "nt" else gone, ignore_errors=True)  # Windows keeps what is mapped
    return alone and (os.name != "nt" or not folder.exists())


def last_used(folder: Path) -> float:
    """When a set was used last, in seconds since 1970; of one without a mark when it was written."""
    mark = folder / IN_USE
    times = [mark] if mark.exists() else list(folder.iterdir())
    return max((file.stat().st_mtime for file in times), default=0.0)


@dataclass(frozen=True)
class _Set:
    folder: Path
    size: int
    used: float
    rank: int
    removable: bool


def _note(sizes: Mapping[Path, int]) -> list[SharedLock]:
    """Hold sets and note how many bytes each of them will have."""
    held = [hold(folder) for folder in sizes]
    for folder, size in sizes.items():
        (folder / IN_USE).write_text(str(size) if size else "", encoding="ascii")
    return held


def _make_room(cache: Path, limit: int, folders: set[Path]) -> tuple[int, bool]:
    """Bytes that the cache, without its `own` sets, has beyond a limit, and whether a set in use is among them.

    What is used by nobody is removed, that used longest ago first, until there is no excess.
    """
    gc.collect()  # arrays of finished units that only wait to be collected hold their sets
    sets = [entry for entry in _sets(cache) if entry.folder not in folders]
    excess, others = sum(entry.size for entry in sets) - limit, False
    for entry in sorted(sets, key=lambda entry: (entry.rank, entry.used)):
        if excess <= 0:
            break
        if not entry.removable:
            continue
        if remove_unused(entry.folder):
            excess -= entry.size
        else:
            others = True
    return excess, others


def _sets(cache: Path) -> Sequence[_Set]:
    return [_set(folder) for folder in cache.iterdir() if folder.is_dir()] if cache.is_dir() else []


def _set(folder: Path) -> _Set:
    try:
        files = {file.name: file.stat().st_size for file in folder.iterdir()}
        used = last_used(folder)
    except FileNotFoundError:  # a file that was being written, or the set was removed
        return _set(folder) if folder.exists() else _Set(folder, 0, 0.0, 0, False)
    ours = len(folder.name.removeprefix(_REMOVED)) == 32 and all(name.startswith(_REMOVABLE) for name in files)
    spoken_for = 0 if "manifest.json" in files else _spoken_for(folder)
    return _Set(folder, max(sum(files.values()), spoken_for), used, _rank(folder), ours)


def rank_of(*, views: int, patches: bool, pixels: bool) -> int:
    """Which sets go first: 0 before 1 before 2; `LAST` for embeddings."""
    if not (patches or pixels):
        return LAST
    return 0 if views else 1 + patches


def _rank(folder: Path) -> int:
    try:
        encoding = parse_json((folder / "manifest.json").read_bytes())["encoding"]
        return rank_of(**{name: encoding[name] for name in ("views", "patches", "pixels")})
    except (OSError, ValueError, LookupError, TypeError):
        return 0  # not whole: little is lost with it


def _spoken_for(folder: Path) -> int:
    mark = folder / IN_USE
    text = mark.read_text(encoding="ascii") if mark.exists() else ""
    return int(text) if text.isdecimal() else 0
