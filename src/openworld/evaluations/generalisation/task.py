"""The tasks of a spec: what each learner is tuned on, what is read, and the targets on which it is scored."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from openworld._errors import OpenworldError
from openworld.datasets import PUBLISHED, ClassSplit
from openworld.datasets.names.class_names import ClassNames, class_names
from openworld.datasets.names.overlaps import Overlap, overlaps, overlaps_with
from openworld.datasets.published.class_folders import published_name
from openworld.evaluations.answer_slices import numbers_among
from openworld.evaluations.entries import LearnerSpec, part_of
from openworld.evaluations.generalisation.spec import GeneralisationSettings, GeneralisationSpec
from openworld.evaluations.image_selection import DatasetSpec, ImageSelection
from openworld.evaluations.learning import Learning, encoding_of, resolved
from openworld.evaluations.shots import shots_asked
from openworld.report.sentences import counted

Kind = Literal["source", "variant", "other"]
"""The source's own classes, its classes in other images, or another data set's classes beside its base ones."""


@dataclass(frozen=True)
class Other:
    """Another data set, and which of its classes are no new ones because they are base classes of the source."""

    data: DatasetSpec
    left_out: tuple[Overlap, ...] = ()


@dataclass(frozen=True)
class Target:
    """Where a learner is scored."""

    kind: Kind  # what it is to the source
    data: DatasetSpec
    part: str  # its name among `GeneralisationTask.sources`
    left_out: tuple[Overlap, ...] = ()  # classes of another data set that are no new ones


@dataclass(frozen=True)
class GeneralisationTask(GeneralisationSettings, Learning):
    """One unit's share of a spec: one learner, its settings resolved, and one seed."""

    learner: LearnerSpec
    seed: int
    others: tuple[Other, ...]
    encoding = encoding_of

    @property
    def name(self) -> str:
        """What people call the unit."""
        return f"{self.learner.label}, seed {self.seed}"

    @property
    def sources(self) -> dict[str, ImageSelection]:
        """The image sets that the unit reads: shots of base classes, and the test images of every target."""
        train = self.source.images("train", seed=self.seed, shots=self.shots, draw=self.draw, base_only=True)
        tests = {target.part: target.data.images() for target in self.targets}
        return {"train": train} | tests

    @property
    def whole_sources(self) -> tuple[ImageSelection, ...]:
        """All of them: none may lack an image of a class."""
        return tuple(self.sources.values())

    @property
    def targets(self) -> tuple[Target, ...]:
        """The source itself, its variants, the other data sets."""
        variants = [Target("variant", variant, f"variant {place}") for place, variant in enumerate(self.variants)]
        others = [
            Target("other", other.data, f"other {place}", other.left_out) for place, other in enumerate(self.others)
        ]
        return (Target("source", self.source, "test"), *variants, *others)


def tasks(spec: GeneralisationSpec) -> list[GeneralisationTask]:
    """Every (learner, seed), learners in the order of the spec; each knows which classes are left out."""
    by_wordnet = spec.wordnet and bool(source_names(spec.source).wordnet_ids)
    others = tuple(Other(entry, left_out_of(spec.source, entry, by_wordnet)) for entry in spec.others)
    return [
        part_of(spec, GeneralisationTask, learner=learner, seed=seed, others=others, wordnet=by_wordnet)
        for learner in resolved(spec, spec.source.dataset)
        for seed in spec.seeds
    ]


def summary(spec: GeneralisationSpec) -> list[str]:
    """What is run on what, in a few words each."""
    counts = {"variant": len(spec.variants), "other data set": len(spec.others)}
    targets = [counted(count, name) for name, count in counts.items() if count]
    shots = shots_asked(spec.shots, spec.source.dataset)
    sides = [spec.source.sides_in_words] if spec.source.says_classes else []
    return [f"{spec.source} → {' and '.join(targets)}", *sides, f"{len(spec.learners)} learners", shots]


def split_as(source: ClassSplit, names: Sequence[str], left_out: Sequence[str] = ()) -> ClassSplit:
    """Return the classes of a variant, base and new as they are in the source; those `left_out` of it are neither.

    >>> cut = split_as(ClassSplit.of(("cat", "dog", "owl", "hen")), ("hen", "dog", "cat"))
    >>> cut.base.tolist(), cut.new_names
    ([2, 1], ('hen',))
    """
    numbers = numbers_among((*source.names, *left_out), names)
    order = np.argsort(numbers)[: np.count_nonzero(numbers < len(source.names))]
    is_base = np.isin(numbers[order], source.base)
    return ClassSplit(tuple(names), order[is_base], order[~is_base])


def left_out_of(source: DatasetSpec, other: DatasetSpec, wordnet: bool) -> tuple[Overlap, ...]:
    """The classes of another data set that are base classes of the source, by the rule of `datasets.names.overlaps`."""
    known, names = source_names(source), other.classnames
    return overlaps_with(names, known) if wordnet else overlaps(names, known.base.names)


def source_names(source: DatasetSpec) -> ClassNames:
    """The source's classes in label order, with the WordNet ids that ImageNet's have."""
    names = source.classnames
    published = class_names(source.dataset) if source.dataset in PUBLISHED else ClassNames(source.dataset, names)
    spoken = map(published_name, published.names) if source.published_names else published.names
    ids = dict(zip(spoken, published.wordnet_ids, strict=False))
    return ClassNames(source.dataset, names, tuple(ids[name] for name in names if ids), len(source.split.base))


def kept_classes(names, left_out) -> np.ndarray:
    """int64[c], the classes that are not left out."""
    gone = {overlap.name for overlap in left_out}
    return np.array([number for number, name in enumerate(names) if name not in gone], dtype=np.int64)


def require_targets(task: GeneralisationTask) -> None:
    """Refuse a variant with classes that the source lacks, or without a base class, and an other without a new one."""
    source = task.source.split
    for target in task.targets:
        names = target.data.classnames
        if target.kind == "variant" and not len(split_as(source, names, task.source.left_out).base):
            raise OpenworldError(f"the variant {target.data} shows no base class of {task.source}; leave it out.")
        if target.kind == "other" and not len(kept_classes(names, target.left_out)):
            raise OpenworldError(f"every class of {target.data} is a base class of {task.source}; leave it out.")
