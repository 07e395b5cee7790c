"""A unit of generalisation: what it is tuned on, what it reads, and the targets on which it is scored."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from openworld import datasets
from openworld._errors import OpenworldError
from openworld.datasets import DATASETS, PUBLISHED
from openworld.datasets.names.class_names import ClassNames, class_names
from openworld.datasets.names.overlap_lists import overlaps_with
from openworld.datasets.names.overlaps import Overlap, overlaps
from openworld.evaluations.answer_slices import numbers_among
from openworld.evaluations.entries import LearnerSpec, split_of
from openworld.evaluations.image_selection import DatasetSpec, ImageSelection
from openworld.features import Encoding, Features
from openworld.learners import encoding_for, find_learner

Kind = Literal["source", "variant", "other"]
"""The source's own classes, its classes in other pictures, or another data set's classes beside its base ones."""


@dataclass(frozen=True)
class Other:
    """Another data set, and which of its classes are no new ones because they are base classes of the source."""

    data: DatasetSpec
    left_out: tuple[Overlap, ...] = ()


@dataclass(frozen=True)
class Target:
    """Where a learner is scored.

    Args:
        kind: what it is to the source.
        data: the image set.
        part: its name among `Task.sources`.
        left_out: classes of another data set that are no new ones.
    """

    kind: Kind
    data: DatasetSpec
    part: str
    left_out: tuple[Overlap, ...] = ()


@dataclass(frozen=True)
class Task:
    """One unit's share of a spec: one learner, its settings resolved, and one seed."""

    learner: LearnerSpec
    seed: int
    source: DatasetSpec
    variants: tuple[DatasetSpec, ...]
    others: tuple[Other, ...]
    wordnet: bool
    backbone: str
    shots: int
    views: int
    crop_scale: tuple[float, float]
    threads: int
    keep_learners: bool

    @property
    def name(self) -> str:
        """What people call the unit."""
        return f"{self.learner.label}, seed {self.seed}"

    @property
    def sources(self) -> dict[str, ImageSelection]:
        """The image sets that the unit reads: shots of the base half, and the test pictures of every target."""
        train = self.source.images("train", seed=self.seed, shots=self.shots, base_only=True)
        tests = {target.part: target.data.images() for target in self.targets}
        return {"train": train} | tests

    @property
    def whole_sources(self) -> tuple[ImageSelection, ...]:
        """All of them: none may lack a picture of a class."""
        return tuple(self.sources.values())

    @property
    def targets(self) -> tuple[Target, ...]:
        """The source itself, its variants, the other data sets."""
        variants = [Target("variant", one, f"variant {place}") for place, one in enumerate(self.variants)]
        others = [Target("other", one.data, f"other {place}", one.left_out) for place, one in enumerate(self.others)]
        return (Target("source", self.source, "test"), *variants, *others)

    def encoding(self, part: str) -> Encoding:
        """What is encoded of a part: what the learner consumes, and views of training pictures alone."""
        drawn = Encoding(self.views, self.crop_scale, self.seed) if part == "train" else Encoding()
        return encoding_for(find_learner(self.learner.learner), drawn)


@dataclass(frozen=True, eq=False)
class Stage:
    """A target set out: pictures whose labels count in one list of names, base names first.

    Args:
        target: which.
        base, new: encoded pictures of base and of new classes.
        names: of all classes.
        base_count: number of base names.
        moved: what is added to the new pictures' numbers in their image set, so that ids differ from those of base
            pictures of another set; 0 where both are of one set.
    """

    target: Target
    base: Features
    new: Features
    names: tuple[str, ...]
    base_count: int
    moved: int = 0

    @property
    def base_names(self) -> tuple[str, ...]:
        """The base classes' names."""
        return self.names[: self.base_count]

    @property
    def new_names(self) -> tuple[str, ...]:
        """The new classes' names."""
        return self.names[self.base_count :]

    @property
    def labels(self) -> np.ndarray:
        """int64[N], the class of every picture among `names`, in `order`."""
        return np.concatenate([self.base.labels, self.new.labels + self.base_count])[self.order]

    @property
    def rows(self) -> np.ndarray:
        """int64[N], increasing: the id of every picture."""
        return self._ids[self.order]

    @property
    def groups(self) -> np.ndarray:
        """int64[N], equal for pictures of one image set that are not independent."""
        side = np.repeat([0, int(self.moved > 0)], [len(self.base), len(self.new)])
        pairs = np.stack([side, np.concatenate([self.base.groups, self.new.groups])])
        return np.unique(pairs, axis=1, return_inverse=True)[1].reshape(-1)[self.order]

    @cached_property
    def order(self) -> np.ndarray:
        """int64[N]: the base pictures' places, then the new ones', sorted by id."""
        return np.argsort(self._ids, kind="stable")

    def picture(self, number: int) -> tuple[str, int]:
        """The part and the number in its image set of the picture with an id."""
        if self.moved and number < self.moved:
            return "test", number
        return self.target.part, number - self.moved

    @property
    def _ids(self) -> np.ndarray:
        return np.concatenate([self.base.rows, self.new.rows + self.moved])


