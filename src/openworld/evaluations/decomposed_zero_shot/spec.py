"""Decomposed zero-shot accuracy: does the semantic half keep what a feature knows, and the covariate half not?

Table 3 of "Rethinking the Evaluation of Out-of-Distribution Detection: A Sorites Paradox" (Long et al., 2024). Features
of a two-tower model are split by a method that was taught by names in sentences; images are named by the nearest
class text, with whole features and with either half, as they are and in other appearances. Every (method, seed) is one
unit; before the units, stages encode the images and fit the decompositions.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self

from openworld.backbones import known_name
from openworld.core.arrays import require_at_least, require_seeds
from openworld.core.errors import OpenworldError, unknown_name
from openworld.datasets import DATASETS, templates
from openworld.datasets.corruptions import CORRUPTIONS, SEVERITIES
from openworld.datasets.names.class_names import class_names
from openworld.datasets.names.forms import normalise_class_name
from openworld.datasets.styles import STYLES
from openworld.evaluations.artifacts import Stage
from openworld.evaluations.entries import DecompositionSpec, require_distinct, settle
from openworld.evaluations.evaluation import ClassList, Spec, entry_of
from openworld.evaluations.image_selection import DRAWINGS, DatasetSpec, ImageSelection
from openworld.evaluations.model_outputs import ModelOutputs
from openworld.evaluations.runtime import Machine, backbone
from openworld.evaluations.shift_degrees import DecompositionFit, split_of
from openworld.shifts import DECOMPOSITIONS
from openworld.shifts.appearance import PLAIN


@dataclass(frozen=True)
class HalvesSpec:
    method: str  # a key of `openworld.shifts.DECOMPOSITIONS`
    label: str = ""  # what tables call it; needed where one method runs with several settings
    settings: dict[str, Any] = field(default_factory=dict)  # its own, where they differ from its defaults

    def __post_init__(self):
        settle(self, label=self.label or self.method)
        self.split_by("embedded", 0)

    @property
    def has_seeds(self) -> bool:
        return hasattr(DECOMPOSITIONS[self.method], "loss")

    def split_by(self, backbone: str, seed: int, templates: tuple[str, ...] = ()) -> DecompositionSpec:
        """Return the decomposition with the model whose features are split, a seed, and the sentences that teach."""
        return DecompositionSpec(backbone, self.method, self.settings, seed, templates)


@dataclass(frozen=True)
class LabelledSetSpec(DatasetSpec):
    """Labelled images whose classes are named."""

    part: str = "test"
    row: str = ""  # what tables call it; entries of one row are averaged. By default the data set and its domain
    # Appearances in turn: "plain", names of `datasets.styles.STYLES`, or a corruption with its severity ("fog 3").
    looks: tuple[str, ...] = (PLAIN,)
    as_drawn: bool = False  # of embedded drawings, every one once, as it is, on white

    def __post_init__(self):
        super().__post_init__()
        name = ", ".join(filter(None, (Path(self.dataset).name, self.domain)))
        settle(self, row=self.row or name)
        appearances = (
            PLAIN,
            *STYLES,
            *(f"{corruption} {severity}" for corruption in CORRUPTIONS for severity in SEVERITIES),
        )
        printed = {look.replace("_", " "): look for look in appearances}  # as pages write it
        settle(self, looks=tuple(printed.get(look, look) for look in self.looks))
        require_distinct({f"looks of {name}": self.looks})
        for appearance in self.looks:
            if appearance not in appearances:
                raise unknown_name("appearance", appearance, appearances)
        if self.as_drawn and not (self.dataset in DATASETS and self.dataset.startswith(DRAWINGS)):
            raise OpenworldError(f"{self.dataset!r} holds no embedded drawings to show as drawn; leave as_drawn out.")

    def title(self, appearance: str) -> str:
        """What its images are called in one of its appearances."""
        name = f"{self.row}: {Path(self.dataset).name}"
        return ", ".join(filter(None, (name, self.domain, self.part, "as drawn" if self.as_drawn else "", appearance)))


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
        return self.sets[0].images(self.sets[0].part)

    @property
    def teaching(self) -> tuple[str, ...]:
        tested_names = (
            {} if self.tested_teach else {normalise_class_name(name) for name in self.names_of.load().classnames}
        )
        lists = (
            class_names(each).names if each.endswith(".txt") else DatasetSpec(each).classnames for each in self.names
        )
        return tuple(name for names in lists for name in names if normalise_class_name(name) not in tested_names)

    @property
    def name(self) -> str:
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
        how = self.method.split_by(self.backbone, self.seed, self.sentences)
        return split_of(how, self.names, self.teaching, self.threads)

    def tasks(self) -> list[Self]:
        """Return every method with every seed, methods in the order of the spec; once those that draw nothing."""
        return [
            self.only(method=method, seed=seed)
            for method in self.methods
            for seed in (self.seeds if method.has_seeds else self.seeds[:1])
        ]

    def artifacts(self, machine: Machine) -> tuple[Stage, ...]:
        """Return the stages: running the backbone on all images, and fitting the decompositions."""
        sets = self.image_sets.items()
        outputs = [ModelOutputs(name, images, (), (self.backbone,), self.threads) for name, images in sets]
        splits = [replace(task.split, title=task.name) for task in self.tasks()]
        return (
            Stage("encoding", "encoded", "images", machine, lambda: outputs),
            Stage("splitting", "read", "sentences", machine, lambda: splits),
        )

    def summary(self) -> list[str]:
        rows = dict.fromkeys(entry.row for entry in self.sets)
        methods = " + ".join(method.label for method in self.methods)
        return [" + ".join(rows), f"{len(self.image_sets)} image set(s)", methods]

    def inputs(self, machine: Machine) -> dict[str, str]:
        fingerprints = {name: images.fingerprint for name, images in self.image_sets.items()}
        weights = backbone(self.backbone, machine.device).fingerprint
        return fingerprints | {"weights": weights, "decomposition": self.split.key}

    def class_lists(self) -> tuple[ClassList]:
        names, first = self.names_of.load().classnames, self.sets[0]
        return (ClassList(str(first), first.dataset, names, len(names)),)

    def backbones(self) -> tuple[str, ...]:
        return (self.backbone,)
