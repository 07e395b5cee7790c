"""Where openworld keeps what it can make again: encoded images, fitted detectors, shift degrees."""

import os
from pathlib import Path

VARIABLES = ("OPENWORLD_CACHE", "XDG_CACHE_HOME")


def cache_folder() -> Path:
    """Return `$OPENWORLD_CACHE`, else `$XDG_CACHE_HOME/openworld` (an absolute path), else `~/.cache/openworld`."""
    folder, shared = (os.environ.get(name) for name in VARIABLES)
    if folder:
        return Path(folder)
    return (Path(shared) if shared and os.path.isabs(shared) else Path.home() / ".cache") / "openworld"
