"""FRAP's ten source data sets with their shifts ("Bridging Domain Expertise and Generalization ...", appendix C).

What the paper leaves open is taken from COT and ATC, whose benchmark it continues (luyuzhe111/COT @ 392c0ff and
saurabhgarg1996/ATC_code @ 6f1e336): what is held out, and which files a name means. What is read otherwise where the
published files are on disk: CIFAR-10-C, CIFAR-100-C, ImageNet-C and Tiny-ImageNet-C, the paper's own, in the place of
corruptions that are made here; and a tiny-imagenet-200, for which else ATC's ImageNet-200 stands in.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from openworld.classifiers import Recipe, published, published_architectures
from openworld.datasets import SHIFTED
from openworld.datasets.checking import is_there, lacking_corruptions
from openworld.datasets.published.corrupted_files import NAMES
from openworld.datasets.published.fmow import REGIONS
from openworld.evaluations.image_selection import DatasetSpec
from openworld.label_free.benchmark.spec import ModelSpec, TargetSpec

_CHECKPOINTS = 3  # of a training of which only the end is published: "different epochs", says the paper


@dataclass(frozen=True)
class SourceWorld:
    """A source with its targets."""

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
        """The rows of the table that it gives."""
        return tuple(dict.fromkeys(filter(None, (*(target.row for target in self.targets), self.corruption_row))))

    def needs(self, row: str) -> frozenset[str]:
        """The data sets that a row is made of, its source left out."""
        home = {source.dataset for source in self.sources}
        return frozenset(target.dataset for target in self.targets if target.row == row) - home

    def with_rows(self, rows: Sequence[str]) -> "SourceWorld":
        """Return the world with some of its rows alone; those of BREEDS share their corruptions and stay together."""
        targets = tuple(target for target in self.targets if target.row in rows)
        if any(target.corrupted_row for target in targets):
            return self
        corrupted = self.corruption_row if self.corruption_row in rows else ""
        return replace(self, targets=targets, corruption_row=corrupted)


_LARGE = 224  # pixels of a corrupted image of ImageNet
_V2 = ("imagenetv2", "imagenetv2-threshold", "imagenetv2-top")


def _breeds(name: str, title: str, short: str) -> SourceWorld:
    """S: the subclasses of training, as they are, in ImageNetV2 and corrupted; N: the same of subclasses never seen."""
    rows = {"source": f"{short}-S", "target": f"{short}-N"}
    clean = [TargetSpec(name, "source", row=rows["source"], name="same subclasses")]
    clean += [TargetSpec(name, "target", row=rows["target"], name="novel subclasses", corrupted_row=rows["target"])]
    variants = [TargetSpec(name, f"{side} {version}", row=row) for side, row in rows.items() for version in _V2]
    return SourceWorld(
        title, name, (DatasetSpec(name, "source"),), (*clean, *variants), rows["source"], held_out=10_000, cut=_LARGE
    )


def _small(name: str, title: str, target: TargetSpec, row: str) -> SourceWorld:
    return SourceWorld(title, name, (DatasetSpec(name),), (target,), row, held_out=10_000)


_PERIODS = {"ood_validation": "2013 to 2015", "test": "from 2016"}
_FMOW = tuple(
    TargetSpec("fmow", region or None, part, "FMoW", f"{region or 'all regions'}, {period}")
    for part, period in _PERIODS.items()
    for region in ("", *REGIONS)
)

WORLDS: tuple[SourceWorld, ...] = (
    SourceWorld(
        "MNIST",
        "mnist",
        (DatasetSpec("mnist"),),
        # Test parts alone, so that each of the three data sets weighs a third of the row.
        tuple(TargetSpec(name, row="MNIST") for name in ("qmnist", "usps", "svhn")),
    ),
    _small("cifar10", "CIFAR-10", TargetSpec("cifar10.2", part="train", row="C10-N"), "C10-S"),
    _small("cifar100", "CIFAR-100", TargetSpec("cifar100", row="C100-N"), "C100-S"),
    SourceWorld(
        "ImageNet",
        "imagenet",
        (DatasetSpec("imagenet"),),
        tuple(TargetSpec(name, row="IN-N") for name in (*_V2, "imagenet-sketch")),
        "IN-S",
        held_out=50_000,
        cut=_LARGE,
    ),
    SourceWorld(
        "Tiny-ImageNet",
        "imagenet-200",
        (DatasetSpec("imagenet-200"),),
        tuple(
            TargetSpec("imagenet-200", variant, row="IN200-N") for variant in (*_V2, "imagenet-sketch", "imagenet-r")
        ),
        "IN200-S",
        cut=_LARGE,
    ),
    SourceWorld("FMoW", "fmow", (DatasetSpec("fmow"),), _FMOW, source_part="validation"),
    _breeds("living17", "Living-17", "L17"),
    _breeds("nonliving26", "Nonliving-26", "NL26"),
    _breeds("entity13", "Entity-13", "E13"),
    _breeds("entity30", "Entity-30", "E30"),
)
"""In the order of Table 1."""

_ARTISTS = {
    "Emoji, same styles": ("noto", "fluent-emoji-flat", "emojione"),
    "Emoji, other styles": ("noto-v1", "fluent-emoji", "twemoji"),
    "Emoji, black and white": ("fluent-emoji-high-contrast", "emojione-monotone"),
}


def _small_network(architecture: str, epochs: int, checkpoints: tuple[int, ...]) -> ModelSpec:
    return ModelSpec(architecture, checkpoints=checkpoints, recipe={"epochs": epochs}).resolved("emoji-concepts")


EMBEDDED_WORLD = SourceWorld(
    "Emoji",
    "emoji",
    tuple(DatasetSpec("emoji-concepts", style) for style in _ARTISTS["Emoji, same styles"]),
    tuple(TargetSpec("emoji-concepts", style, row=row) for row, styles in _ARTISTS.items() for style in styles),
    "Emoji, corrupted",
    source_part="validation",
    shots=16,
    images=1000,
    own_models=(
        _small_network("convnet", 20, (5, 10, 20)),
        _small_network("resnet-8", 12, (4, 8, 12)),
        _small_network("densenet-18", 12, (4, 8, 12)),
    ),
)
"""One hundred concepts as three artists drew them, then as five others did; its rows stand for none of the paper's."""

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
    worlds = []
    for world in WORLDS:
        if world.name == STANDS_IN and is_there(TINY, root):  # the same shifts, of its own classes
            targets = tuple(TargetSpec(TINY, target.domain, row=target.row) for target in world.targets)
            world = replace(world, name=TINY, sources=(DatasetSpec(TINY),), targets=targets, cut=None)
        lacking = lacking_corruptions(CORRUPTED[world.name], root) if world.corruption_row else NAMES
        if len(lacking) < len(NAMES):
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
