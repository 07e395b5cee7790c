"""Folders beside runs: the cache, and temporary ones that do not outlive their process, even where that is killed."""

import os
import shutil
import tempfile
from pathlib import Path

from openworld.runs.lock import Descriptor, fcntl

_PREFIX = "openworld-scratch-"
VARIABLES = ("OPENWORLD_CACHE", "XDG_CACHE_HOME")


def cache_folder() -> Path:
    """Return `$OPENWORLD_CACHE`, else `$XDG_CACHE_HOME/openworld` (an absolute path), else `~/.cache/openworld`."""
    folder, shared = (os.environ.get(name) for name in VARIABLES)
    if folder:
        return Path(folder)
    return (Path(shared) if shared and os.path.isabs(shared) else Path.home() / ".cache") / "openworld"


class ScratchFolder(tempfile.TemporaryDirectory):
    """A `tempfile.TemporaryDirectory` with a lock on it, by which the next one knows what a killed process left."""

    def __init__(self) -> None:
        _remove_abandoned(Path(tempfile.gettempdir()))
        while True:
            super().__init__(prefix=_PREFIX, ignore_cleanup_errors=True)
            if fcntl is None:
                return
            try:
                self._held = Descriptor(self.name, os.O_RDONLY)
                fcntl.flock(self._held.number, fcntl.LOCK_EX)
                if os.path.isdir(self.name):
                    return
            except FileNotFoundError:
                pass
            # Another process took it for abandoned before it was locked, or even opened.
            self._finalizer.detach()  # ty: ignore[missing-attribute]: typeshed leaves it out

    def cleanup(self) -> None:
        """Remove the folder, also where the first attempt is interrupted."""
        try:
            super().cleanup()
        finally:
            if os.path.exists(self.name):
                shutil.rmtree(self.name, ignore_errors=True)


def _remove_abandoned(place: Path) -> None:
    """Remove our scratch folders whose holder has died."""
    if fcntl is None:
        return
    for folder in place.glob(f"{_PREFIX}*"):
        try:
            held = Descriptor(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            if os.fstat(held.number).st_uid == os.geteuid():
                fcntl.flock(held.number, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:  # in use, or somebody else's
            continue
