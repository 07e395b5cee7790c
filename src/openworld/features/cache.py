"""What lies in a cache of encoded image sets: how large, of which pictures and backbone; and taking it away again.

A set is a folder named by 32 hexadecimal digits that holds a manifest, shards, or what protocols keep (the checkpoints
of a training, classifiers' answers to pictures, a decomposition into meaning and look, shift degrees), and nothing
else. Whatever else lies in the folder of a cache is not ours: it is manifest, and nothing is removed beside it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from openworld._errors import OpenworldError
from openworld._plain import parse_json
from openworld.features.cache_limit import IN_USE, LOCK, last_used, remove_unused

_FOLDER = re.compile(r"(\.removed-)?[0-9a-f]{32}")
_NAMES = (
    r"manifest\.json|in-use|shard-\d{5}\.safetensors|answers-[0-9a-f]{32}\.safetensors|"
    r"\d{5}-(weights\.safetensors|classifier\.json)|(decomposition|degrees|parameters|detectors)\.safetensors|"
    r"(gathered|scores)-\d{5}\.safetensors|learner\.json"
)
_WHOLE = {
    "decomposition.safetensors": "a decomposition",
    "degrees.safetensors": "shift degrees",
    "parameters.safetensors": "a trained learner",
    "detectors.safetensors": "fitted detectors",
}
_FILE = re.compile(rf"({_NAMES})(\.sha256)?|\.({_NAMES})(\.sha256)?(-\w+|\.\w+\.writing|\.part)")


@dataclass(frozen=True)
class CachedSet:
    """One encoded image set on disk.

    Args:
        folder: where it lies.
        dataset: name of the data set, with its domain; "" where that is not known.
        backbone: name of the backbone, or the first digits of its fingerprint; "" where that is not known.
        images: how many; None for a set that is not whole.
        size: bytes.
        holds: what is kept beside one embedding per image, such as "8 views, patches".
        written: when the last file of it was written.
        used: when it was read or written last.
    """

    folder: Path
    dataset: str
    backbone: str
    images: int | None
    size: int
    holds: str
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
        """Bytes of all sets."""
        return sum(entry.size for entry in self.sets)


def look(folder: Path) -> CacheContents:
    """Return what lies in the folder of a cache; nothing, where there is no such folder."""
    if folder.exists() and not folder.is_dir():
        raise OpenworldError(f"{folder} is a file; the cache is a folder.")
    entries = sorted(entry for entry in folder.iterdir() if entry.name != LOCK) if folder.exists() else []
    ours = [entry for entry in entries if _is_ours(entry)]
    sets = sorted(map(_kept, ours), key=lambda entry: -entry.size)
    return CacheContents(folder, tuple(sets), tuple(entry.name for entry in entries if entry not in ours))


def remove(kept: CacheContents, sets: Sequence[CachedSet] | None = None) -> int:
    """Take sets away, None for all, but leave those that another process reads; return how many bytes that were.

    Nothing is removed where something in the folder is not ours, or a set has changed since it was looked at.
    """
    sets = kept.sets if sets is None else sets
    if kept.foreign:
        raise OpenworldError(
            f"{kept.folder} holds {kept.foreign[0]!r}, which openworld did not put there, so nothing was removed; give "
            "the folder of a cache, or move that away."
        )
    for entry in sets:
        if entry.folder.parent != kept.folder or not _is_ours(entry.folder):
            raise OpenworldError(f"{entry.folder} is no encoded image set (any more), so nothing was removed.")
    return sum(entry.size for entry in sets if remove_unused(entry.folder))


def _is_ours(entry: Path) -> bool:
    if entry.is_symlink() or not entry.is_dir() or not _FOLDER.fullmatch(entry.name):
        return False
    return all(_FILE.fullmatch(file.name) and file.is_file() and not file.is_symlink() for file in entry.iterdir())


def _kept(folder: Path) -> CachedSet:
    manifest, stats = _manifest(folder), {file.name: file.stat() for file in folder.iterdir()}
    written = [stat.st_mtime for name, stat in stats.items() if name != IN_USE]
    backbone = manifest.get("model") or str(manifest.get("backbone", ""))[:12]
    return CachedSet(
        folder=folder,
        dataset=" · ".join(filter(None, (manifest.get("name"), manifest.get("domain")))),
        backbone=backbone,
        images=manifest.get("count"),
        size=sum(stat.st_size for stat in stats.values()),
        holds=_holds(manifest.get("encoding", {}), list(stats)),
        written=datetime.fromtimestamp(max(written, default=0.0), UTC),
        used=datetime.fromtimestamp(last_used(folder), UTC),
    )


_KINDS = {"name": str, "domain": str, "model": str, "backbone": str, "count": int, "encoding": dict}


def _manifest(folder: Path) -> Mapping:
    try:
        manifest = parse_json((folder / "manifest.json").read_bytes())
    except (OSError, ValueError):
        return {}  # a set that is not whole, or damaged: its size is known, and it can still be removed
    known = manifest.items() if isinstance(manifest, dict) else ()
    return {key: value for key, value in known if isinstance(value, _KINDS.get(key, object))}


def _holds(encoding: Mapping, files: Sequence[str]) -> str:
    views = f"{encoding['views']} views" if encoding.get("views") else ""
    others = [name for name in ("patches", "pixels") if encoding.get(name)]
    answers = sum(name.startswith("answers-") and name.endswith(".safetensors") for name in files)
    checkpoints = sum(name.endswith("-weights.safetensors") and name[0] != "." for name in files)
    scores = sum(name.startswith("scores-") and name.endswith(".safetensors") for name in files)
    counts = [(answers, "answers of {} classifier"), (checkpoints, "{} checkpoint"), (scores, "{} score shard")]
    counted = [words.format(count) + "s" * (count > 1) for count, words in counts if count]
    manifest = [words for name, words in _WHOLE.items() if name in files]
    return ", ".join(filter(None, (views, *others, *counted, *manifest)))
