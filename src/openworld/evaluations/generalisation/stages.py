"""The targets of a task set out: images whose labels count in one list of names, base names first."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from openworld import datasets
from openworld.evaluations.generalisation.task import Target, Task, halves, kept_classes
from openworld.features import Features


@dataclass(frozen=True, eq=False)
class Stage:
    """A target set out.

    Args:
        target: which.
        base, new: encoded images of base and of new classes.
        names: of all classes.
        base_count: number of base names.
        moved: what is added to the new images' numbers in their image set, so that ids differ from those of base
            images of another set; 0 where both are of one set.
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
        """int64[N], the class of every image among `names`, in `order`."""
        return np.concatenate([self.base.labels, self.new.labels + self.base_count])[self.order]

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

    def image(self, number: int) -> tuple[str, int]:
        """The part and the number in its image set of the image with an id."""
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


def _stage(target: Target, base: Features, new: Features, moved: int = 0) -> Stage:
    return Stage(target, base, new, base.classnames + new.classnames, len(base.classnames), moved)
