"""What may be written over: the one rule for every file and folder that somebody names as an output.

An output takes the place of nothing, or of what the same command wrote before. It never takes the place of an input of
the same call, of another command's file or folder (known by what lies in it), of a device, a pipe or a link: neither
the link nor what it leads to is written, and the error names both. A link to a folder is followed, since nothing takes
its place. Commands ask before their work begins, so that nothing is lost after an hour; whatever is written asks again.
"""

import json
import os
import stat
import struct
import tempfile
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from openworld.core.errors import OpenworldError

RUN, GENERATED = "a run", "a generated set of images"
LABEL_PLAN, LABELLED = "a plan of labels", "what labels say"
DETECTED, FLAGGED_IMAGES, SHIFT = "compared detectors", "flagged images", "a measured shift"
ESTIMATE, WATCH, LEARNER, CLASSIFIER = "an estimate", "the page of a watch", "a saved learner", "a saved classifier"
"""What a folder may hold."""

MARKS = {
    RUN: (("run.json",), ("plan.json", "units")),
    GENERATED: (("order.json",),),
    LABEL_PLAN: (("plan.safetensors",),),
    LABELLED: (("label.json",),),
    DETECTED: (("thresholds.json",), ("scores.parquet",)),
    FLAGGED_IMAGES: (("flagged.csv",),),
    SHIFT: (("shift.json",),),
    ESTIMATE: (("estimate.json",),),
    WATCH: (("watch.json",),),
    LEARNER: (("learner.json",),),
    CLASSIFIER: (("classifier.json",),),
}
"""What a folder holds -> names, all of one of these groups lie in it."""

_KEPT = """
run.json plan.json units audit.json report.html results.parquet times.parquet order.json journal.jsonl manifest.json
images.parquet division plan.safetensors worksheet.csv label.html label.json thresholds.json fitted.safetensors
scores.parquet scores learner flagged.csv shift.json degrees.parquet degrees.csv laid.safetensors estimate.json
watch.json learner.json parameters.safetensors classifier.json weights.safetensors
"""
KEPT = frozenset(_KEPT.split())
"""What commands write into their folders; whatever else lies there is somebody's own."""

_PAGE = ("report.html", "results.parquet")
LINES, NUMBERS = "lines that a watch appended", "numbers that a watch wrote for Prometheus"
_BEGINNINGS = {b'{"watch":': LINES, b"# HELP openworld_watch_": NUMBERS}
_OPEN_STREAMS = ("/dev/stdout", "/dev/stderr", "/dev/fd/")


def require_file(
    option: str, path: Path | None, *, kind: str = "", inputs: Iterable[Any] = (), own: Path | None = None
) -> None:
    """Refuse a place that a file must not have, before any work; `option` is how it was named, such as "--out"."""
    # A file of another `kind` (of `kind_of`) is refused, and so are `inputs`: files and folders of the same call, and
    # its other outputs. `own` is a file of a command's folder that may be written all the same.
    if path is None:
        return
    title = f"{option} {path}"
    require_replaceable(title, path)
    if any(_same(path, other) for other in _paths(inputs)):
        raise OpenworldError(f"{title} is used by the same command already; give another name.")
    if own is None or not _same(path, own):
        whole = path.absolute().resolve()
        for folder in list(whole.parents)[:4]:
            kind_there = next(kinds_in(folder), "") if whole.relative_to(folder).parts[0] in KEPT else ""
            if kind_there:
                raise OpenworldError(f"{title} belongs to {kind_there} in {folder}; give another name.")
        found = kind_of(path)
        if found not in ("", kind):
            raise OpenworldError(f"{title} is {found}; give another name.")
    _require_writable(title, path)


def require_folder(
    option: str,
    folder: Path | None,
    *,
    own: Collection[str] = (),
    pages: Collection[str] | None = (),
    inputs: Iterable[Any] = (),
    alone: Collection[str] | None = None,
) -> None:
    """Refuse, before any work, a file, a folder of another command, one with an input, or where nothing can be written.

    own: what it may hold, of `MARKS`. pages: the evaluations whose results may lie in it without such a mark, "" for a
    page without results; None for any. inputs: files and folders of the same call. alone: of a command that needs a
    folder of its own, what may lie in it beside hidden files; None where other people's files may lie there, too.
    """
    if folder is None:
        return
    title = f"{option} {folder}"
    if os.path.lexists(folder) and not folder.is_dir():
        what = _odd(folder) or "a file"
        raise OpenworldError(f"{title} is {what}; give a folder, which is made where it is missing.")
    for given in _paths(inputs):
        if _same(folder, given) or (given.name in KEPT and _same(folder, given.parent)):
            raise OpenworldError(f"{title} holds {given}, which the same command reads; give another folder.")
    _require_writable(title, folder)
    kinds = list(kinds_in(folder))
    others = [kind for kind in kinds if kind not in own]
    there = pages is not None and not kinds and any((folder / name).exists() for name in _PAGE)
    if there and _evaluation(folder) not in pages:
        others = ["the page of another command"]
    if alone is not None and not kinds and folder.exists():
        foreign = sorted(name for name in os.listdir(folder) if name not in alone and not name.startswith("."))
        others += [f"other files, first {name}" for name in foreign[:1]]
    if others:
        raise OpenworldError(f"{title} holds {others[0]}; give another folder.")


