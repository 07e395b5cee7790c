"""Advisory locks on files, between processes, that the kernel releases when their holder dies."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

from openworld.core.errors import OpenworldError


@contextmanager
def file_lock(path: Path, *, wait: bool = True) -> Generator[bool]:
    """Hold the lock of `path` (an empty file, left there); with wait=False yield False at once where it is held."""
    from filelock import FileLock, Timeout

    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path, timeout=-1 if wait else 0)
    try:
        lock.acquire()
    except Timeout:
        pass
    except (OSError, NotImplementedError) as error:
        raise OpenworldError(f"{path} cannot be locked ({error}); put the run on a file system that can.") from error
    try:
        yield lock.is_locked
    finally:
        lock.release()


class Descriptor:
    """A file descriptor that is closed, with its locks, when nothing refers to it any more."""

    def __init__(self, path: Path | str, flags: int):
        self.number = os.open(path, flags, 0o644)

    def __del__(self):
        if hasattr(self, "number"):
            os.close(self.number)


class SharedLock:
    """A share of the lock of a file (made where it is missing): many may hold one, and no `file_lock` beside them."""

    # filelock's own locks for readers keep a database beside the file; the kernel's are enough here. Windows keeps
    # files that are mapped into memory anyway, and nothing is locked there.
    def __init__(self, path: Path):
        self.path, self._descriptor = path, Descriptor(path, os.O_RDWR | os.O_CREAT)
        if fcntl:
            fcntl.flock(self._descriptor.number, fcntl.LOCK_SH)

    @property
    def stands(self) -> bool:
        """Whether the file is still the one that was locked; whoever had its lock may have taken it away."""
        try:
            return os.path.samestat(os.fstat(self._descriptor.number), self.path.stat())
        except FileNotFoundError:
            return False
