"""What ran a spec: versions, platform, git revision, command, and the hashes of weights and data."""

import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from openworld.core.types import checked

PACKAGES = (
    "openworld",
    "numpy",
    "scipy",
    "torch",
    "pyarrow",
    "pillow",
    "safetensors",
    "tokenizers",
    "transformers",  # where it runs a backbone, as open_clip may
    "open_clip_torch",
)


@checked
def provenance(
    *,
    weights: Mapping[str, str] | None = None,
    data: Mapping[str, str] | None = None,
    command: Sequence[str] | None = None,
    folder: Path | str = ".",
) -> dict[str, Any]:
    """A JSON dict for `RunStore.create`; imports none of the packages it names. The home folder is written "~".

    weights, data: {name: fingerprint}; command: default `sys.argv`; folder: whose git revision to note.
    """
    words = sys.argv if command is None else command
    program = [Path(word).name for word in words[:1]] or [""]
    return {
        "packages": {name: installed_version(name) for name in PACKAGES},
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "git": git_revision(folder),
        "command": program + [word.replace(str(Path.home()), "~") for word in words[1:]],
        "weights": dict(weights or {}),
        "data": dict(data or {}),
    }


@checked
def installed_version(package: str) -> str | None:
    """The version of an installed distribution, without importing it; None where it is not installed."""
    try:
        return version(package)
    except (PackageNotFoundError, ValueError):  # a name that no distribution can have
        return None


@checked
def git_revision(folder: Path | str = ".") -> dict[str, Any] | None:
    """{"revision": commit, "dirty": whether tracked files were changed}; None outside a git repository."""
    revision = _git(folder, "rev-parse", "--verify", "HEAD")
    if not revision:
        return None
    return {"revision": revision, "dirty": bool(_git(folder, "status", "--porcelain", "--untracked-files=no"))}


def _git(folder: Path | str, *arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):  # no git here, or a repository too slow to ask
        return None
    return done.stdout.strip() if done.returncode == 0 else None
