"""What runs of accuracy estimation amount to in numbers, told from cards and specs: no picture is read.

Counts are the published ones. Where none is published they follow from ImageNet's: 50 test pictures of a class, about
1,300 training pictures, 10 of each ImageNetV2.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from openworld.classifiers import Recipe
from openworld.datasets import PUBLISHED, SHIFTED, load
from openworld.reproduction.settings import PlannedRun
from openworld.runs import read_spec

_TRAIN_PER_TEST = 26  # of ImageNet's classes: about 1,300 and 50
_V2_SHARE = 0.2
_REGION_SHARE = 0.2  # of FMoW: five regions
RECORD_BYTES = 400_000
"""Of a judged model's record beside its rows."""

ROW_BYTES = 16
"""Of a picture in it."""


@dataclass(frozen=True)
class TrainingWork:
    """One architecture of a run, over its seeds.

    Args:
        architecture, recipe: as for `classifiers.train`.
        classes, pictures: that it is trained on.
        seeds: how often it is trained.
        checkpoints: how many of each training are judged.
    """

    architecture: str
    recipe: Recipe
    classes: int
    pictures: int
    seeds: int
    checkpoints: int

    @property
    def steps(self) -> int:
        """Of all of its trainings."""
        return self.seeds * self.recipe.epochs * -(-self.pictures // self.recipe.batch_size)

    @property
    def judged(self) -> int:
        """How many classifiers come of it."""
        return self.seeds * self.checkpoints


@dataclass(frozen=True)
class RunWork:
    """One run.

    Args:
        trainings: one per architecture.
        classes: of the data set.
        conditions: how many there are.
        shown: pictures of the source set and of all conditions. corrupted: as many of them are.
        backbones: reference models that embed pictures.
        estimators: how many there are.
    """

    trainings: tuple[TrainingWork, ...]
    classes: int
    conditions: int
    shown: int
    corrupted: int
    backbones: tuple[str, ...]
    estimators: int

    @property
    def judged(self) -> int:
        """How many classifiers are judged: one record each."""
        return sum(one.judged for one in self.trainings)

    @property
    def record_bytes(self) -> int:
        """Of all records."""
        return self.judged * (RECORD_BYTES + ROW_BYTES * self.shown)

    @property
    def cache_bytes(self) -> int:
        """Of all answers, float32[N, C] each, and of embeddings of some 512 numbers."""
        return 4 * self.shown * (self.classes * self.judged + 512 * len(self.backbones))


def work_of(runs: Iterable[PlannedRun]) -> dict[str, RunWork]:
    """What every run amounts to, by name."""
    return {run.name: _work(run.spec) for run in runs}


def _work(spec) -> RunWork:
    dataset = spec.sources[0].dataset
    home = sum(count(one.dataset, one.domain, spec.corrupted_part) for one in spec.sources)
    targets = [(_few(count(one.dataset, one.domain, one.part), spec.images), one) for one in spec.targets]
    each = len(spec.corruptions) * len(spec.severities)
    corrupted = each * sum(size for size, one in targets if one.corrupted_row)
    corrupted += each * _few(home, spec.images)
    held = spec.held_out or sum(count(one.dataset, one.domain, spec.source_part) for one in spec.sources)
    return RunWork(
        trainings=_trainings(spec, classes_of(dataset)),
        classes=classes_of(dataset),
        conditions=len(targets) + each * (1 + sum(bool(one.corrupted_row) for _, one in targets)),
        shown=held + sum(size for size, _ in targets) + corrupted,
        corrupted=corrupted,
        backbones=tuple(one.backbone for one in spec.references if one.backbone),
        estimators=len(spec.estimators),
    )


def _trainings(spec, classes: int) -> tuple[TrainingWork, ...]:
    every = [spec.shots * classes if spec.shots else count(one.dataset, one.domain, "train") for one in spec.sources]
    pictures = sum(every) - (spec.held_out or 0)
    made = [one for one in spec.models if not one.weights]
    recipes = [read_spec(one.recipe | {"checkpoints": one.checkpoints}, Recipe) for one in made]
    return tuple(
        TrainingWork(one.architecture, recipe, classes, pictures, len(spec.seeds), len(recipe.kept))
        for one, recipe in zip(made, recipes, strict=True)
    )


def classes_of(dataset: str) -> int:
    """Of a data set: published, or counted where it comes along."""
    cards: Mapping = PUBLISHED | SHIFTED
    return cards[dataset].classes if dataset in cards else len(load(dataset).classnames)


def count(dataset: str, domain: str | None, part: str) -> int:
    """How many pictures a part has in a domain, more or less.

    >>> count("cifar10.2", None, "train"), count("living17", "target imagenetv2", "test")
    (10000, 340)
    """
    cards: Mapping = PUBLISHED | SHIFTED
    if dataset not in cards:
        return len(load(dataset, domain=domain, part=part))
    known = cards[dataset].pictures
    whole = known.get(part) or _TRAIN_PER_TEST * known["test"]
    variant = (domain or "").rpartition(" ")[2]
    if variant.startswith("imagenetv2"):
        return round(_V2_SHARE * whole)
    if variant == "imagenet-r":
        return PUBLISHED[variant].pictures["test"]
    return round(_REGION_SHARE * whole) if dataset == "fmow" and domain else whole


def _few(size: int, limit: int | None) -> int:
    return size if limit is None else min(size, limit)