def require_replaceable(title: str, path: Path) -> None:
    """Refuse a place at which something else than a plain file lies, which a file would replace."""
    what = _odd(path)
    if what:
        way = f"give {os.path.realpath(path)}, or another name" if path.is_symlink() else "give the name of a file"
        raise OpenworldError(f"{title} is {what}, and is not replaced; {way}.")


def is_stream(path: Path) -> bool:
    """Whether a path is open already (/dev/stdout), a pipe, or a device of characters: it is written and never read."""
    if str(path).startswith(_OPEN_STREAMS):
        return True
    try:
        mode = path.lstat().st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)


def kinds_in(folder: Path) -> Iterator[str]:
    """Yield what a folder holds, by the files that lie in it."""
    for kind, groups in MARKS.items():
        if any(all((folder / name).exists() for name in group) for group in groups):
            yield kind


def kind_of(path: Path) -> str:
    """Return what a plain file says that it is: `LINES`, `NUMBERS`, or what its safetensors header has; "" else."""
    try:
        with path.open("rb") as file:
            start = file.read(64)
            for beginning, kind in _BEGINNINGS.items():
                if start.startswith(beginning):
                    return kind
            (length,) = struct.unpack("<Q", start[:8])
            if start[8:9] != b"{" or length > path.stat().st_size:
                return ""
            file.seek(8)
            about = json.loads(file.read(length)).get("__metadata__", {})
            entry = json.loads(about.get("openworld", "{}"))
    except (OSError, ValueError, AttributeError, TypeError, RecursionError, struct.error):
        return ""
    if isinstance(entry, dict) and isinstance(entry.get("kind"), str):
        return entry["kind"]
    return next((name.removeprefix("openworld ") for name in about if name.startswith("openworld ")), "")


def _odd(path: Path) -> str:
    """What lies at a path that is neither a plain file nor nothing; "" for these."""
    try:
        mode = path.lstat().st_mode
    except (OSError, ValueError):
        return ""
    if stat.S_ISLNK(mode):
        return f"a link to {os.path.realpath(path)}"
    if stat.S_ISDIR(mode):
        return "a folder"
    if stat.S_ISREG(mode):
        return ""
    return "a pipe" if stat.S_ISFIFO(mode) else "a device" if stat.S_ISCHR(mode) or stat.S_ISBLK(mode) else "a socket"


def _evaluation(folder: Path) -> str:
    """The evaluation of the results that lie in a folder; "" of a table that is none of ours."""
    from pyarrow import ArrowInvalid, parquet

    try:
        about = (parquet.read_schema(folder / "results.parquet").metadata or {})[b"openworld"]
        return str(json.loads(about)["evaluation"])
    except (OSError, ArrowInvalid, KeyError, ValueError, TypeError, RecursionError):
        return ""


def _paths(inputs: Iterable[Any]) -> Iterator[Path]:
    """Yield those of the inputs that are paths, or columns that came from a file; text may be any other name."""
    for path in inputs:
        place = getattr(path, "path", path)
        if isinstance(place, Path) or (isinstance(place, str) and place and os.path.lexists(place)):
            yield Path(place)


def _same(path: Path, other: Path) -> bool:
    try:
        return os.path.samefile(path, other)
    except (OSError, ValueError):
        return path.absolute() == other.absolute()


def _require_writable(title: str, path: Path) -> None:
    """Refuse a place where no file can be made: one without a name is made in the nearest folder that is there."""
    folder = next(each for each in (path, *path.absolute().parents) if os.path.lexists(each))
    if folder.is_file() and folder == path:
        folder = path.absolute().parent
    try:
        with suppress(FileNotFoundError):
            os.lstat(path.parent / f".{path.name}.writing")  # a name may be too long
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise OpenworldError(f"{title} cannot be written ({folder}: {error.strerror}); give another place.") from error
