"""Your own images: one sub-folder per class, read as they lie; or without labels, files and folders of files.

FOLDER[/DOMAIN][/PART]/CLASS/image.jpg, where DOMAIN is any name and PART is train, validation (or val) or test. An
optional FOLDER/classnames.txt names the classes, a line each: the class folder, a space, the name with spaces. Without
it the folder's name is the class's. Classes are in the order of their folders' names; all parts and domains share one
list, so a class may have no image in a part.
"""

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from openworld.core.errors import OpenworldError, unknown_name
from openworld.core.plain_files import read_text, require_plain, require_text, sha256_of
from openworld.datasets.formats.decoding import FORMATS, decode
from openworld.datasets.image_set import ImageSet, path_column
from openworld.datasets.splits import draw_shots

PARTS = {"train": ("train",), "validation": ("validation", "val"), "test": ("test",)}
"""Part -> the folders it may lie in."""

_PART_NAMES = {name for names in PARTS.values() for name in names}


def load(
    folder: str | Path, *, domain: str | None = None, part: str | None = None, shots: int | None = None, seed: int = 0
) -> ImageSet:
    """Return the images of a folder, or of one domain and part of it, files in the order of their names.

    The content is a hash of every file, and every image is a group. `domain` and `part` are None where the folder has
    none; `shots` and `seed` are those of `datasets.load`. Raises OpenworldError for a missing folder, one without
    classes or images, an image that is no plain file or a link out of the folder, a name that is not text.
    """
    root = Path(folder)
    top = _enter(root, domain, part)
    names = _class_names(root, top)
    files = [
        (label, file) for label, own in enumerate(names) if (top / own).is_dir() for file in _images(root, top / own)
    ]
    if not files:
        raise OpenworldError(f"{top} holds class folders but no image ending in {', '.join(FORMATS)}.")
    drawn = draw_shots([label for label, _ in files], shots, seed)
    labels, paths = zip(*(files[index] for index in drawn.tolist()), strict=True)
    return images_of_paths(
        paths, root.resolve().name, root, classnames=tuple(names.values()), labels=labels, domain=domain
    )


def load_whole(folder: str | Path) -> ImageSet:
    """Return all images in and below a folder without parts; classes are its sub-folders, or one, itself."""
    root = Path(folder)
    top = _enter(root, None, None)
    if _subfolders(top):
        return load(folder)
    paths = _images(root, top)
    if not paths:
        raise OpenworldError(f"{top} holds no image ending in {', '.join(FORMATS)}.")
    name = root.resolve().name
    return images_of_paths(paths, name, root, classnames=(name,))


def images_of_paths(
    paths: Sequence[Path],
    name: str = "these images",
    root: Path | None = None,
    *,
    classnames: tuple[str, ...] = ("image",),
    labels: Sequence[int] | None = None,
    domain: str | None = None,
) -> ImageSet:
    """Return loose images as an image set; without labels all have the same.

    root: a folder that all of them lie in, below which their paths are told, and with a hash of their bytes as content;
    None for the paths as they are given.
    """
    count, listed = len(paths), [(path.relative_to(root) if root else path).as_posix() for path in paths]
    content = "\n".join(map(str, paths))
    if root is not None:
        digest = hashlib.sha256()
        for path, below in zip(paths, listed, strict=True):
            require_text(below)
            digest.update(f"{below}\0{sha256_of(path)}\n".encode())
        content = digest.hexdigest()
    return ImageSet(
        name=name,
        domain=domain or "",
        classnames=classnames,
        labels=np.zeros(count, np.int64) if labels is None else np.array(labels),
        groups=np.arange(count),
        content=content,
        read=PathReader(tuple(paths), root or Path()),
        columns=path_column(listed),
    )


def class_names(folder: str | Path) -> tuple[str, ...]:
    """Return all class names in label order, over all domains and parts; images are looked for, not read."""
    root = _enter(Path(folder), None, None)
    below = [root / name for name in sorted(_subfolders(root))]
    deeper = [place / name for place in below for name in sorted(_subfolders(place))]
    top = None
    for place in (root, *below, *deeper):
        # Classes are folders that are no parts, and an image lies in one of them.
        names = _subfolders(place)
        files = (file for name in names for file in (place / name).iterdir())
        if not names & _PART_NAMES and any(file.suffix.lower() in FORMATS for file in files):
            top = place
            break
    if top is None:
        raise OpenworldError(
            f"{root} holds no class folders; put the images of each class into a folder of its own, as FOLDER/CLASS, "
            "FOLDER/PART/CLASS, FOLDER/DOMAIN/CLASS or FOLDER/DOMAIN/PART/CLASS."
        )
    return tuple(_class_names(root, top).values())


