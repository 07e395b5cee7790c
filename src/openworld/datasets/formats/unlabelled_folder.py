"""Images without labels: files and folders of files, as they lie."""

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from openworld.core.errors import OpenworldError
from openworld.core.plain_files import require_plain, require_text
from openworld.datasets.formats.decoding import FORMATS
from openworld.datasets.formats.folder import PathReader, content_of_files
from openworld.datasets.image_set import ImageSet


def find_images(paths: Sequence[Path]) -> list[Path]:
    """Return the files among `paths`, and every image in and below the folders among them, each once."""
    files = [file for path in paths for file in (_below(path) if path.is_dir() else [path])]
    for file in files:
        require_plain(file)
        if not file.exists():
            raise OpenworldError(f"there is no file or folder {file}.")
        require_text(str(file))
    return list(dict.fromkeys(files))


def load(paths: Sequence[Path], name: str = "these images", root: Path | None = None) -> ImageSet:
    """Loose images as an image set; they have no labels, so all have the same.

    root: a folder that all of them lie in, below which their paths are told, and with a hash of their bytes as content;
    None for the paths as they are given.
    """
    count = len(paths)
    return ImageSet(
        name=name,
        domain="",
        classnames=("image",),
        labels=np.zeros(count, np.int64),
        groups=np.arange(count),
        content="\n".join(map(str, paths)) if root is None else content_of_files(root, paths),
        read=PathReader(tuple(paths), root),
    )


def _below(folder: Path) -> list[Path]:
    """Images in and below a folder by name, those of linked folders too, hidden ones left out as by all readers."""
    files, hidden, seen, folders, links = [], [], set(), [str(folder)], []
    while folders or links:
        place = folders.pop() if folders else links.pop(0)
        real = os.path.realpath(place)
        if real in seen:  # a folder is looked into once; a link to a folder that holds it would be followed without end
            continue
        seen.add(real)
        try:
            entries = sorted(os.scandir(place), key=lambda entry: entry.name)
        except OSError as error:
            raise OpenworldError(f"{place} cannot be listed ({error.strerror}); mend its permissions.") from error
        for entry in entries:
            is_image = os.path.splitext(entry.name)[1].lower() in FORMATS and entry.is_file()
            if entry.name.startswith("."):
                hidden += [entry.name] * is_image
            elif entry.is_dir():
                (links if entry.is_symlink() else folders).append(entry.path)
            elif is_image:
                files.append(Path(entry.path))
    if not files:
        if hidden:
            raise OpenworldError(f"{folder} holds no image but hidden ones ({hidden[0]}, ...); rename them.")
        raise OpenworldError(f"{folder} holds no image ending in {', '.join(FORMATS)}.")
    return sorted(files)
