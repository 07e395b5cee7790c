"""Open-world generalisation (OpenworldAUC, Hua et al., 2025, section 6): tuned here, met there.

A learner is tuned once on the base classes of a source. Domain generalisation then scores it on variants, which show
the same classes in other images, base ones and new ones; cross-data-set generalisation puts the classes of other data
sets, as new ones, beside the source's own base images, save those that are base classes there already. Every (learner,
seed) is one unit, scored on the source itself and on every target.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Self

import numpy as np

from openworld.backbones.devices import Precision
from openworld.core.arrays import require_at_least
from openworld.core.errors import OpenworldError
from openworld.datasets import PUBLISHED, ClassSplit
from openworld.datasets.names.class_names import ClassNames, Overlap, class_names, overlaps, overlaps_with
from openworld.datasets.published.class_folders import published_name
from openworld.evaluations.entries import require_distinct, settle
from openworld.evaluations.evaluation import ClassList, Tuning, meeting, variants
from openworld.evaluations.image_selection import DatasetSpec, ImageSelection, cached_here
from openworld.evaluations.learning import Learning, require_learners
from openworld.evaluations.runtime import Machine
from openworld.evaluations.shots import shots_asked
from openworld.evaluations.views import numbers_among
from openworld.features.encoding import usual_crop_scale
from openworld.report.sentences import counted
from openworld.runs import digest

Kind = Literal["source", "variant", "other"]
"""The source's own classes, its classes in other images, or another data set's classes beside its base ones."""


@dataclass(frozen=True)
class Target:
    kind: Kind  # what it is to the source
    data: DatasetSpec
    part: str  # its name among `GeneralisationSpec.image_sets`
    left_out: tuple[Overlap, ...] = ()  # classes of another data set that are no new ones


@dataclass(frozen=True, kw_only=True)
class GeneralisationSpec(Learning):
    """Tune on one data set, then meet its variants and other data sets (OpenworldAUC, Hua et al., 2025).

    Args:
        source: what learners are tuned on; its first ceil(n / 2) classes, or those it names, are base.
        variants: some or all of the source's classes, under the same names, in other images.
        others: the classes of each are new beside the source's base images; those that are base classes of the
            source are left out, and listed in the records.
        wordnet: whether a class is a base class of the source, too, if its name is one that WordNet gives that class;
            the names of ImageNet's classes in WordNet come along, and a source without WordNet ids is compared by its
            own names.
        shots: training images of each base class, at least 1.
        sentences: in whose sentence the new names of another data set stand: its own (the paper, appendix C.4), or the
            source's.
        keep_learners: in the run's folder, for `openworld predict`.
        precision: in which the frozen towers compute, "float32", "tf32", "bfloat16" or "float16"; what is learned stays
            in float32.

    Raises:
        OpenworldError: no learner or seed, neither variants nor others, repeated ones, the source among its targets, a
            number outside its range, a setting under `choose`.
    """

    protocol: Literal["generalisation"] = "generalisation"
    source: DatasetSpec = DatasetSpec("emoji-concepts")
    variants: tuple[DatasetSpec, ...] = ()
    others: tuple[DatasetSpec, ...] = ()
    wordnet: bool = True
    shots: int = 16
    sentences: Literal["target", "source"] = "target"
    keep_learners: bool = True
    precision: Precision = "float32"

    def __post_init__(self):
        require_learners(self)
        require_at_least(1, shots=self.shots)
        if not self.variants and not self.others:
            raise OpenworldError("there is no target; give variants, others, or both.")
        require_distinct({"variants": self.variants, "others": self.others}, least=0)
        if self.source in self.variants or self.source.dataset in {other.dataset for other in self.others}:
            raise OpenworldError(f"{self.source} is the source; a variant has another domain, an other another name.")
        for target in (*self.variants, *self.others):
            if target.says_classes:
                raise OpenworldError(f"{target} says what is base or new; the source alone says that, so put it there.")
        settle(self, crop_scale=self.crop_scale or usual_crop_scale(self.source.dataset))

    @property
    def image_sets(self) -> dict[str, ImageSelection]:
        """The image sets that a unit reads: shots of base classes, and the test images of every target."""
        train = self.source.images("train", seed=self.seed, shots=self.shots, draw=self.draw, base_only=True)
        tests = {target.part: target.data.images() for target in self.targets}
        return {"train": train} | tests

    @property
    def by_wordnet(self) -> bool:
        return self.wordnet and bool(source_names(self.source).wordnet_ids)

    @cached_property
    def targets(self) -> tuple[Target, ...]:
        variants = [Target("variant", variant, f"variant {place}") for place, variant in enumerate(self.variants)]
        others = [
            Target("other", other, f"other {place}", left_out_of(self.source, other, self.by_wordnet))
            for place, other in enumerate(self.others)
        ]
        return (Target("source", self.source, "test"), *variants, *others)

    def tasks(self) -> list[Self]:
        learners = self.resolved(self.source.dataset)
        return [self.only(learner=learner, seed=seed) for learner in learners for seed in self.seeds]

    def inputs(self, machine: Machine) -> dict[str, str]:
        """Return fingerprints of all that a unit reads, and of which classes are no new ones."""
        return super().inputs(machine) | {"left out": digest([target.left_out for target in self.targets])[:32]}

    def summary(self) -> list[str]:
        counts = {"variant": len(self.variants), "other data set": len(self.others)}
        targets = [counted(count, name) for name, count in counts.items() if count]
        shots = shots_asked(self.shots, self.source.dataset)
        sides = [self.source.sides_in_words] if self.source.says_classes else []
        return [f"{self.source} → {' and '.join(targets)}", *sides, f"{len(self.learners)} learners", shots]

    @classmethod
    def require(cls, tasks: Sequence[Self], machine: Machine) -> None:
        """Refuse what no learner could learn, a variant without a base class of the source, an other without a new."""
        task = tasks[0]
        source = task.source.split
        for target in task.targets:
            names = target.data.classnames
            if target.kind == "variant" and not len(split_as(source, names, task.source.left_out).base):
                raise OpenworldError(f"the variant {target.data} shows no base class of {task.source}; leave it out.")
            if target.kind == "other" and not len(kept_classes(names, target.left_out)):
                raise OpenworldError(f"every class of {target.data} is a base class of {task.source}; leave it out.")
        super().require(tasks, machine)

    def class_lists(self) -> Iterator[ClassList]:
        """Yield the names of the source, and of targets that have others, without those that the run leaves out."""
        yield ClassList.of(self.source)
        yield from variants(self.variants, self.source)
        for target in self.targets:
            if target.kind == "other":
                names = target.data.classnames
                left = tuple(names[number] for number in kept_classes(names, target.left_out))
                yield from meeting(target.data, left, {str(self.source): self.source.split.base_names})

    def tunings(self) -> list[Tuning]:
        return [(self.source, (self.source, *self.variants, *self.others), True)]


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


@cached_here(maxsize=64)
def left_out_of(source: DatasetSpec, other: DatasetSpec, wordnet: bool) -> tuple[Overlap, ...]:
    """The classes of another data set that are base classes of the source, by the rule of `overlaps`."""
    base, names = source_names(source), other.classnames
    return overlaps_with(names, base) if wordnet else overlaps(names, base.base.names)


def source_names(source: DatasetSpec) -> ClassNames:
    """The source's classes in label order, with the WordNet ids that ImageNet's have."""
    names = source.classnames
    published = class_names(source.dataset) if source.dataset in PUBLISHED else ClassNames(source.dataset, names)
    spoken = map(published_name, published.names) if source.published_names else published.names
    ids = dict(zip(spoken, published.wordnet_ids, strict=False))
    return ClassNames(source.dataset, names, tuple(ids[name] for name in names if ids), len(source.split.base))


def kept_classes(names, left_out) -> np.ndarray:
    gone = {overlap.name for overlap in left_out}
    return np.array([number for number, name in enumerate(names) if name not in gone], dtype=np.int64)