def read_image(path: Path) -> Image.Image:
    """Return an image file decoded whole; its ending says its format."""
    return decode(path, str(path), FORMATS.get(path.suffix.lower(), ()))


@dataclass(frozen=True)
class PathReader:
    """Reads image i of a list of files, whose endings say their formats."""

    paths: tuple[Path, ...]
    folder: Path = Path()  # below which their paths are told

    def __call__(self, index: int) -> Image.Image:
        return read_image(self.paths[index])


def _enter(root: Path, domain: str | None, part: str | None) -> Path:
    if not root.is_dir():
        raise OpenworldError(f"there is no folder {root}.")
    if part is not None and part not in PARTS:
        raise unknown_name("part", part, PARTS)
    top = root
    for wanted in ((domain,) if domain else (), PARTS.get(part, ())):
        folder = next((top / name for name in wanted if (top / name).is_dir()), None)
        if wanted and folder is None:
            there = ", ".join(sorted(_subfolders(top))) or "none"
            raise OpenworldError(f"{top} has no folder {' or '.join(wanted)}; its folders are: {there}.")
        top = folder or top
    return top


def _subfolders(top: Path) -> set[str]:
    return {entry.name for entry in top.iterdir() if entry.is_dir() and not entry.name.startswith(".")}


def _class_names(root: Path, top: Path) -> dict[str, str]:
    """Class folder -> class name, over all sibling parts and domains, in the order of the folders."""
    places = [root]
    for _ in top.relative_to(root).parts:
        places = [place / name for place in places for name in _subfolders(place)]
    # Beside a part only other parts count, not "annotations" and the like.
    if top.name in _PART_NAMES:
        places = [place for place in places if place.name in _PART_NAMES or place == top]
    folders = sorted(set().union(*map(_subfolders, places)))
    if not folders:
        raise OpenworldError(f"{top} holds no class folders; put the images of each class into a folder of its own.")
    listing = root / "classnames.txt"
    require_plain(listing)
    names = {} if listing.is_file() else {name: name for name in folders}
    for number, line in enumerate(read_text(listing).splitlines() if listing.is_file() else (), start=1):
        folder, _, name = line.strip().partition(" ")
        if folder and (not name or folder in names):
            fault = "names that folder again" if folder in names else "must be a folder, a space and a class name"
            raise OpenworldError(f"{listing}, line {number}: {line.strip()!r} {fault}.")
        if folder:
            names[folder] = name.strip()
    unnamed = [name for name in folders if name not in names]
    if unnamed:
        raise OpenworldError(f"{listing} names no class for the folder {unnamed[0]!r} ({len(unnamed)} such folders).")
    return {name: names[name] for name in folders}


def _images(root: Path, folder: Path) -> list[Path]:
    """Return the image files of a class folder; no link may lead out of it and of the root."""
    files = sorted(f for f in folder.iterdir() if f.suffix.lower() in FORMATS and not f.name.startswith("."))
    inside = [os.path.realpath(place) for place in (root, folder)]
    for file in files:
        # Path.resolve raises on a link to itself, os.path.realpath does not.
        if file.is_symlink() and not any(Path(os.path.realpath(file)).is_relative_to(place) for place in inside):
            raise OpenworldError(f"{file} is a link that leaves {root}; copy what it points to, or load that folder.")
        require_plain(file)
    return files


def find_images(paths: Sequence[Path]) -> list[Path]:
    """Return the files among `paths`, and every image in and below the folders among them, each once."""
    files = [file for path in paths for file in (_below(path) if path.is_dir() else [path])]
    for file in files:
        require_plain(file)
        if not file.exists():
            raise OpenworldError(f"there is no file or folder {file}.")
        require_text(str(file))
    return list(dict.fromkeys(files))


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
