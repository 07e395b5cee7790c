"""An advisory lock on a file, between processes, that the kernel releases when its holder dies."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None
    import msvcrt

from openworld._errors import OpenworldError

_PAUSE = 0.05  # seconds between two tries where the system cannot wait for us


@contextmanager
def file_lock(path: Path, *, wait: bool = True) -> Iterator[bool]:
    """Hold the lock of `path` (an empty file, made here and left there) within a `with` block.

    Yields True when held. With wait=False it yields False at once if another process, or another
    `file_lock` of this one, holds it. Raises OpenworldError where the file system cannot lock.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        held = _acquire(descriptor, path, wait)
        try:
            yield held
        finally:
            if held:
                _release(descriptor)
    finally:
        os.close(descriptor)


class SharedLock:
    """A share of the lock of a file (made where it is missing): many may hold one, and no `file_lock` beside them.

    Held until nothing refers to it any more, at the latest until this process ends. On Windows, which keeps files that
    are mapped into memory anyway, nothing is locked.

    Raises:
        OSError: the file cannot be made or locked.
    """

    def __init__(self, path: Path):
        self.path = path
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        if fcntl:
            fcntl.flock(self._descriptor, fcntl.LOCK_SH)

    @property
    def stands(self) -> bool:
        """Whether the file is still the one that was locked; whoever had its lock may have taken it away."""
        try:
            return os.path.samestat(os.fstat(self._descriptor), self.path.stat())
        except FileNotFoundError:
            return False

    def __del__(self):
        if hasattr(self, "_descriptor"):
            os.close(self._descriptor)


def _acquire(descriptor: int, path: Path, wait: bool) -> bool:
    try:
        if fcntl:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            return True
        return _acquire_on_windows(descriptor, wait)
    except BlockingIOError:
        return False
    except OSError as error:
        raise OpenworldError(f"{path} cannot be locked ({error}); put the run on a file system that can.") from error


def _acquire_on_windows(descriptor: int, wait: bool) -> bool:
    while True:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            return True
        except PermissionError:  # held by another
            if not wait:
                return False
        time.sleep(_PAUSE)


def _release(descriptor: int) -> None:
    if fcntl:
        # Said outright: a forked child would otherwise keep the lock of a finished unit alive.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    else:
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)
