"""A cache of encoded image sets: what lies there, how it stays below a limit, and taking sets away.

A set is a folder named by 32 hexadecimal digits that holds a manifest, shards, or what evaluations keep (checkpoints,
answers, a decomposition, shift degrees), and nothing else. Whatever else lies in a cache is foreign: nothing is removed
beside it. Where the cache has a limit, the sets that were used longest ago, and that nobody reads, make room: those
with patch rows or pixels before embeddings, which are a hundredth as large and cost as much to make again.
"""

import gc
import logging
import os
import re
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from openworld.core.errors import OpenworldError
from openworld.core.plain_files import parse_json
from openworld.core.sizes import size_in_words
from openworld.runs.lock import SharedLock, file_lock
from openworld.runs.scratch import cache_folder

# The time of this file tells when a set was used last. Whoever reads or writes the set holds a share of its lock, and a
# set is removed by who has that lock alone: POSIX keeps mapped files readable without giving their disk back. It holds
# how many bytes a set that is being written will have: room that is spoken for.
IN_USE = "in-use"
_LOCK = ".room.lock"
_PAUSE = 1.0  # seconds between two looks for room
_REMOVED = ".removed-"
_REMOVABLE = ("shard-", ".shard-", "manifest.json", ".manifest.json", IN_USE)  # a training costs more than room
_FOLDER = re.compile(r"(\.removed-)?[0-9a-f]{32}")
_NAMES = (
    r"manifest\.json|in-use|shard-\d{5}\.safetensors|answers-[0-9a-f]{32}\.safetensors|"
    r"\d{5}-(weights\.safetensors|classifier\.json)|(decomposition|degrees|parameters|detectors)\.safetensors|"
    r"(gathered|scores)-\d{5}\.safetensors|learner\.json"
)
_FILE = re.compile(rf"({_NAMES})(\.sha256)?|\.({_NAMES})(\.sha256)?(-\w+|\.\w+\.writing|\.part)")
_WHOLE = {
    "decomposition.safetensors": "a decomposition",
    "degrees.safetensors": "shift degrees",
    "parameters.safetensors": "a trained learner",
    "detectors.safetensors": "fitted detectors",
}
_KINDS = {"name": str, "domain": str, "model": str, "backbone": str, "count": int, "encoding": dict}

_log = logging.getLogger(__name__)


def default_cache() -> Path:
    """Where features are kept: `cache_folder()`, with `/features` appended."""
    return cache_folder() / "features"


@dataclass(frozen=True)
class CachedSet:
    """One encoded image set on disk; data set and backbone are "" where they are not known."""

    folder: Path
    dataset: str
    backbone: str
    images: int | None  # None for a set that is not whole
    size: int  # bytes
    holds: str  # what is kept beside one embedding per image, such as "8 views, patches"
    written: datetime
    used: datetime


@dataclass(frozen=True)
class CacheContents:
    """A cache: its sets, the largest first, and the names in its folder that are not ours."""

    folder: Path
    sets: tuple[CachedSet, ...]
    foreign: tuple[str, ...]

    @property
    def size(self) -> int:
        return sum(entry.size for entry in self.sets)


def look(folder: Path) -> CacheContents:
    """Return what lies in the folder of a cache; nothing, where there is no such folder."""
    if folder.exists() and not folder.is_dir():
        raise OpenworldError(f"{folder} is a file; the cache is a folder.")
    sets, foreign = [], []
    for entry in sorted(folder.iterdir()) if folder.exists() else ():
        while entry.name != _LOCK and os.path.lexists(entry):
            try:
                if _is_ours(entry):
                    sets.append(_cached_set(entry))
                else:
                    foreign.append(entry.name)
                break
            except FileNotFoundError:  # a file was finished, or the set removed, in this moment
                continue
    return CacheContents(folder, tuple(sorted(sets, key=lambda entry: -entry.size)), tuple(foreign))


def remove(contents: CacheContents, sets: Sequence[CachedSet] | None = None) -> int:
    """Take sets away, None for all, but leave those that another process reads; return how many bytes that were."""
    sets = contents.sets if sets is None else sets
    if contents.foreign:
        raise OpenworldError(
            f"{contents.folder} holds {contents.foreign[0]!r}, which openworld did not put there, so nothing was "
            "removed; give the folder of a cache, or move that away."
        )
    for entry in sets:
        if entry.folder.parent != contents.folder or not _is_ours(entry.folder):
            raise OpenworldError(f"{entry.folder} is no encoded image set (any more), so nothing was removed.")
    return sum(entry.size for entry in sets if _remove_unused(entry.folder))


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


