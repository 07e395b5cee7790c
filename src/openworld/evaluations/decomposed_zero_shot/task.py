"""Decomposed zero-shot accuracy: does the semantic half keep what a feature knows, and the covariate half not?

Table 3 of "Rethinking the Evaluation of Out-of-Distribution Detection: A Sorites Paradox" (Long et al., 2024). Features
of a two-tower model are split by a method that was taught by names in sentences; images are named by the nearest
class text, with whole features and with either half, as they are and in other appearances. Every (method, seed) is one
unit; before the units, stages encode the images and fit the decompositions.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from openworld._arrays import require_at_least, require_seeds
from openworld.backbones import known_name
from openworld.datasets import templates
from openworld.datasets.names.class_names import class_names
from openworld.datasets.names.forms import normalise_class_name
from openworld.evaluations.artifacts import Stage
from openworld.evaluations.decomposed_zero_shot.entries import HalvesSpec, LabelledSetSpec, NamedImages
from openworld.evaluations.decomposed_zero_shot.results import ANY, FEW_CLASSES, PARTS, RANKS
from openworld.evaluations.entries import part_of, require_distinct, settle
from openworld.evaluations.image_selection import DatasetSpec, ImageSelection
from openworld.evaluations.model_outputs import ModelOutputs
from openworld.evaluations.rows import rows_of_unit
from openworld.evaluations.runtime import Clock, Machine, backbone, encoded
from openworld.evaluations.shift_degrees import DecompositionFit, split_of
from openworld.learners.engine.text_features import encode_names
from openworld.metrics import Accuracy
from openworld.results import METRICS, Result, Value, interval_of, mean
from openworld.runs import UnitResult
from openworld.shifts import decomposed_zero_shot
from openworld.shifts.zero_shot import DecomposedAccuracy

ALGORITHM_VERSION = 2


@dataclass(frozen=True, kw_only=True)
class NamedGround:
    """Fields of a spec that say what is named and what teaches."""

    sets: tuple[LabelledSetSpec, ...]  # images; the class names are those of the first
    names: tuple[str, ...] = ()  # data sets, or .txt files with a name per line, whose names teach; () for the first
    tested_teach: bool = True  # whether names of the tested classes are among them, as published
    images: int | None = None  # so many images of each set, classes in their shares; None for all
    backbone: str = "embedded"  # a name of `openworld list backbones`, a folder, or a hub repository
    # With {}, the appearances that teach; none for those of the embedded world where all is of it, else CLIP's 80.
    sentences: tuple[str, ...] = ()
    class_sentences: tuple[str, ...] = ()  # with {}, around the names that images meet, averaged; () for the data set's

    @property
    def named_sets(self) -> tuple[NamedImages, ...]:
        """Every entry in every appearance."""
        return tuple(NamedImages(entry, look, self._images(entry, look)) for entry in self.sets for look in entry.looks)

    @property
    def names_of(self) -> ImageSelection:
        """Whose class names count."""
        return self.sets[0].images(self.sets[0].part)

    def _images(self, entry: LabelledSetSpec, look: str) -> ImageSelection:
        names_of = None if entry.as_drawn else self.names_of
        return entry.images(entry.part, as_drawn=entry.as_drawn, names_of=names_of, limit=self.images, appearance=look)

    @property
    def teaching(self) -> tuple[str, ...]:
        """The names that decompositions are taught by."""
        kept = {} if self.tested_teach else {normalise_class_name(name) for name in self.names_of.load().classnames}
        every = [name for dataset in self.names for name in _names(dataset)]
        return tuple(name for name in every if normalise_class_name(name) not in kept)


def _names(dataset: str) -> tuple[str, ...]:
    """The class names of a data set, or the lines of a text file."""
    return class_names(dataset).names if dataset.endswith(".txt") else DatasetSpec(dataset).classnames


@dataclass(frozen=True, kw_only=True)
class DecomposedZeroShotSpec(NamedGround):
    """Tell zero-shot accuracy with whole features and with their halves (IS-OOD, Appendix B).

    Args:
        methods: what splits features.
        seeds: of the methods that draw, not negative.
        threads: CPU threads of each unit, at least 1; fixed, because the last bits of a sum may depend on it.

    Raises:
        OpenworldError: no method, seed or set; repeated ones; a number outside its range.
    """

    protocol: Literal["decomposed-zero-shot"] = "decomposed-zero-shot"
    methods: tuple[HalvesSpec, ...] = (HalvesSpec("LAID"), HalvesSpec("PCA"))
    seeds: tuple[int, ...] = (0, 1, 2)
    threads: int = 1

    def __post_init__(self):
        settle(self, backbone=known_name(self.backbone))
        require_at_least(1, threads=self.threads, images=self.images or 1)
        require_seeds(self.seeds)
        labels = [method.label for method in self.methods]
        require_distinct({"sets": self.sets, "labels of methods": labels, "seeds": self.seeds})
        dataset = self.sets[0].dataset
        usual = (templates.TEMPLATES.get(dataset, templates.PHOTO),)
        settle(self, names=self.names or (dataset,), class_sentences=self.class_sentences or usual)

    @property
    def ground(self) -> NamedGround:
        """What is named, and what teaches."""
        return part_of(self, NamedGround)


@dataclass(frozen=True)
class DecomposedTask:
    """One method and seed."""

    method: HalvesSpec
    seed: int
    ground: NamedGround
    threads: int

    @property
    def name(self) -> str:
        """What people call the unit."""
        return f"{self.method.label}, seed {self.seed}" if self.method.has_seeds else self.method.label

    @property
    def split(self) -> DecompositionFit:
        """The decomposition, and what it is fitted on."""
        ground = self.ground
        how = self.method.split_by(ground.backbone, self.seed, ground.sentences)
        return split_of(how, ground.names, ground.teaching, self.threads)


def tasks(spec: DecomposedZeroShotSpec) -> list[DecomposedTask]:
    """Every method with every seed, methods in the order of the spec; once those that draw nothing."""
    return [
        DecomposedTask(method, seed, spec.ground, spec.threads)
        for method in spec.methods
        for seed in (spec.seeds if method.has_seeds else spec.seeds[:1])
    ]


def preparations(spec: DecomposedZeroShotSpec, machine: Machine) -> tuple[Stage, ...]:
    """Return the stages: running the backbone on all images, and fitting the decompositions."""
    sets = {str(images): images.images for images in spec.ground.named_sets}
    outputs = [ModelOutputs(name, images, (), (spec.backbone,), spec.threads) for name, images in sets.items()]
    splits = [replace(task.split, title=task.name) for task in tasks(spec)]
    return (
        Stage("encoding", "encoded", "images", machine, lambda: outputs),
        Stage("splitting", "read", "sentences", machine, lambda: splits),
    )


def summary(spec: DecomposedZeroShotSpec) -> list[str]:
    """What is run on what, in a few words each."""
    rows = dict.fromkeys(entry.row for entry in spec.sets)
    methods = " + ".join(method.label for method in spec.methods)
    return [" + ".join(rows), f"{len(spec.ground.named_sets)} image set(s)", methods]


def fingerprints(spec: DecomposedZeroShotSpec) -> dict[str, str]:
    """What pictures the run reads: a hash per image set."""
    return {str(images): images.images.fingerprint for images in spec.ground.named_sets}


def evaluate(task: DecomposedTask, machine: Machine) -> UnitResult:
    """Name all images with whole features and with the halves of one decomposition."""
    clock, ground = Clock(machine), task.ground
    halves, names = task.split.load(machine), ground.names_of.load().classnames
    texts = encode_names(backbone(ground.backbone, machine.device), names, ground.class_sentences).cpu()
    by_set = {}
    for images in ground.named_sets:
        features = encoded(images.images.load(), ground.backbone, machine)
        table = decomposed_zero_shot(halves, features.embeddings[:], features.labels, texts, groups=features.groups)
        by_set[images] = {row.part: row for row in table}
    clock.stop("naming")

    first = ground.named_sets[0].entry.row
    count = sum(table["whole"].top1.n for images, table in by_set.items() if images.entry.row == first)
    about = ((METRICS["images"], count), (METRICS["classes"], len(names)))
    shared = [*accuracies(by_set, "whole", ANY), *(Result("", metric, Value(number)) for metric, number in about)]
    rows = [row for part in ("semantic", "covariate") for row in accuracies(by_set, part, task.method.label)]
    return UnitResult(
        metrics={
            "protocol": "decomposed-zero-shot",
            "method": task.method.label,
            "seed": task.seed,
            "backbone": ground.backbone,
            "taught_by": {"names": len(task.split.names), "sentences": len(task.split.templates)},
            "widths": {"semantic": halves.semantic.shape[1], "covariate": halves.covariate.shape[1]},
            "decomposition": halves.about,
        },
        attachments=rows_of_unit("decomposed-zero-shot", rows, seed=task.seed, shared=shared),
        timing=clock.timing,
    )


def accuracies(
    by_set: Mapping[NamedImages, Mapping[str, DecomposedAccuracy]], part: str, entity: str
) -> Iterator[Result]:
    """Yield the accuracies of a part of the features by row of images: the mean of its sets, and each of several."""
    for row in dict.fromkeys(images.entry.row for images in by_set):
        where = {"part": PARTS[part], "images": row}
        tables = {str(images): table for images, table in by_set.items() if images.entry.row == row}
        for rank in RANKS:
            metric = METRICS[rank]
            values = {name: _value(getattr(table[part], rank)) for name, table in tables.items()}
            if len(values) == 1:  # several sets show the same images: nothing simple can be said of their mean's chance
                yield Result(entity, metric, next(iter(values.values())), where)
                continue
            yield Result(entity, metric, Value(mean([own.value for own in values.values()]), reason=FEW_CLASSES), where)
            for name, value in values.items():
                yield Result(entity, metric, value, {**where, "set": name})


def _value(accuracy: Accuracy | None) -> Value:
    if accuracy is None:
        return Value(None, reason=FEW_CLASSES)
    return Value(accuracy.value, interval_of(accuracy.interval, "images", accuracy.n))


def inputs(task: DecomposedTask, machine: Machine) -> dict[str, str]:
    """Fingerprints of everything that a unit reads: a result depends on them."""
    fingerprints = {str(images): images.images.fingerprint for images in task.ground.named_sets}
    clip = backbone(task.ground.backbone, machine.device)
    return fingerprints | {"weights": clip.fingerprint, "decomposition": task.split.key}
