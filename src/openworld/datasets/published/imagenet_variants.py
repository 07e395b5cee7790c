"""ImageNet's classes under other circumstances: the 200 of -R, BREEDS, Tiny-ImageNet, and images published corrupted.

A domain names a variant of ImageNet that lies beside it, laid out as its own card has it; nothing is copied. ImageNet-C
and Tiny-ImageNet-C (Hendrycks and Dietterich, 2019) hold a folder per corruption, in it one per severity, in it one per
class; the same corruptions of any images, made here: `openworld.datasets.corruptions`.

tiny-imagenet-200 (Stanford's course CS231n) holds train/WORDNET_ID/images/, val/images/ with the classes of its
images in val/val_annotations.txt, wnids.txt and words.txt; its test has no labels and is not read. The labelled
validation images are the test, as ImageNet's are. Classes are in the order of their WordNet ids and are called as
ImageNet's list calls them; those that it does not have, by the first name in words.txt.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from openworld.core.errors import OpenworldError
from openworld.core.plain_files import require_plain
from openworld.datasets.formats import files
from openworld.datasets.formats.files import ImageRows, Split, read_lines, require_below
from openworld.datasets.image_set import ImageSet
from openworld.datasets.published import breeds
from openworld.datasets.published.catalogue import CONDITIONS, DatasetCard, find
from openworld.datasets.published.class_folders import (
    IMAGENET_NAMES,
    ClassFolders,
    class_folders,
    image_rows,
    read_class_folders,
    read_names,
)

_ANNOTATIONS = "val/val_annotations.txt"
_EXTRA = "Tiny-ImageNet-C-extra"


def _variant(name: str, variant: str, root: Path, part: str) -> tuple[Path, Split]:
    """Return folder and images of a variant of ImageNet, or of ImageNet-C in a condition such as "fog 3"."""
    is_corrupted = variant in CONDITIONS
    source = find("imagenet-c" if is_corrupted else variant)
    if part not in source.parts:
        raise OpenworldError(
            f"{source.name} has no part {part!r} for {name} to take; it has {', '.join(source.parts)}."
        )
    if is_corrupted:
        folder = source.folder_in(root)
        return folder, _corrupted(folder, variant)
    return root / source.folder / source.images, source.split(root, (part,))


def _corrupted(folder: Path, condition: str) -> Split:
    return read_class_folders(folder, folder, ClassFolders({"test": condition.replace(" ", "/")}), ("test",))


def read_200(card: DatasetCard, root: Path, domain: str, part: str) -> ImageSet:
    """Return the images of the 200 classes that ImageNet-R has a folder of, in the order of their ids."""
    folder, split = _variant(card.name, domain or "imagenet", root, part)
    ids = find("imagenet-r").split(root, ("test",)).wordnet_ids
    names = [split.classnames[split.wordnet_ids.index(one)] for one in ids]
    return files.image_set(card.name, folder, names, split.relabelled(part, _labels(ids)))


def read_breeds(card: DatasetCard, root: Path, domain: str, part: str) -> ImageSet:
    """Return the images of a task of BREEDS, of "source" or "target", perhaps of a variant: "target imagenetv2"."""
    side, _, variant = domain.partition(" ")
    folder, split = _variant(card.name, variant or "imagenet", root, part)
    chosen = breeds.superclasses(breeds.TASKS[card.name], breeds.Hierarchy(card.folder_in(root)))
    label_of = {name: label for label, one in enumerate(chosen) for name in getattr(one, side)}
    return files.image_set(card.name, folder, [one.name for one in chosen], split.relabelled(part, label_of))


def _labels(ids: Sequence[str]) -> dict[str, int]:
    return {wordnet_id: label for label, wordnet_id in enumerate(ids)}


def read_c(card: DatasetCard, root: Path, domain: str, part: str) -> ImageSet:
    folder = card.folder_in(root)
    images = _corrupted(folder, domain)
    return files.image_set(card.name, folder, images.classnames, images.parts[part])


def read_tiny(card: DatasetCard, root: Path, domain: str, part: str) -> ImageSet:
    """Return the images of a part of Tiny-ImageNet, or those of its classes in a variant of ImageNet."""
    folder = card.folder_in(root)
    if not domain:
        ids = read_ids(folder)
        rows = _tiny_training(folder, ids) if part == "train" else _tiny_test(folder, ids)
        return files.image_set(card.name, folder, _tiny_names(ids, folder), rows)
    place, split = _variant(card.name, domain, root, part)
    shared = [wordnet_id for wordnet_id in read_ids(folder) if wordnet_id in set(split.wordnet_ids)]
    return files.image_set(card.name, place, _tiny_names(shared, folder), split.relabelled(part, _labels(shared)))


def read_tiny_c(card: DatasetCard, root: Path, domain: str, part: str) -> ImageSet:
    # The four further corruptions come in an archive of their own, whose folder may lie beside the first one's.
    folder, place = card.folder_in(root), domain.replace(" ", "/")
    beside = folder.parent / _EXTRA
    holder = beside if not (folder / place).is_dir() and (beside / place).is_dir() else folder
    ids = class_folders(holder / place)
    rows = image_rows(holder, place, _labels(ids))
    return files.image_set(card.name, holder, _tiny_names(ids, folder.parent / "tiny-imagenet-200"), rows)


def read_ids(folder: Path) -> tuple[str, ...]:
    """Return Tiny-ImageNet's WordNet ids of wnids.txt, sorted: the order of labels."""
    require_plain(folder / "wnids.txt")
    ids = sorted(read_lines(folder / "wnids.txt"))
    if len(set(ids)) != len(ids) or not ids:
        raise OpenworldError(f"{folder / 'wnids.txt'} names {len(set(ids))} classes in {len(ids)} lines; get it again.")
    return tuple(ids)


