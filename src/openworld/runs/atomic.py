"""Files and folders that appear whole or not at all, also when the power goes: all that is written passes here.

The recipe: write beside the goal, fsync every file, fsync the folder, rename, fsync the folder the name is in. What a
killed process left beside a goal is used up by whoever writes that goal next; a lock of the kernel, which dies with its
holder, tells it from what a living process is writing.
"""

import os
import shutil
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO

from openworld.core.errors import naming
from openworld.runs.lock import fcntl
from openworld.runs.outputs import require_replaceable

_FLAGS = os.O_RDWR | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)


def write_file(path: Path, data: bytes) -> None:
    """Put `data` at `path` in one step, whatever else writes it; a folder, a link, a pipe or a device raises."""
    with writing(path) as file:
        file.write(data)


@contextmanager
def writing(path: Path) -> Generator[BinaryIO]:
    """Yield a file to write into, which is put at `path` in one step at the end; raises as `write_file`."""
    require_replaceable(str(path), path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with naming(path):
        descriptor, scratch = _open_scratch(path)
        file = None
        try:
            file = open(scratch, "wb", opener=lambda *_: descriptor)  # noqa: SIM115  it keeps the lock till the end
            file.truncate()  # what a killed writer left
            yield file
            file.flush()
            os.fsync(file.fileno())
            if fcntl is None:  # Windows renames no open file
                file.close()
            os.replace(scratch, path)
        except BaseException:
            if fcntl is None:
                _close(file, descriptor)
            scratch.unlink(missing_ok=True)  # while the lock is held: whoever waits for it begins anew
            raise
        finally:
            _close(file, descriptor)
    _sync_folder(path.parent)


def write_folder(folder: Path, files: Mapping[str, bytes], scratch: Path | None = None) -> None:
    """Put a folder holding `files` ({relative name: bytes}) at `folder` in one step, replacing what is there."""
    # `scratch` is a path on the same file system that belongs to this writer alone; None for one beside the folder, for
    # which writers wait for one another. After a kill, whoever writes next with the same scratch removes it.
    if scratch is None:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _alone_in(folder.parent):
            write_folder(folder, files, folder.with_name(f".{folder.name}.writing"))
        return
    old = scratch.with_name(scratch.name + ".old")
    remove(scratch)
    remove(old)
    try:
        _fill(scratch, files)
        if folder.exists():
            os.rename(folder, old)
        os.rename(scratch, folder)
    except BaseException:
        if old.exists() and not folder.exists():  # between the two renames: what was there goes back
            os.rename(old, folder)
        remove(scratch)
        remove(old)
        raise
    _sync_folder(folder.parent)
    _sync_folder(scratch.parent)
    remove(old)


def remove(path: Path) -> None:
    """Delete a file or a folder with all it holds, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _open_scratch(goal: Path) -> tuple[int, Path]:
    """Open the scratch file of a goal, locked; where files cannot be locked, one of a name of its own."""
    # Its name is always the same, so that what a killed writer left is found without looking through the folder.
    scratch = goal.with_name(f".{goal.name}.writing")
    while fcntl is not None:
        try:
            descriptor = os.open(scratch, _FLAGS | os.O_CREAT, 0o666)
        except OSError:
            if not os.path.lexists(scratch):
                raise
            break  # somebody else's, or a link: left alone
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            there = os.lstat(scratch)
            if os.path.samestat(os.fstat(descriptor), there) and there.st_nlink == 1:
                return descriptor, scratch
            alone = there.st_nlink == 1
        except FileNotFoundError:  # the writer before us put it in place, or took it away
            alone = True
        except OSError:
            alone = False
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
        if not alone:
            break
    scratch = goal.with_name(f".{goal.name}.{token_hex(4)}.writing")
    return os.open(scratch, _FLAGS | os.O_CREAT | os.O_EXCL, 0o666), scratch


@contextmanager
def _alone_in(folder: Path) -> Generator[None]:
    """Wait until no other process is writing a folder into this one."""
    if fcntl is None:
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _fill(folder: Path, files: Mapping[str, bytes]) -> None:
    folder.mkdir(parents=True)
    folders = {folder}
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        folders.update(parent for parent in path.parents if folder in parent.parents)
        with naming(path), open(path, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    for each in sorted(folders, reverse=True):  # the deepest first
        _sync_folder(each)


def _close(file: BinaryIO | None, descriptor: int) -> None:
    """Close a file, whether or not the disk has room for what was not written yet."""
    with suppress(OSError):
        if file is None:
            os.close(descriptor)
        else:
            file.close()


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":  # Windows cannot open folders; its renames are journalled
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
