"""Tiny-ImageNet and Tiny-ImageNet-C as they are downloaded: 200 of ImageNet's classes in 64 x 64 pixels.

tiny-imagenet-200 (Stanford's course CS231n) holds train/WORDNET_ID/images/, val/images/ with the classes of its
pictures in val/val_annotations.txt, wnids.txt and words.txt; its test has no labels and is not read. The labelled
validation pictures are the test, as ImageNet's are. Tiny-ImageNet-C (Hendrycks and Dietterich, 2019) holds a folder per
corruption, in it one per severity, in it one per class. Classes are in the order of their WordNet ids and are called
as ImageNet's list calls them; those that it does not have, by the first name in words.txt.
"""

from collections.abc import Mapping
from functools import partial
from pathlib import Path

import numpy as np

from openworld._errors import OpenworldError
from openworld._plain import require_plain
from openworld.datasets.formats import files
from openworld.datasets.formats.split_files import ImageRows, Split, read_lines, require_below
from openworld.datasets.image_set import ImageSet
from openworld.datasets.published.catalogue import DatasetCard
from openworld.datasets.published.class_folders import IMAGENET_NAMES, class_folders, image_rows, read_names
from openworld.datasets.published.imagenet_shifts import read_variant

_ANNOTATIONS = "val/val_annotations.txt"
_EXTRA = "Tiny-ImageNet-C-extra"


def read_tiny(folder: Path, part: str) -> Split:
    """Return the images of "train", or the labelled validation images as "test", in the order of ids and file names."""
    ids = read_ids(folder)
    rows = _taught(folder, ids) if part == "train" else _annotated(folder, ids)
    return Split(_names(ids, folder), {part: rows}, ids)


def read_ids(folder: Path) -> tuple[str, ...]:
    """The WordNet ids of wnids.txt, sorted: the order of labels."""
    require_plain(folder / "wnids.txt")
    ids = sorted(line.strip() for line in read_lines(folder / "wnids.txt") if line.strip())
    if len(set(ids)) != len(ids) or not ids:
        raise OpenworldError(f"{folder / 'wnids.txt'} names {len(set(ids))} classes in {len(ids)} lines; get it again.")
    return tuple(ids)


def _taught(folder: Path, ids: tuple[str, ...]) -> ImageRows:
    found = class_folders(folder / "train")
    if set(found) != set(ids):
        odd = sorted(set(found) ^ set(ids))
        raise OpenworldError(
            f"{folder / 'train'} and wnids.txt differ in {len(odd)} class(es), such as {files.first(odd, 1)}; extract "
            "the archive again."
        )
    return image_rows(folder, "train", {f"{wordnet_id}/images": label for label, wordnet_id in enumerate(ids)})


def _annotated(folder: Path, ids: tuple[str, ...]) -> ImageRows:
    """A line per picture: file, WordNet id, and a box; pictures that were sorted into class folders are found there."""
    labels = {wordnet_id: label for label, wordnet_id in enumerate(ids)}
    val = folder / "val"
    paths, found = [], []
    for line in read_lines(folder / _ANNOTATIONS):
        file, wordnet_id = (*line.split("\t"), "", "")[:2]
        if wordnet_id not in labels:
            raise OpenworldError(f"{folder / _ANNOTATIONS}: {line!r}, expected a file and a WordNet id of wnids.txt.")
        require_below(file, str(folder / _ANNOTATIONS))
        places = ("images", f"{wordnet_id}/images")
        place = next((place for place in places if (val / place).is_dir()), wordnet_id)
        paths.append(f"val/{place}/{file}")
        found.append(labels[wordnet_id])
    order = sorted(range(len(paths)), key=lambda row: (found[row], paths[row]))
    return ImageRows(tuple(paths[row] for row in order), np.array([found[row] for row in order], dtype=np.int64))


def read_tiny_c(folder: Path, condition: str) -> tuple[Path, Split]:
    """Return the folder and the images of one corruption in one severity."""
    # The four further corruptions come in an archive of their own, whose folder may lie beside the first one's.
    place = condition.replace(" ", "/")
    beside = folder.parent / _EXTRA
    holder = beside if not (folder / place).is_dir() and (beside / place).is_dir() else folder
    ids = tuple(class_folders(holder / place))
    rows = image_rows(holder, place, {wordnet_id: label for label, wordnet_id in enumerate(ids)})
    return holder, Split(_names(ids, folder.parent / "tiny-imagenet-200"), {"test": rows}, ids)


def _names(ids: tuple[str, ...], folder: Path) -> tuple[str, ...]:
    listed, _ = read_names(IMAGENET_NAMES)
    words = _words(folder) if set(ids) - set(listed) else {}
    lacking = [wordnet_id for wordnet_id in ids if wordnet_id not in listed and wordnet_id not in words]
    if lacking:
        raise OpenworldError(
            f"{len(lacking)} class(es) have no name, such as {files.first(lacking, 1)}: neither ImageNet's list nor "
            f"{folder / 'words.txt'} has them; extract tiny-imagenet-200 again."
        )
    return tuple(listed.get(wordnet_id) or words[wordnet_id] for wordnet_id in ids)


def _words(folder: Path) -> Mapping[str, str]:
    """WordNet id -> the first of its names in words.txt; {} where that is not there."""
    path = folder / "words.txt"
    pairs = (line.partition("\t") for line in (read_lines(path) if path.is_file() else ()))
    return {wordnet_id: names.split(",")[0].strip() for wordnet_id, _, names in pairs}


def read(card: DatasetCard, root: Path, domain: str, part: str) -> ImageSet:
    """Return the images of a part, or of a variant of ImageNet, those of its classes."""
    folder = card.folder_in(root)
    if domain:
        return read_variant(card.name, domain, partial(_shared, folder), root, part)
    found = read_tiny(folder, part)
    return files.image_set(card.name, folder, found.classnames, found.parts[part])


def _shared(folder: Path, root: Path, split: Split, part: str) -> Split:
    """Of a variant of ImageNet, the classes that Tiny-ImageNet has as well, by its names."""
    ids = tuple(wordnet_id for wordnet_id in read_ids(folder) if wordnet_id in set(split.wordnet_ids))
    rows = split.relabelled(part, {wordnet_id: label for label, wordnet_id in enumerate(ids)})
    return Split(_names(ids, folder), {part: rows}, ids)


def read_c(card: DatasetCard, root: Path, domain: str, part: str) -> ImageSet:
    """Return the images of Tiny-ImageNet-C in a condition."""
    holder, found = read_tiny_c(card.folder_in(root), domain)
    return files.image_set(card.name, holder, found.classnames, found.parts[part])
