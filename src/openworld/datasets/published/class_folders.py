"""ImageNet and its variants: a folder per class, named by WordNet id (or, in V2, by number), joined by WordNet id.

classnames.txt, in CoOp's form (Zhou et al., 2022), names the classes: a line each, the WordNet id, a space, the name
with spaces, in the order of the ids, which is that of ImageNet's labels. Images are in the order of their names,
where CoOp takes them as the file system happens to list them; so few-shot draws from ImageNet are repeatable here, and
differ from machine to machine there.
"""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from openworld.core.errors import OpenworldError
from openworld.core.spoken import AGAIN
from openworld.datasets.formats.decoding import FORMATS
from openworld.datasets.formats.files import ImageRows, Split, first, read_lines

LISTING = "classnames.txt"
IMAGENET_NAMES = Path(__file__).parents[1] / "lists" / "class_names" / "imagenet.txt"

MENDED = {"n04008634": ("missile", "projectile"), "n04355933": ("sunglasses", "sunglass")}
"""WordNet id -> (CLIP's name, ours). CLIP's list names two pairs of classes alike, which no text tower can tell apart;
WordNet's own names do. Classes that a list already names otherwise are left as they are."""


def published_name(name: str) -> str:
    """Return the published name of a class of ImageNet, marked where another class has it as well."""
    return {ours: theirs + AGAIN for theirs, ours in MENDED.values()}.get(name, name)


@dataclass(frozen=True)
class ClassFolders:
    places: dict[str, str]  # part -> folder below the image folder
    numbered: bool = False  # folders are called 0, 1, ...: places in classnames.txt (ImageNetV2)
    subset: bool = False  # some classes alone have a folder (ImageNet-A and -R)


def read_class_folders(folder: Path, images: Path, layout: ClassFolders, parts: tuple[str, ...]) -> Split:
    """Return the images of `parts`, by class folder; `folder` or its sibling "imagenet" names the classes."""
    names, remarks = read_names(find_listing(folder))
    ids = list(names)
    folders = {part: class_folders(images / layout.places[part]) for part in parts}
    if layout.subset:
        ids = sorted(set(ids).intersection(*map(set, folders.values())))
    called = {str(place) if layout.numbered else wordnet_id: place for place, wordnet_id in enumerate(ids)}
    for part, own in folders.items():
        place = images / layout.places[part]
        missing, unknown = [one for one in called if one not in set(own)], [one for one in own if one not in called]
        if missing:
            raise OpenworldError(
                f"{place} lacks {len(missing)} of {len(called)} class folders, such as {first(missing)}; "
                "extract its archive again."
            )
        if unknown:
            raise OpenworldError(
                f"{place} has {len(unknown)} folder(s) that {find_listing(folder)} does not name, such as "
                f"{first(unknown)}; move them away, or get the listing again."
            )
    rows = {part: image_rows(images, layout.places[part], called) for part in parts}
    kept = [remark for wordnet_id, remark in remarks.items() if wordnet_id in ids]
    return Split(tuple(names[one] for one in ids), rows, tuple(ids), tuple(kept))


def find_listing(folder: Path) -> Path:
    """classnames.txt of a data set; a variant of ImageNet without one shares that of "imagenet" beside it."""
    listing, shared = folder / LISTING, folder.parent / "imagenet" / LISTING
    if not listing.is_file() and not shared.is_file():
        raise OpenworldError(f"there is no file {listing}.")
    return listing if listing.is_file() else shared


def read_names(path: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Return WordNet id -> class name, in label order, and WordNet id -> what was mended about it (see MENDED)."""
    names: dict[str, str] = {}
    for line in read_lines(path):
        wordnet_id, _, name = line.partition(" ")
        if not name.strip():
            raise OpenworldError(f"{path} has the line {line!r}, expected a WordNet id, a space and a class name.")
        if names and wordnet_id <= next(reversed(names)):
            raise OpenworldError(
                f"{path} lists {wordnet_id} after {next(reversed(names))}; ids must be in order, each once, because "
                "a class's label is its place: get the file again."
            )
        names[wordnet_id] = name.strip()
    remarks = {}
    for wordnet_id, (theirs, ours) in MENDED.items():
        if names.get(wordnet_id) == theirs:
            names[wordnet_id] = ours
            remarks[wordnet_id] = f"{wordnet_id} is called {ours!r}, not {theirs!r}, the name of another class"
    return names, remarks


def class_folders(place: Path) -> list[str]:
    if not place.is_dir():
        raise OpenworldError(f"there is no folder {place}.")
    with os.scandir(place) as entries:
        names = sorted(entry.name for entry in entries if entry.is_dir() and not entry.name.startswith("."))
    if not names:
        raise OpenworldError(f"{place} holds no class folders{_instead(place)}.")
    return names


def _instead(place: Path) -> str:
    """What lies there in place of class folders, as the two usual half-finished extractions leave it."""
    files = sorted(entry.name for entry in place.iterdir() if entry.is_file())
    if any(name.lower().endswith(".tar") for name in files):
        return f" but archives such as {first(files, 1)}; extract each into a folder of its own name"
    if any(Path(name).suffix.lower() in FORMATS for name in files):
        return f" but {len(files):,} files, such as {first(files, 1)}; sort them into a folder per class"
    return ""


def image_rows(images: Path, place: str, called: dict[str, int]) -> ImageRows:
    """Return the images of class folders (name -> label) at a place below `images`, in the order of their names."""
    paths, labels = [], []
    for name, label in called.items():
        with os.scandir(images / place / name) as entries:
            names = sorted(entry.name for entry in entries if not entry.name.startswith("."))
        files = [file for file in names if os.path.splitext(file)[1].lower() in FORMATS]
        paths += [f"{place}/{name}/{file}".lstrip("/") for file in files]
        labels += [label] * len(files)
    return ImageRows(tuple(paths), np.array(labels, dtype=np.int64))
