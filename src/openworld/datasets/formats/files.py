"""Which image files a data set has, by CoOp's split files or FGVC-Aircraft's lists; and files as an image set.

A split file (Zhou et al., 2022, KaiyangZhou/CoOp) is JSON: {"train" | "val" | "test": [[path below the image folder,
label from 0, class name], ...]}. FGVC-Aircraft lists its variants in variants.txt and, in images_variant_PART.txt, a
line per image: the file's name without ".jpg", a space, the variant.
"""

import errno
import hashlib
import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

import numpy as np
from PIL import Image

from openworld.core.errors import OpenworldError
from openworld.core.plain_files import is_text, parse_json, read_text, require_text
from openworld.datasets.formats.decoding import decode
from openworld.datasets.image_set import ImageSet, path_column

FILE_PARTS = {"train": "train", "validation": "val", "test": "test"}
"""Part -> what split files call it."""


@dataclass(frozen=True, eq=False)
class ImageRows:
    """The images of a part, in the order in which their data set lists them."""

    paths: tuple[str, ...]  # relative to the image folder, with forward slashes
    labels: np.ndarray  # int64[N]
    groups: np.ndarray | None = None  # int64[N], see `ImageSet`; None where all images are independent

    def __len__(self) -> int:
        return len(self.paths)


@dataclass(frozen=True, eq=False)
class Split:
    """What a data set says that it holds; whether the files are there is another question."""

    classnames: tuple[str, ...]  # in label order
    parts: dict[str, ImageRows]  # of those that were asked for
    wordnet_ids: tuple[str, ...] = ()  # in label order; empty where classes are not WordNet's
    remarks: tuple[str, ...] = field(default=())  # what was done to the names, for people

    def relabelled(self, part: str, label_of: Mapping[str, int]) -> ImageRows:
        """Return the images of a part whose classes have new labels by their WordNet ids, in their order."""
        new = np.array([label_of.get(wordnet_id, -1) for wordnet_id in self.wordnet_ids], dtype=np.int64)
        rows = self.parts[part]
        labels = new[rows.labels]
        labelled = np.flatnonzero(labels >= 0)
        return ImageRows(tuple(rows.paths[index] for index in labelled.tolist()), labels[labelled])


def read_split_file(path: Path) -> Split:
    entries = _entries(path)
    names: dict[int, str] = {}
    for image, label, name in (entry for own in entries.values() for entry in own):
        require_below(image, str(path))
        if names.setdefault(label, name) != name:
            raise OpenworldError(f"{path} gives label {label} two names, {names[label]!r} and {name!r}; {_AGAIN}")
    if sorted(names) != list(range(len(names))):
        gap = next(label for label in range(len(names)) if label not in names)
        raise OpenworldError(f"{path} has {len(names)} classes, but none with label {gap}; {_AGAIN}")
    parts = {part: _rows([one[:2] for one in entries[key]]) for part, key in FILE_PARTS.items()}
    return Split(tuple(names[label] for label in range(len(names))), parts)


def read_variants(folder: Path) -> Split:
    """Read FGVC-Aircraft's own lists, by variant."""
    variants = read_lines(folder / "variants.txt")
    labels = {name: label for label, name in enumerate(variants)}
    parts = {}
    for part, key in FILE_PARTS.items():
        path = folder / f"images_variant_{key}.txt"
        pairs = []
        for line in read_lines(path):
            image, _, name = line.partition(" ")
            if name.strip() not in labels:
                raise OpenworldError(
                    f"{path} has the line {line!r}, whose variant variants.txt does not list; {_AGAIN}"
                )
            require_below(image, str(path))
            pairs.append((f"{image}.jpg", labels[name.strip()]))
        parts[part] = _rows(pairs)
    return Split(tuple(variants), parts)


def read_lines(path: Path) -> list[str]:
    """The lines of a text file that are not blank, without outer spaces."""
    return [line.strip() for line in _read_text(path).splitlines() if line.strip()]


def require_below(path: str, source: str) -> None:
    """Refuse a path that does not stay below the folder that it is relative to."""
    if path and path[0] not in "./" and "/.." not in path and "\\" not in path:  # nearly all, of perhaps ten million
        return
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts or "\\" in path or not pure.parts:
        raise OpenworldError(f"{source} names {path!r}, which leaves its folder; paths must be relative and below it.")


_AGAIN = "get the file again."


def _entries(path: Path) -> dict[str, list]:
    text = _read_text(path)
    try:
        content = parse_json(text)
    except ValueError as error:
        raise OpenworldError(f"{path} is no JSON ({error}); {_AGAIN}") from error
    if not isinstance(content, dict) or set(content) != set(FILE_PARTS.values()):
        came = (
            f"the parts {', '.join(map(str, content))}" if isinstance(content, dict) else f"a {type(content).__name__}"
        )
        raise OpenworldError(f"{path} holds {came or 'nothing'}, expected train, val and test; {_AGAIN}")
    for key, own in content.items():
        if not isinstance(own, list):
            raise OpenworldError(f"{path}, {key} is {own!r}, expected a list of [path, label, class name]; {_AGAIN}")
        bad = next((place for place, entry in enumerate(own) if not _is_entry(entry)), None)
        if bad is not None:
            raise OpenworldError(f"{path}, {key}[{bad}] is {own[bad]!r}, expected [path, label, class name]; {_AGAIN}")
    return content


def _is_entry(entry) -> bool:
    """Whether it is [text, whole number from 0, text]; bool, a kind of int in Python, is none."""
    if not isinstance(entry, list) or len(entry) != 3:
        return False
    path, label, name = entry
    return isinstance(path, str) and type(label) is int and label >= 0 and isinstance(name, str)


def _rows(pairs: Sequence[tuple[str, int]]) -> ImageRows:
    return ImageRows(tuple(path for path, _ in pairs), np.array([label for _, label in pairs], dtype=np.int64))


def _read_text(path: Path) -> str:
    text = read_text(path, _AGAIN)
    if not text.strip():
        raise OpenworldError(f"{path} is empty; {_AGAIN}")
    if text.lstrip()[:9].casefold().startswith(("<!doctype", "<html")):
        raise OpenworldError(f"{path} is a web page, such as a host shows in place of a large file; {_AGAIN}")
    return text


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

    folder: Path  # who is told about images looks at the folder and the paths of what reads them
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
