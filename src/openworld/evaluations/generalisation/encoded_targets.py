"""The images of every target of a task; their labels count in one list of names, base names first."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from openworld.datasets import ClassSplit
from openworld.evaluations.generalisation.task import GeneralisationTask, Target, kept_classes, split_as
from openworld.features import Features


@dataclass(frozen=True, eq=False)
class EncodedTarget:
    """The encoded images of a target.

    Args:
        target: which.
        base, new: those of base and of new classes.
        moved: what is added to the new images' numbers in their image set, so that ids differ from those of base
            images of another set; 0 where both are of one set.
    """

    target: Target
    base: Features
    new: Features
    moved: int = 0

    @cached_property
    def split(self) -> ClassSplit:
        """All class names, base names first."""
        return ClassSplit.joined(self.base.classnames, self.new.classnames)

    @property
    def labels(self) -> np.ndarray:
        """int64[N], the class of every image among `names`, in `order`."""
        return np.concatenate([self.base.labels, self.new.labels + len(self.split.base)])[self.order]

    @property
    def rows(self) -> np.ndarray:
        """int64[N], increasing: the id of every image."""
        return self._ids[self.order]

    @property
    def groups(self) -> np.ndarray:
        """int64[N], equal for images of one image set that are not independent."""
        side = np.repeat([0, int(self.moved > 0)], [len(self.base), len(self.new)])
        pairs = np.stack([side, np.concatenate([self.base.groups, self.new.groups])])
        return np.unique(pairs, axis=1, return_inverse=True)[1].reshape(-1)[self.order]

    @cached_property
    def order(self) -> np.ndarray:
        """int64[N]: the base images' places, then the new ones', sorted by id."""
        return np.argsort(self._ids, kind="stable")

    def locate(self, number: int) -> tuple[str, int]:
        """The part and the number in its image set of the image with an id."""
        if self.moved and number < self.moved:
            return "test", number
        return self.target.part, number - self.moved

    @cached_property
    def _ids(self) -> np.ndarray:
        return np.concatenate([self.base.rows, self.new.rows + self.moved])


def encoded_targets(task: GeneralisationTask, parts: Mapping[str, Features]) -> Iterator[EncodedTarget]:
    """Every target of a task, in order.

    Args:
        task: says which.
        parts: the encoded image sets of `task.sources`.
    """
    source, beyond = parts["test"].split, len(task.sources["test"].load())
    at_home = parts["test"].of_classes(source.base)
    for target in task.targets:
        images = parts[target.part]
        if target.kind == "other":
            kept = images.of_classes(kept_classes(images.classnames, target.left_out))
            yield EncodedTarget(target, at_home, kept, beyond)
        else:
            split = split_as(source, images.classnames, task.source.left_out)
            base = at_home if target.kind == "source" else images.of_classes(split.base)
            yield EncodedTarget(target, base, images.of_classes(split.new))