def _tiny_training(folder: Path, ids: Sequence[str]) -> ImageRows:
    folders = class_folders(folder / "train")
    if set(folders) != set(ids):
        odd = sorted(set(folders) ^ set(ids))
        raise OpenworldError(
            f"{folder / 'train'} and wnids.txt differ in {len(odd)} class(es), such as {files.first(odd, 1)}; extract "
            "the archive again."
        )
    return image_rows(folder, "train", {f"{wordnet_id}/images": label for label, wordnet_id in enumerate(ids)})


def _tiny_test(folder: Path, ids: Sequence[str]) -> ImageRows:
    """A line per image: file, WordNet id, and a box; images that were sorted into class folders are found there."""
    labels, rows = _labels(ids), []
    for line in read_lines(folder / _ANNOTATIONS):
        file, wordnet_id = (*line.split("\t"), "", "")[:2]
        if wordnet_id not in labels:
            raise OpenworldError(f"{folder / _ANNOTATIONS}: {line!r}, expected a file and a WordNet id of wnids.txt.")
        require_below(file, str(folder / _ANNOTATIONS))
        places = ("images", f"{wordnet_id}/images")
        place = next((place for place in places if (folder / "val" / place).is_dir()), wordnet_id)
        rows.append((labels[wordnet_id], f"val/{place}/{file}"))
    rows.sort()
    return ImageRows(tuple(path for _, path in rows), np.array([label for label, _ in rows], dtype=np.int64))


def _tiny_names(ids: Sequence[str], folder: Path) -> list[str]:
    names, path = read_names(IMAGENET_NAMES)[0], folder / "words.txt"
    if set(ids) - set(names) and path.is_file():
        pairs = (line.partition("\t") for line in read_lines(path))
        names = {wordnet_id: words.split(",")[0].strip() for wordnet_id, _, words in pairs} | names
    lacking = [wordnet_id for wordnet_id in ids if wordnet_id not in names]
    if lacking:
        raise OpenworldError(
            f"{len(lacking)} class(es) have no name, such as {files.first(lacking, 1)}: neither ImageNet's list nor "
            f"{path} has them; extract tiny-imagenet-200 again."
        )
    return [names[wordnet_id] for wordnet_id in ids]
