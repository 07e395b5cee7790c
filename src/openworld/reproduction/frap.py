"""FRAP's tables as runs ("Bridging Domain Expertise and Generalization for Performance Estimation").

One run per source data set: every table is read from all of them. A run always has all of the paper's methods, so that
more tables in the same folder cost nothing. Thresholds follow the rule of the reference code, by which the paper's
numbers were made. The ten sources with their shifts are those of `frap-worlds.toml` (appendix C).

What is read otherwise where the published files are on disk: CIFAR-10-C, CIFAR-100-C, ImageNet-C and Tiny-ImageNet-C,
the paper's own, in the place of corruptions that are made here; and a tiny-imagenet-200, for which else ATC's
ImageNet-200 stands in.
"""

import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from openworld import backbones
from openworld.classifiers import SEEDS, Recipe, published, published_architectures
from openworld.core.errors import OpenworldError
from openworld.datasets import SHIFTED
from openworld.datasets.checking import lacking_corruptions
from openworld.datasets.published.catalogue import PUBLISHED_CORRUPTIONS, find
from openworld.evaluations.entries import EstimatorSpec, ReferenceSpec
from openworld.evaluations.image_selection import DatasetSpec
from openworld.label_free.benchmark.spec import AccuracyEstimationSpec, ModelSpec, TargetSpec
from openworld.papers import TABLES, PaperTable, published_numbers
from openworld.report.sentences import listed
from openworld.reproduction.planned_runs import PAPERS, PlannedRun
from openworld.reproduction.settings import EMBEDDED, ReproductionSetup

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


def _in_words(names: Iterable[str]) -> str:
    return listed(tuple(name.replace("_", " ") for name in names))


def remarks_on(worlds: tuple[SourceWorld, ...]) -> Iterator[str]:
    """Say which corruptions are published ones, which are made here, and what Tiny-ImageNet is."""
    files: dict[str, list[SourceWorld]] = {}
    for world in worlds:
        if world.corruption_row:
            files.setdefault(world.corrupted_files, []).append(world)
    made = files.pop("", [])
    for name, read in files.items():
        titles = _in_words(world.title for world in read)
        yield f"Corrupted images of {titles} are those of {SHIFTED[name].title} as published, on disk."
    for world in worlds:
        if world.made_here:
            yield f"{_in_words(world.made_here)} of {world.title} are not on disk, and are made here."
    if made:
        published = _in_words(dict.fromkeys(SHIFTED[CORRUPTED[world.name]].title for world in made))
        yield (
            f"Corruptions of {_in_words(world.title for world in made)} are made here from test images, in place of "
            f"published files ({published}), which are read where they are on disk."
        )
    if any(world.name == TINY for world in worlds):
        yield "Tiny-ImageNet is the folder tiny-imagenet-200; its natural shifts show the classes that they share."
    if any(world.name == STANDS_IN for world in worlds):
        yield (
            "In place of Tiny-ImageNet stand ImageNet's images of the 200 classes of ImageNet-R, as in ATC; where "
            "there is a folder tiny-imagenet-200, that is taken."
        )


PAPER = "frap"
DEFAULTS = ("ViT-B/32", SEEDS)
SIGLIP = "google/siglip-base-patch16-224"


@dataclass(frozen=True)
class Calibrated:
    """A line of Table 2: no estimator, but a reference before or after its calibration."""

    label: str
    reference: str


def _method(name: str, facts: dict[str, Any]) -> EstimatorSpec | Calibrated:
    if "calibrated" in facts:
        return Calibrated(name, facts["calibrated"])
    names: dict[str, Any] = {"estimator": name, "label": name}
    return EstimatorSpec(**names | facts)


METHODS = {name: _method(name, facts) for name, facts in PAPERS[PAPER]["methods"].items()}
ABSENT = PAPERS[PAPER]["absent"]

SCALES = {"google/siglip-base-patch16-224": 117.33}
"""Logit scales of checkpoints that are not CLIP's 100; of others on disk it is read."""

FEWEST_IMAGES = 100

LAST = "last"  # the checkpoint at the end of a training, whatever its epoch is


