"""ImageNet's classes under other circumstances: all three of V2, the 200 classes of -R, BREEDS, and ImageNet-C.

A domain names a variant of ImageNet that lies beside it, laid out as `published` has it; nothing is copied.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from openworld._errors import OpenworldError
from openworld.datasets.formats import files
from openworld.datasets.formats.split_files import Split
from openworld.datasets.image_set import ImageSet
from openworld.datasets.published import breeds
from openworld.datasets.published.catalogue import PUBLISHED, PublishedSet
from openworld.datasets.published.corrupted_files import CONDITIONS, read_imagenet_c
from openworld.datasets.published.downloads import sources_of
from openworld.datasets.published.shifted_set import ShiftedSet

_V2 = {
    "imagenetv2": PUBLISHED["imagenetv2"],
    "imagenetv2-threshold": replace(PUBLISHED["imagenetv2"], images="imagenetv2-threshold0.7-format-val"),
    "imagenetv2-top": replace(PUBLISHED["imagenetv2"], images="imagenetv2-top-images-format-val"),
}
VARIANTS: dict[str, PublishedSet] = {
    "imagenet": PUBLISHED["imagenet"],
    **_V2,
    "imagenet-sketch": PUBLISHED["imagenet-sketch"],
    "imagenet-r": PUBLISHED["imagenet-r"],
}
"""Name -> where the pictures lie."""

Choice = Callable[[Path, Split, str], Split]
"""(folder of all data sets, a variant's split, part) -> the classes and pictures of it that a task has."""


def read_variant(name: str, variant: str, choose: Choice, root: Path, part: str) -> ImageSet:
    """Return the images of a task out of a variant of ImageNet, or out of ImageNet-C in a condition such as "fog 3"."""
    is_corrupted = variant in CONDITIONS
    source, parts = ("imagenet-c", ("test",)) if is_corrupted else (variant, VARIANTS[variant].parts)
    if part not in parts:
        raise OpenworldError(f"{source} has no part {part!r} for {name} to take; it has {', '.join(parts)}.")
    if is_corrupted:
        folder = IMAGENET_SHIFTS["imagenet-c"].place(root)
        split = read_imagenet_c(folder, variant)
    else:
        card = VARIANTS[variant]
        folder, split = root / card.folder / card.images, card.read(root, (part,))
    found = choose(root, split, part)
    return files.image_set(name, folder, found.classnames, found.parts[part])


def _read_v2(variant: str, root: Path, folder: Path, domain: str, part: str) -> ImageSet:
    return read_variant(variant, variant, lambda root, split, part: split, root, part)


def _read_200(root: Path, folder: Path, domain: str, part: str) -> ImageSet:
    def choose(root: Path, split: Split, part: str) -> Split:
        """The 200 classes that ImageNet-R has a folder of, in the order of their ids."""
        ids = VARIANTS["imagenet-r"].read(root, ("test",)).wordnet_ids
        names = tuple(split.classnames[split.wordnet_ids.index(one)] for one in ids)
        return Split(names, {part: split.relabelled(part, {one: label for label, one in enumerate(ids)})}, ids)

    return read_variant("imagenet-200", domain or "imagenet", choose, root, part)


def _read_breeds(task: str, root: Path, folder: Path, domain: str, part: str) -> ImageSet:
    side, _, variant = domain.partition(" ")

    def choose(root: Path, split: Split, part: str) -> Split:
        return breeds.superclass_rows(breeds.TASKS[task], breeds.Hierarchy(folder), side, split, part)

    return read_variant(task, variant or "imagenet", choose, root, part)


def _read_c(root: Path, folder: Path, domain: str, part: str) -> ImageSet:
    found = read_imagenet_c(folder, domain)
    return files.image_set("imagenet-c", folder, found.classnames, found.parts[part])


_BREEDS_DOMAINS = (*breeds.DOMAINS, *(f"{side} {other}" for other in (*_V2, *CONDITIONS) for side in breeds.DOMAINS))


def _v2(variant: str, how: str) -> ShiftedSet:
    return ShiftedSet(
        title="ImageNetV2",
        what=f"new photos, taken as ImageNet's were ({how})",
        folder="imagenetv2",
        classes=1000,
        pictures={"test": 10_000},
        sources=sources_of(variant),
        read=partial(_read_v2, variant),
    )


def _breeds(task: str, title: str, what: str, classes: int, tested: int) -> ShiftedSet:
    return ShiftedSet(
        title=title,
        what=what,
        folder="breeds",
        classes=classes,
        pictures={"train": None, "test": tested},
        sources=sources_of(task),
        read=partial(_read_breeds, task),
        domains=_BREEDS_DOMAINS,
        alike=breeds.DOMAINS,
    )


IMAGENET_SHIFTS: dict[str, ShiftedSet] = {
    "imagenetv2-threshold": _v2("imagenetv2-threshold", "chosen by at least 7 of 10 people"),
    "imagenetv2-top": _v2("imagenetv2-top", "those that most people chose"),
    "imagenet-200": ShiftedSet(
        title="ImageNet-200",
        what="the classes of ImageNet that ImageNet-R has",
        folder="imagenet",
        classes=200,
        pictures={"train": None, "test": 10_000},
        sources=sources_of("imagenet-200"),
        read=_read_200,
        domains=("", *(variant for variant in VARIANTS if variant != "imagenet"), *CONDITIONS),
    ),
    "imagenet-c": ShiftedSet(
        title="ImageNet-C",
        what="ImageNet's test images, corrupted",
        folder="imagenet-c",
        classes=1000,
        pictures={"test": 50_000},
        sources=sources_of("imagenet-c"),
        read=_read_c,
        domains=CONDITIONS,
        alike=CONDITIONS,
        also=("ImageNet-C",),
    ),
    "entity13": _breeds("entity13", "Entity-13", "ImageNet's things, sorted coarsely", 13, 6500),
    "entity30": _breeds("entity30", "Entity-30", "ImageNet's things, sorted finely", 30, 6000),
    "living17": _breeds("living17", "Living-17", "ImageNet's animals", 17, 1700),
    "nonliving26": _breeds("nonliving26", "Nonliving-26", "ImageNet's things that do not live", 26, 2600),
}
"""Name -> what is known of the data set."""
