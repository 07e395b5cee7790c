"""ImageNet's classes under other circumstances: the 200 classes of -R, BREEDS, and ImageNet-C.

A domain names a variant of ImageNet that lies beside it, laid out as its own card has it; nothing is copied.
"""

from collections.abc import Callable
from pathlib import Path

from openworld._errors import OpenworldError
from openworld.datasets.formats import files
from openworld.datasets.formats.split_files import Split
from openworld.datasets.image_set import ImageSet
from openworld.datasets.published import breeds
from openworld.datasets.published.catalogue import DatasetCard, find
from openworld.datasets.published.corrupted_files import CONDITIONS, read_imagenet_c

Choice = Callable[[Path, Split, str], Split]
"""(folder of all data sets, a variant's split, part) -> the classes and images of it that a task has."""


def read_variant(name: str, variant: str, choose: Choice, root: Path, part: str) -> ImageSet:
    """Return the images of a task out of a variant of ImageNet, or out of ImageNet-C in a condition such as "fog 3"."""
    is_corrupted = variant in CONDITIONS
    source = find("imagenet-c" if is_corrupted else variant)
    if part not in source.parts:
        raise OpenworldError(
            f"{source.name} has no part {part!r} for {name} to take; it has {', '.join(source.parts)}."
        )
    if is_corrupted:
        folder = source.folder_in(root)
        split = read_imagenet_c(folder, variant)
    else:
        folder, split = root / source.folder / source.images, source.split(root, (part,))
    found = choose(root, split, part)
    return files.image_set(name, folder, found.classnames, found.parts[part])


def read_200(card: DatasetCard, root: Path, domain: str, part: str) -> ImageSet:
    """Return the images of the 200 classes that ImageNet-R has a folder of, in the order of their ids."""

    def choose(root: Path, split: Split, part: str) -> Split:
        ids = find("imagenet-r").split(root, ("test",)).wordnet_ids
        names = tuple(split.classnames[split.wordnet_ids.index(one)] for one in ids)
        return Split(names, {part: split.relabelled(part, {one: label for label, one in enumerate(ids)})}, ids)

    return read_variant(card.name, domain or "imagenet", choose, root, part)


def read_breeds(card: DatasetCard, root: Path, domain: str, part: str) -> ImageSet:
    """Return the images of a task of BREEDS, of "source" or "target", perhaps of a variant: "target imagenetv2"."""
    side, _, variant = domain.partition(" ")

    def choose(root: Path, split: Split, part: str) -> Split:
        hierarchy = breeds.Hierarchy(card.folder_in(root))
        return breeds.superclass_rows(breeds.TASKS[card.name], hierarchy, side, split, part)

    return read_variant(card.name, variant or "imagenet", choose, root, part)


def read_c(card: DatasetCard, root: Path, domain: str, part: str) -> ImageSet:
    """Return the images of ImageNet-C in a condition."""
    folder = card.folder_in(root)
    found = read_imagenet_c(folder, domain)
    return files.image_set(card.name, folder, found.classnames, found.parts[part])