def spellings(setup: ReproductionSetup) -> dict[str, str]:
    worlds = _worlds(setup)
    rows = {row: row for world in worlds for row in world.rows}
    return rows | {name: world.title for world in worlds for name in (world.title, world.name)}


def belonging(setup: ReproductionSetup) -> tuple[str, ...]:
    """The sources of rows that were asked for, and the rows of sources; of stand-ins everything in any table."""
    if setup.embedded:
        return tuple(title for table in TABLES[PAPER].values() for title in table.datasets)
    worlds = [world for world in _worlds(setup) if setup.keeps_data(world.title, *world.rows)]
    return tuple(title for world in worlds for title in (world.title, *_rows(world, setup)))


def remarks(setup: ReproductionSetup, runs: Sequence[PlannedRun]) -> tuple[str, ...]:
    if setup.embedded:
        stand_ins = (
            "The rows are of the embedded world and stand for none of the paper's: only averages are put side by side, "
            "and not subtracted.",
        )
    else:
        stand_ins = (
            *remarks_on(tuple(world for world in _worlds(setup) if _rows(world, setup))),
            "QMNIST, USPS and SVHN are their test parts; checkpoints, which the paper does not list, are thirds of a "
            "training whose end alone is published.",
        )
    sentences = [*stand_ins]
    if not _has_siglip(setup):
        sentences.append("The embedded CLIP is the only reference: SigLIP's methods are left out.")
    if len(setup.seeds) == 1 and not setup.embedded:
        sentences.append("With one seed MNIST's only network has no partner: GDE is left out there.")
    sources = [world for world in _worlds(setup) if world.title in setup.datasets]
    lacking = [row for world in sources for row in world.rows if row not in _rows(world, setup)]
    if setup.missing and lacking:
        sentences.append(f"Left out: {listed(lacking)}, for which these are not on disk: {', '.join(setup.missing)}.")
    return tuple(sentences)


def further_downloads(run: PlannedRun) -> dict[str, str]:
    """Return what a run reads where it is on disk: data set -> what it takes the place of."""
    spec = run.spec
    source, made = spec.sources[0].dataset, bool(spec.corruptions) and not spec.corrupted_files
    downloads = {CORRUPTED[source]: "corruptions made here"} if made and source in CORRUPTED else {}
    tiny = "ImageNet's images of the 200 classes of ImageNet-R"
    return downloads | ({TINY: tiny, CORRUPTED[TINY]: "corruptions made here"} if source == STANDS_IN else {})


def plan_runs(tables: Sequence[PaperTable], setup: ReproductionSetup) -> Iterator[PlannedRun]:
    """One run per source, which every table is read from that has a method that is kept."""
    for world in _worlds(setup):
        rows = _rows(world, setup)
        lacking = set() if _has_siglip(setup) else {name for name in METHODS if "SigLIP" in name}
        if len(world.models) * len(setup.seeds) == 1:
            lacking.add("GDE")  # which needs a second classifier
        every = [name for name in METHODS if name not in lacking]
        names = [name for name in every if setup.keeps(name, METHODS[name].label)] if rows else []
        fewer = () if set(rows) == set(world.rows) else rows
        world = world.with_rows(rows)
        wanted = [
            table.number
            for table in tables
            if {*rows, world.title} & {*table.datasets} or setup.embedded
            if set(names) & {number.method for number in published_numbers(PAPER, table.number)}
        ]
        if wanted:
            named = {world.sources[0].dataset: world.title} | {row: row for row in world.rows}
            titles = {} if setup.embedded else named  # what stands in keeps its own names
            files = "-published-corruptions" if world.corruption_row and world.corrupted_files else ""
            epochs = ("epochs", *setup.checkpoints) if setup.checkpoints else ()
            suffix = setup.suffix(*fewer, *epochs, *(() if names == every else names))
            name = f"{world.name}{files}{suffix}"
            yield PlannedRun(name, _spec(world, names, setup), titles, {label: label for label in names}, tuple(wanted))


def _worlds(setup: ReproductionSetup) -> tuple[SourceWorld, ...]:
    return (EMBEDDED_WORLD,) if setup.embedded else worlds_on_disk(Path(setup.data))


