"""FRAP's ten source data sets with their shifts, from `frap-worlds.toml` ("Bridging Domain Expertise ...", appendix C).

What is read otherwise where the published files are on disk: CIFAR-10-C, CIFAR-100-C, ImageNet-C and Tiny-ImageNet-C,
the paper's own, in the place of corruptions that are made here; and a tiny-imagenet-200, for which else ATC's
ImageNet-200 stands in.
"""

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from openworld.classifiers import Recipe, published, published_architectures
from openworld.datasets import SHIFTED
from openworld.datasets.checking import lacking_corruptions
from openworld.datasets.published.catalogue import PUBLISHED_CORRUPTIONS, find
from openworld.evaluations.image_selection import DatasetSpec
from openworld.label_free.benchmark.spec import ModelSpec, TargetSpec

_CHECKPOINTS = 3  # of a training of which only the end is published: "different epochs", says the paper


@dataclass(frozen=True)
class SourceWorld:
    title: str
    name: str
    sources: tuple[DatasetSpec, ...]
    targets: tuple[TargetSpec, ...]
    corruption_row: str = ""  # of the source's test images under 19 corruptions at 5 severities; "" for none
    source_part: str = "test"  # where the labelled source set lies
    held_out: int | None = None  # how many training images are the labelled source set instead
    cut: int | None = None
    shots: int | None = None  # training images of each class and source; None for all
    images: int | None = None  # of a condition at most; None for all
    own_models: tuple[ModelSpec, ...] = ()
    corrupted_files: str = ""
    made_here: tuple[str, ...] = ()

    @property
    def models(self) -> tuple[ModelSpec, ...]:
        """What is trained, with the checkpoints that are judged."""
        if self.own_models:
            return self.own_models
        dataset = self.sources[0].dataset
        recipe: Recipe = published(dataset)
        thirds = tuple(recipe.epochs * place // _CHECKPOINTS for place in range(1, _CHECKPOINTS + 1))
        checkpoints = recipe.checkpoints if len(recipe.checkpoints) > 1 else thirds
        names = published_architectures(dataset)
        return tuple(ModelSpec(name, checkpoints=checkpoints).resolved(dataset) for name in names)

    @property
    def rows(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(filter(None, (*(target.row for target in self.targets), self.corruption_row))))

    def needs(self, row: str) -> frozenset[str]:
        home = {source.dataset for source in self.sources}
        return frozenset(target.dataset for target in self.targets if target.row == row) - home

    def with_rows(self, rows: Sequence[str]) -> "SourceWorld":
        """Return the world with some of its rows alone; those of BREEDS share their corruptions and stay together."""
        targets = tuple(target for target in self.targets if target.row in rows)
        if any(target.corrupted_row for target in targets):
            return self
        corrupted = self.corruption_row if self.corruption_row in rows else ""
        return replace(self, targets=targets, corruption_row=corrupted)


def _world(facts: dict[str, Any]) -> SourceWorld:
    parts: dict[str, Any] = {
        "sources": tuple(DatasetSpec(*place) for place in facts.get("sources", [[facts["name"]]])),
        "targets": tuple(TargetSpec(**target) for target in facts["targets"]),
        "own_models": tuple(
            ModelSpec(**model | {"checkpoints": tuple(model["checkpoints"])}).resolved("emoji-concepts")
            for model in facts.get("own_models", ())
        ),
    }
    return SourceWorld(**facts | parts)


_FILE = tomllib.loads(files("openworld.reproduction").joinpath("frap-worlds.toml").read_text(encoding="utf-8"))
WORLDS: tuple[SourceWorld, ...] = tuple(map(_world, _FILE["worlds"]))
EMBEDDED_WORLD = _world(_FILE["embedded"])

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
    worlds = []
    for world in WORLDS:
        if world.name == STANDS_IN and find(TINY).folder_in(root).is_dir():  # the same shifts, of its own classes
            targets = tuple(TargetSpec(TINY, target.domain, row=target.row) for target in world.targets)
            world = replace(world, name=TINY, sources=(DatasetSpec(TINY),), targets=targets, cut=None)
        lacking = lacking_corruptions(CORRUPTED[world.name], root) if world.corruption_row else PUBLISHED_CORRUPTIONS
        if len(lacking) < len(PUBLISHED_CORRUPTIONS):
            world = replace(world, corrupted_files=CORRUPTED[world.name], made_here=lacking)
        worlds.append(world)
    return tuple(worlds)


def remarks_on(worlds: tuple[SourceWorld, ...]) -> Iterator[str]:
    """Say which corruptions are published ones, which are made here, and what Tiny-ImageNet is."""
    files: dict[str, list[SourceWorld]] = {}
    for world in worlds:
        if world.corruption_row:
            files.setdefault(world.corrupted_files, []).append(world)
    made = files.pop("", [])
    for name, read in files.items():
        titles = _listed(world.title for world in read)
        yield f"Corrupted images of {titles} are those of {SHIFTED[name].title} as published, on disk."
    for world in worlds:
        if world.made_here:
            yield f"{_listed(world.made_here)} of {world.title} are not on disk, and are made here."
    if made:
        published = _listed(dict.fromkeys(SHIFTED[CORRUPTED[world.name]].title for world in made))
        yield (
            f"Corruptions of {_listed(world.title for world in made)} are made here from test images, in place of "
            f"published files ({published}), which are read where they are on disk."
        )
    if any(world.name == TINY for world in worlds):
        yield "Tiny-ImageNet is the folder tiny-imagenet-200; its natural shifts show the classes that they share."
    if any(world.name == STANDS_IN for world in worlds):
        yield (
            "In place of Tiny-ImageNet stand ImageNet's images of the 200 classes of ImageNet-R, as in ATC; where "
            "there is a folder tiny-imagenet-200, that is taken."
        )


def _listed(names) -> str:
    *most, last = [name.replace("_", " ") for name in names]
    return f"{', '.join(most)} and {last}" if most else last
