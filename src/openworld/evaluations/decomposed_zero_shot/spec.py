"""Decomposed zero-shot accuracy: does the semantic half keep what a feature knows, and the covariate half not?

Table 3 of "Rethinking the Evaluation of Out-of-Distribution Detection: A Sorites Paradox" (Long et al., 2024). Features
of a two-tower model are split by a method that was taught by names in sentences; images are named by the nearest
class text, with whole features and with either half, as they are and in other appearances. Every (method, seed) is one
unit; before the units, stages encode the images and fit the decompositions.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from openworld._arrays import require_at_least, require_seeds
from openworld.backbones import known_name
from openworld.datasets import templates
from openworld.datasets.names.class_names import class_names
from openworld.datasets.names.forms import normalise_class_name
from openworld.evaluations.artifacts import Stage
from openworld.evaluations.decomposed_zero_shot.entries import HalvesSpec, LabelledSetSpec
from openworld.evaluations.entries import require_distinct, settle
from openworld.evaluations.evaluation import Spec, entry_of
from openworld.evaluations.image_selection import DatasetSpec, ImageSelection
from openworld.evaluations.model_outputs import ModelOutputs
from openworld.evaluations.runtime import Machine, backbone
from openworld.evaluations.shift_degrees import DecompositionFit, split_of


@dataclass(frozen=True, kw_only=True)
class DecomposedZeroShotSpec(Spec):
    """Tell zero-shot accuracy with whole features and with their halves (IS-OOD, Appendix B).

    Args:
        sets: images; the class names are those of the first.
        names: data sets, or .txt files with a name per line, whose names teach; left out, those of the first set.
        tested_teach: whether names of the tested classes are among them, as published.
        images: so many images of each set, classes in their shares; None for all.
        backbone: a name of `openworld list backbones`, a folder, or a hub repository.
        sentences: with {}, the appearances that teach; left out, none for those of the embedded world where all is of
            it, else CLIP's 80.
        class_sentences: with {}, around the names that images meet, averaged; left out, the data set's.
        methods: what splits features.
        seeds: of the methods that draw, not negative.
        threads: CPU threads of each unit, at least 1; fixed, because the last bits of a sum may depend on it.

    Raises:
        OpenworldError: no method, seed or set; repeated ones; a number outside its range.
    """

    protocol: Literal["decomposed-zero-shot"] = "decomposed-zero-shot"
    sets: tuple[LabelledSetSpec, ...]
    names: tuple[str, ...] = ()
    tested_teach: bool = True
    images: int | None = None
    backbone: str = "embedded"
    sentences: tuple[str, ...] = ()
    class_sentences: tuple[str, ...] = ()
    methods: tuple[HalvesSpec, ...] = (HalvesSpec("LAID"), HalvesSpec("PCA"))
    seeds: tuple[int, ...] = (0, 1, 2)
    threads: int = 1
    method = entry_of("methods")

    def __post_init__(self):
        settle(self, backbone=known_name(self.backbone))
        require_at_least(1, threads=self.threads, images=self.images or 1)
        require_seeds(self.seeds)
        titles = [entry.title(appearance) for entry in self.sets for appearance in entry.looks]
        labels = [method.label for method in self.methods]
        require_distinct({"sets": titles, "labels of methods": labels, "seeds": self.seeds})
        dataset = self.sets[0].dataset
        usual = (templates.TEMPLATES.get(dataset, templates.PHOTO),)
        settle(self, names=self.names or (dataset,), class_sentences=self.class_sentences or usual)

    @property
    def names_of(self) -> ImageSelection:
        """Whose class names count."""
        return self.sets[0].images(self.sets[0].part)

    @property
    def teaching(self) -> tuple[str, ...]:
        """The names that decompositions are taught by."""
        kept = {} if self.tested_teach else {normalise_class_name(name) for name in self.names_of.load().classnames}
        lists = (
            class_names(each).names if each.endswith(".txt") else DatasetSpec(each).classnames for each in self.names
        )
        return tuple(name for names in lists for name in names if normalise_class_name(name) not in kept)

    @property
    def name(self) -> str:
        """What people call the unit of a task."""
        return f"{self.method.label}, seed {self.seed}" if self.method.has_seeds else self.method.label

    @cached_property
    def image_sets(self) -> dict[str, ImageSelection]:
        """The images that a unit names: every set in every appearance."""
        sets = {}
        for entry in self.sets:
            how = {"as_drawn": entry.as_drawn, "names_of": None if entry.as_drawn else self.names_of}
            for appearance in entry.looks:
                images = entry.images(entry.part, limit=self.images, appearance=appearance, **how)
                sets[entry.title(appearance)] = images
        return sets

    @cached_property
    def split(self) -> DecompositionFit:
        """The decomposition of a task, and what it is fitted on."""
        how = self.method.split_by(self.backbone, self.seed, self.sentences)
        return split_of(how, self.names, self.teaching, self.threads)


def tasks(spec: DecomposedZeroShotSpec) -> list[DecomposedZeroShotSpec]:
    """Every method with every seed, methods in the order of the spec; once those that draw nothing."""
    return [
        spec.only(method=method, seed=seed)
        for method in spec.methods
        for seed in (spec.seeds if method.has_seeds else spec.seeds[:1])
    ]


def preparations(spec: DecomposedZeroShotSpec, machine: Machine) -> tuple[Stage, ...]:
    """Return the stages: running the backbone on all images, and fitting the decompositions."""
    sets = spec.image_sets.items()
    outputs = [ModelOutputs(name, images, (), (spec.backbone,), spec.threads) for name, images in sets]
    splits = [replace(task.split, title=task.name) for task in tasks(spec)]
    return (
        Stage("encoding", "encoded", "images", machine, lambda: outputs),
        Stage("splitting", "read", "sentences", machine, lambda: splits),
    )


def summary(spec: DecomposedZeroShotSpec) -> list[str]:
    """What is run on what, in a few words each."""
    rows = dict.fromkeys(entry.row for entry in spec.sets)
    methods = " + ".join(method.label for method in spec.methods)
    return [" + ".join(rows), f"{len(spec.image_sets)} image set(s)", methods]


def inputs(task: DecomposedZeroShotSpec, machine: Machine) -> dict[str, str]:
    """Fingerprints of everything that a unit reads: a result depends on them."""
    fingerprints = {name: images.fingerprint for name, images in task.image_sets.items()}
    weights = backbone(task.backbone, machine.device).fingerprint
    return fingerprints | {"weights": weights, "decomposition": task.split.key}