def stages(task: Task, parts: Mapping[str, Features]) -> Iterator[Stage]:
    """Every target of a task, in order.

    Args:
        task: says which.
        parts: the encoded image sets of `task.sources`.
    """
    names, beyond = parts["test"].classnames, len(task.sources["test"].load())
    at_home = parts["test"].of_classes(datasets.base_new_split(len(names))[0])
    for target in task.targets:
        shown = parts[target.part]
        if target.kind == "other":
            away = shown.of_classes(kept_classes(shown.classnames, target.left_out))
            yield _stage(target, at_home, away, beyond)
        else:
            base, new = (shown.of_classes(half) for half in halves(names, shown.classnames))
            yield _stage(target, at_home if target.kind == "source" else base, new)


def halves(names: Sequence[str], shown: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """int64[b] and int64[n]: the places among a variant's classes of those that are base, and new, in the source.

    Args:
        names: of the source's classes, whose first half is base.
        shown: of the variant's: some or all of them.

    >>> [half.tolist() for half in halves(("cat", "dog", "owl", "hen"), ("hen", "dog", "cat"))]
    [[2, 1], [0]]
    """
    numbers, base = numbers_among(names, shown), len(datasets.base_new_split(len(names))[0])
    order = np.argsort(numbers)
    return order[numbers[order] < base], order[numbers[order] >= base]


def _stage(target: Target, base: Features, new: Features, moved: int = 0) -> Stage:
    return Stage(target, base, new, base.classnames + new.classnames, len(base.classnames), moved)


def left_out_of(source: DatasetSpec, other: DatasetSpec, wordnet: bool) -> tuple[Overlap, ...]:
    """The classes of another data set that are base classes of the source, by the rule of `datasets.names.overlaps`."""
    known, names = source_names(source), other.classnames
    return overlaps_with(names, known) if wordnet else overlaps(names, known.base.names)


def source_names(source: DatasetSpec) -> ClassNames:
    """The source's classes in label order, with the WordNet ids that ImageNet's have."""
    ids = class_names(source.dataset).wordnet_ids if source.dataset in PUBLISHED else ()
    return ClassNames(source.dataset, source.classnames, ids)


def kept_classes(names, left_out) -> np.ndarray:
    """int64[c], the classes that are not left out."""
    gone = {one.name for one in left_out}
    return np.array([number for number, name in enumerate(names) if name not in gone], dtype=np.int64)


def require_targets(task: Task) -> None:
    """Refuse a variant with classes that the source lacks, or without a base class, and an other without a new one."""
    names = task.source.classnames
    for target in task.targets:
        shown = target.data.classnames
        if target.kind == "variant" and not len(halves(names, shown)[0]):
            raise OpenworldError(
                f"the variant {target.data} shows no class of the first half of {task.source}, so nothing that a "
                "learner was tuned on; leave it out."
            )
        if target.kind == "other" and not len(kept_classes(shown, target.left_out)):
            raise OpenworldError(f"every class of {target.data} is a base class of {task.source}; leave it out.")


def described(task: Task, stage: Stage) -> dict:
    """What a record says of a target, numbers aside."""
    target, source = stage.target, task.source
    own = target.data.dataset == source.dataset
    known = DATASETS.get(target.data.dataset)
    return {
        "kind": target.kind,
        "dataset": target.data.dataset,
        "domain": target.data.domain,
        "target": _title(task, target),
        "task": source.dataset if own else f"{source.dataset} → {target.data.dataset}",
        "split": _split(task, target),
        "train_domain": source.domain,
        "test_domain": target.data.domain,
        "n_base_classes": stage.base_count,
        "n_new_classes": len(stage.new_names),
        "classnames": list(stage.names),
        "parts": list(dict.fromkeys(["test" if stage.moved else target.part, target.part])),
        "new_ids_from": stage.moved,
        "group_name": known.group_name if known else "",
        "left_out": [one.name for one in target.left_out],
        "overlaps": target.left_out,
    }


def _title(task: Task, target: Target) -> str:
    """A short name: what sets the target apart from the source."""
    if target.kind == "source":
        return str(target.data)
    same_domain = target.data.domain == task.source.domain
    if target.data.dataset == task.source.dataset:
        return f"→ {target.data.domain}"
    return f"→ {target.data.dataset if same_domain else target.data}"


def _split(task: Task, target: Target) -> str:
    if target.kind == "source":
        return split_of(task.source.dataset, same_domain=True)
    if target.kind == "other":
        return "other classes"
    if target.data.dataset == task.source.dataset:
        return split_of(task.source.dataset, same_domain=False)
    return "variant"