def _rows(world: SourceWorld, setup: ReproductionSetup) -> tuple[str, ...]:
    """The rows of a source that are made: those asked for, or of a source asked for those whose data are on disk."""
    if not setup.datasets:
        return world.rows
    rows = tuple(row for row in world.rows if row in setup.datasets)
    if world.title not in setup.datasets:
        return world.with_rows(rows).rows if rows else ()
    there = tuple(row for row in world.rows if row in rows or not world.needs(row) & {*setup.missing})
    return there or world.rows


def _checkpoints(model: ModelSpec, setup: ReproductionSetup) -> ModelSpec:
    """Return the model with those of its checkpoints that were asked for."""
    wrong = [word for word in setup.checkpoints if word != LAST and not word.isdigit()]
    if wrong:
        raise OpenworldError(f"a checkpoint is {wrong[0]!r}, expected an epoch, or {LAST}.")
    asked_for = {model.checkpoints[-1] if word == LAST else int(word) for word in setup.checkpoints}
    epochs = tuple(epoch for epoch in model.checkpoints if not asked_for or epoch in asked_for)
    if not epochs:
        raise OpenworldError(
            f"{model.label} has no checkpoint after epoch {listed(setup.checkpoints)}; it is judged after epochs "
            f"{listed(tuple(map(str, model.checkpoints)))}. Give one of these, or {LAST}."
        )
    return replace(model, checkpoints=epochs)


def _has_siglip(setup: ReproductionSetup) -> bool:
    """Nothing that comes along is one; with other backbones it can be downloaded like them."""
    return setup.backbone != EMBEDDED


def _spec(world: SourceWorld, methods: Sequence[str], setup: ReproductionSetup) -> AccuracyEstimationSpec:
    entries = [METHODS[name] for name in methods]
    estimators = [entry for entry in entries if isinstance(entry, EstimatorSpec)]
    for place, entry in enumerate(estimators):
        if entry.label.endswith("fixed tau"):  # one over the reference's own logit scale
            scale = logit_scale(SIGLIP if entry.reference == "SigLIP" else setup.backbone)
            estimators[place] = replace(entry, settings=entry.settings | {"tau": round(1 / scale, 6)})
    names = {entry.reference for entry in entries}
    known = {"CLIP": setup.backbone, "SigLIP": SIGLIP, "dirichlet": ""}
    references = [ReferenceSpec(name, backbone) for name, backbone in known.items() if name in names]
    return AccuracyEstimationSpec(
        sources=world.sources,
        shots=world.shots,
        source_part=world.source_part,
        held_out=world.held_out,
        targets=world.targets,
        corruptions="all" if world.corruption_row else (),
        corruption_row=world.corruption_row,
        cut=world.cut,
        corrupted_files=world.corrupted_files if world.corruption_row else "",
        made_here=world.made_here if world.corruption_row else (),
        # Images of a condition; a quick run of all of them takes as many as one of CIFAR-10, divided.
        images=world.images if setup.quick == 1 else max(FEWEST_IMAGES, (world.images or 10_000) // setup.quick),
        models=tuple(_shorten(_checkpoints(model, setup), setup.quick) for model in world.models),
        references=tuple(references),
        estimators=tuple(estimators) or (EstimatorSpec("AC"),),  # none would be all
        seeds=setup.seeds,
    )


@cache
def logit_scale(backbone: str) -> float:
    """Return by what a two-tower model multiplies cosines: known of published ones, read of others."""
    if backbone in SCALES:
        return SCALES[backbone]
    card = backbones.BACKBONES.get(backbone)
    return 100.0 if card and card.source != "package" else float(backbones.load(backbone).logit_scale)


def _shorten(model: ModelSpec, quick: int) -> ModelSpec:
    """Return the model with its epochs divided, and milestones and checkpoints at the same places among them."""
    every = model.recipe["epochs"]
    epochs = max(min(every, 2), every // quick)

    def scaled(places: Iterable[int]) -> tuple[int, ...]:
        return tuple(sorted({max(1, place * epochs // every) for place in places}))

    recipe = model.recipe | {"epochs": epochs, "milestones": scaled(model.recipe["milestones"])}
    return replace(model, recipe=recipe, checkpoints=scaled(model.checkpoints))
