"""FRAP's source data sets as a folder holds them: Tiny-ImageNet where it is there, corruptions as they were published.

What lies on disk is read in the place of what is made here: CIFAR-10-C, CIFAR-100-C, ImageNet-C and Tiny-ImageNet-C
spare the making of millions of images, and are the paper's own. Corruptions that a folder lacks are made here. Where
there is a tiny-imagenet-200, it is the source of the paper's Tiny-ImageNet; else ATC's ImageNet-200 stands in.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from openworld.datasets import SHIFTED
from openworld.datasets.published.corrupted_files import NAMES
from openworld.datasets.published.shifted_check import is_there, lacking_corruptions
from openworld.evaluations.accuracy_estimation.entries import TargetSpec
from openworld.evaluations.image_selection import DatasetSpec
from openworld.reproduction.frap_datasets import WORLDS, SourceWorld

TINY = "tiny-imagenet"
STANDS_IN = "imagenet-200"

CORRUPTED = {
    "cifar10": "cifar10-c",
    "cifar100": "cifar100-c",
    TINY: "tiny-imagenet-c",
    **dict.fromkeys(("imagenet", STANDS_IN, "living17", "nonliving26", "entity13", "entity30"), "imagenet-c"),
}
"""Source data set -> the data set that was published corrupted."""


def worlds_on_disk(root: Path) -> tuple[SourceWorld, ...]:
    """Return the ten sources, read from what a folder holds."""
    tiny = is_there(TINY, root)
    return tuple(_as_published(_tiny(world) if tiny and world.name == STANDS_IN else world, root) for world in WORLDS)


def remarks_on(worlds: tuple[SourceWorld, ...]) -> Iterator[str]:
    """Say which corruptions are published ones, which are made here, and what Tiny-ImageNet is."""
    files: dict[str, list[str]] = {}
    for world in worlds:
        if world.corruption_row:
            files.setdefault(world.corrupted_files, []).append(world.title)
    for name, titles in files.items():
        if name:
            yield f"Corrupted images of {_listed(titles)} are those of {SHIFTED[name].title} as published, on disk."
    for world in worlds:
        if world.made_here:
            yield f"{_listed(world.made_here)} of {world.title} are not on disk, and are made here."
    if files.get(""):
        yield (
            f"Corruptions of {_listed(files[''])} are made here from test images, in place of published files "
            f"({_listed(dict.fromkeys(SHIFTED[CORRUPTED[world.name]].title for world in worlds if _is_made(world)))}), "
            "which are read where they are on disk."
        )
    if any(world.name == TINY for world in worlds):
        yield "Tiny-ImageNet is the folder tiny-imagenet-200; its natural shifts show the classes that they share."
    if any(world.name == STANDS_IN for world in worlds):
        yield (
            "In place of Tiny-ImageNet stand ImageNet's images of the 200 classes of ImageNet-R, as in ATC; where "
            "there is a folder tiny-imagenet-200, that is taken."
        )


def _is_made(world: SourceWorld) -> bool:
    return bool(world.corruption_row) and not world.corrupted_files


def _as_published(world: SourceWorld, root: Path) -> SourceWorld:
    if not world.corruption_row:
        return world
    lacking = lacking_corruptions(CORRUPTED[world.name], root)
    if len(lacking) == len(NAMES):
        return world
    return replace(world, corrupted_files=CORRUPTED[world.name], made_here=lacking)


def _tiny(world: SourceWorld) -> SourceWorld:
    """Tiny-ImageNet in the place of ImageNet-200: the same shifts, of its own classes."""
    targets = tuple(TargetSpec(TINY, target.domain, row=target.row) for target in world.targets)
    return replace(world, name=TINY, sources=(DatasetSpec(TINY),), targets=targets, cut=None)


def _listed(names) -> str:
    *most, last = [name.replace("_", " ") for name in names]
    return f"{', '.join(most)} and {last}" if most else last