def reserve(sizes: Mapping[Path, int], limit: int) -> list[SharedLock | None]:
    """Make room for sets to be written (folder -> bytes), and hold them; wait while what is in the way is read."""
    cache, waiting = next(iter(sizes)).parent, False
    while True:
        with file_lock(cache / _LOCK):
            others = [entry for entry in look(cache).sets if entry.folder not in sizes]
            _, excess, busy = _make_room(others, limit - sum(sizes.values()))
            if excess <= 0:
                held = [hold(folder) for folder in sizes]
                for folder, size in sizes.items():
                    (folder / IN_USE).write_text(str(size) if size else "", encoding="ascii")
                return held
        if not busy:
            raise OpenworldError(
                f"the cache {cache} may have {size_in_words(limit)}, and {size_in_words(limit + excess)} are needed at "
                "a time; give a larger --cache-limit."
            )
        if not waiting:
            _log.warning("The cache is full of what other units read; waiting until one of them is done.")
        waiting = True
        time.sleep(_PAUSE)


def shrink(cache: Path, limit: int) -> list[Path]:
    """Remove encoded image sets that nobody uses until a cache has no more than `limit` bytes; return their folders."""
    if not cache.is_dir():
        return []
    with file_lock(cache / _LOCK):
        return _make_room(look(cache).sets, limit)[0]


def _make_room(sets: Sequence[CachedSet], limit: int) -> tuple[list[Path], int, bool]:
    """Remove what was used longest ago; return it, the bytes beyond the limit, and whether a set in use is left."""
    gc.collect()  # arrays of finished units that only wait to be collected hold their sets
    sizes = {}
    for entry in sets:
        mark, whole = entry.folder / IN_USE, (entry.folder / "manifest.json").exists()
        reserved = mark.read_text(encoding="ascii") if mark.exists() and not whole else ""
        sizes[entry.folder] = max(entry.size, int(reserved) if reserved.isdecimal() else 0)
    removed, excess, busy = [], sum(sizes.values()) - limit, False

    def comes_last(entry: CachedSet) -> tuple[bool, datetime]:
        has_more = bool({"patches", "pixels"} & set(entry.holds.split(", ")))
        return entry.images is not None and not has_more, entry.used

    for entry in sorted(sets, key=comes_last):
        if excess <= 0:
            break
        if not all(file.name.startswith(_REMOVABLE) for file in entry.folder.glob("*")):
            continue
        if _remove_unused(entry.folder):
            removed.append(entry.folder)
            excess -= sizes[entry.folder]
        else:
            busy = True
    return removed, excess, busy


def _remove_unused(folder: Path) -> bool:
    """Remove a set, unless somebody reads or writes it; return whether it is gone."""
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


def _is_ours(entry: Path) -> bool:
    if entry.is_symlink() or not entry.is_dir() or not _FOLDER.fullmatch(entry.name):
        return False
    return all(_FILE.fullmatch(file.name) and file.is_file() and not file.is_symlink() for file in entry.iterdir())


def _cached_set(folder: Path) -> CachedSet:
    try:
        manifest = parse_json((folder / "manifest.json").read_bytes())
    except (OSError, ValueError):
        manifest = None  # a set that is not whole, or damaged: its size is known, and it can still be removed
    manifest = manifest if isinstance(manifest, dict) else {}
    manifest = {key: value for key, value in manifest.items() if isinstance(value, _KINDS.get(key, object))}
    stats = {file.name: file.stat() for file in folder.iterdir()}
    written = max((stat.st_mtime for name, stat in stats.items() if name != IN_USE), default=0.0)
    used = stats[IN_USE].st_mtime if IN_USE in stats else written
    return CachedSet(
        folder=folder,
        dataset=" · ".join(filter(None, (manifest.get("name"), manifest.get("domain")))),
        backbone=manifest.get("model") or str(manifest.get("backbone", ""))[:12],
        images=manifest.get("count"),
        size=sum(stat.st_size for stat in stats.values()),
        holds=_holds(manifest.get("encoding", {}), list(stats)),
        written=datetime.fromtimestamp(written, UTC),
        used=datetime.fromtimestamp(used, UTC),
    )


def _holds(encoding: Mapping, files: Sequence[str]) -> str:
    views = f"{encoding['views']} views" if encoding.get("views") else ""
    others = [name for name in ("patches", "pixels") if encoding.get(name)]
    answers = sum(name.startswith("answers-") and name.endswith(".safetensors") for name in files)
    checkpoints = sum(name.endswith("-weights.safetensors") and name[0] != "." for name in files)
    scores = sum(name.startswith("scores-") and name.endswith(".safetensors") for name in files)
    counts = [(answers, "answers of {} classifier"), (checkpoints, "{} checkpoint"), (scores, "{} score shard")]
    counted = [words.format(count) if count == 1 else f"{words.format(count)}s" for count, words in counts if count]
    whole = [words for name, words in _WHOLE.items() if name in files]
    return ", ".join(filter(None, (views, *others, *counted, *whole)))
