"""From a list of files to an image set: which files are there, a cheap fingerprint, and reading them."""

import errno
import hashlib
import os
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from openworld.core.errors import OpenworldError
from openworld.core.plain_files import is_text, require_text
from openworld.datasets.formats.decoding import decode
from openworld.datasets.formats.split_files import ImageRows
from openworld.datasets.image_set import ImageSet, path_column

MISSING = -1
"""The size of a file that is not there, or that is no plain file."""


def image_set(name: str, folder: Path, classnames: Sequence[str], rows: ImageRows, chosen: np.ndarray | None = None):
    """Return the images `rows` below `folder`, or those at `chosen` (int[M]), as an `ImageSet`."""
    # The content is a hash of paths and sizes, so that a million images need not be read; a file that is replaced by
    # another of the same size goes unnoticed.
    chosen = np.arange(len(rows)) if chosen is None else chosen
    paths = tuple(rows.paths[index] for index in chosen.tolist())
    sizes = sizes_of(folder, paths)
    missing = [path for path, size in zip(paths, sizes, strict=True) if size == MISSING]
    if missing:
        raise OpenworldError(
            f"{len(missing):,} of {len(paths):,} images of {name!r} are missing under {folder}, "
            f"such as {first(missing)}; complete the folder."
        )
    return ImageSet(
        name=name,
        domain="",
        classnames=tuple(classnames),
        labels=rows.labels[chosen],
        groups=np.arange(len(paths)) if rows.groups is None else rows.groups[chosen],
        content=content_of(zip(paths, sizes, strict=True)),
        read=FileReader(folder, paths),
        columns=path_column(paths),
    )


@dataclass(frozen=True)
class FileReader:
    """Reads image i of a list of files; any known format, since the names are the publisher's."""

    folder: Path
    paths: tuple[str, ...]

    def __call__(self, index: int) -> Image.Image:
        path = self.folder / self.paths[index]
        return decode(path, str(path))


def sizes_of(folder: Path, paths: Iterable[str]) -> list[int]:
    """Bytes of every file, MISSING where there is no plain file."""
    sizes = []
    for path in paths:
        try:
            status = os.stat(os.path.join(folder, path))
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
                raise
            sizes.append(MISSING)
        else:
            sizes.append(status.st_size if stat.S_ISREG(status.st_mode) else MISSING)
    return sizes


def content_of(sized: Iterable[tuple[str, int]]) -> str:
    digest = hashlib.sha256()
    for path, size in sized:
        require_text(path)
        digest.update(f"{path}\0{size}\n".encode())
    return digest.hexdigest()


def first(names: Sequence[str], count: int = 3) -> str:
    """Return the first few names, and that there are more: "a, b, c, ..."."""
    first = [name if is_text(name) else ascii(name) for name in names[:count]]
    return ", ".join(first) + (", ..." if len(names) > count else "")
