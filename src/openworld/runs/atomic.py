"""Files and folders that appear whole or not at all, also when the power goes.

The recipe: write beside the goal, fsync every file, fsync the folder, rename, fsync the folder the name is in.
"""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from secrets import token_hex

from openworld._errors import naming


def write_file(path: Path, data: bytes) -> None:
    """Put `data` at `path` in one step, whatever else writes it; whoever reads sees an old file or a new one, whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(f".{path.name}.{token_hex(4)}.writing")
    try:
        _write_synced(scratch, data)
        os.replace(scratch, path)
    except BaseException:
        scratch.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def write_folder(folder: Path, files: Mapping[str, bytes], scratch: Path) -> None:
    """Put a folder holding `files` ({relative name: bytes}) at `folder` in one step, replacing what is there.

    `scratch` is a path on the same file system that belongs to this writer; it and `scratch` + ".old" are
    gone afterwards, and after an exception; after a kill, whoever cleans up may remove them.
    """
    old = scratch.with_name(scratch.name + ".old")
    remove(scratch)
    remove(old)
    try:
        _fill(scratch, files)
        if folder.exists():
            os.rename(folder, old)
        os.rename(scratch, folder)
    except BaseException:
        remove(scratch)
        remove(old)
        raise
    _sync_folder(folder.parent)
    _sync_folder(scratch.parent)
    remove(old)


def move_file(written: Path, path: Path) -> None:
    """Put a file that is too large for memory, and was written elsewhere in this file system, at `path` in one step."""
    with open(written, "rb+") as file:
        os.fsync(file.fileno())
    os.replace(written, path)
    _sync_folder(path.parent)


def remove(path: Path) -> None:
    """Delete a file or a folder with all it holds, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _fill(folder: Path, files: Mapping[str, bytes]) -> None:
    folder.mkdir(parents=True)
    folders = {folder}
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        folders.update(parent for parent in path.parents if folder in parent.parents)
        _write_synced(path, data)
    for each in sorted(folders, reverse=True):  # the deepest first
        _sync_folder(each)


def _write_synced(path: Path, data: bytes) -> None:
    with naming(path), open(path, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":  # Windows cannot open folders; its renames are journalled
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
