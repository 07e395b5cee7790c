"""Files of the cache and their checksums: a file is intact while it has the SHA-256 that was noted when it was written.

The note of NAME is NAME.sha256, written after the file itself. A file without one is not intact, and is made again.
A file is read whole once per process; after that its size and times say whether it is still the same.
"""

import hashlib
import logging
from functools import cache
from pathlib import Path

from openworld.core.errors import OpenworldError
from openworld.core.plain_files import sha256_of
from openworld.runs.atomic import write_file

SUFFIX = ".sha256"

_log = logging.getLogger(__name__)


def write_with_checksum(path: Path, content: bytes) -> None:
    """Write a file whole or not at all, then its checksum; say so where it takes the place of a damaged one."""
    # A process that fills the same cache may have written it a moment ago, and its checksum not yet.
    damaged = path.exists() and not is_intact(path) and path.read_bytes() != content
    write_file(path, content)
    write_file(_note(path), hashlib.sha256(content).hexdigest().encode())
    if damaged:
        _log.warning("%s was damaged; it was made again.", path)


def note_checksum(path: Path) -> None:
    """Note the checksum of a file that was written another way, whole, because it is too large to be held as bytes."""
    state = path.stat()
    write_file(_note(path), _digest(path, state.st_ino, state.st_size, state.st_mtime_ns).encode())


def is_intact(path: Path) -> bool:
    """Whether a file is there and holds what was written."""
    checksum = noted(path)
    try:
        state = path.stat()
    except OSError:
        return False
    return checksum is not None and checksum == _digest(path, state.st_ino, state.st_size, state.st_mtime_ns)


def read_intact(path: Path) -> bytes:
    require_intact(path)
    return path.read_bytes()


def require_intact(path: Path) -> Path:
    """Return the path of an intact file."""
    if not is_intact(path):
        what = "was damaged in the cache" if path.exists() else "is gone from the cache"
        raise OpenworldError(f"{path} {what}; start the run again, which makes it anew.")
    return path


def noted(path: Path) -> str | None:
    """The noted checksum of a file; None where there is none."""
    try:
        return _note(path).read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return None


def remove_with_checksum(path: Path) -> None:
    path.unlink()
    _note(path).unlink(missing_ok=True)


def _note(path: Path) -> Path:
    return path.with_name(path.name + SUFFIX)


@cache
def _digest(path: Path, _inode: int, _size: int, _changed: int) -> str:
    return sha256_of(path)
