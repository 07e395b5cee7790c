"""A unit of the dynamic scenarios: what it is tuned on, what it reads, and its scenario runs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from openworld.datasets import ClassSplit
from openworld.datasets.names.forms import normalise_class_name
from openworld.evaluations.dynamic import scenarios
from openworld.evaluations.dynamic.curves import Scenario
from openworld.evaluations.dynamic.predictions import ImagePool, joined
from openworld.evaluations.dynamic.scenarios import ScenarioRun, class_order
from openworld.evaluations.entries import LearnerSpec
from openworld.evaluations.image_selection import DatasetSpec, ImageSelection
from openworld.evaluations.learning import Learning, encoding_of
from openworld.features import Features

BASELINE = "zero-shot"
"""The learner that tunes nothing, with which every other is compared."""

OF_CLASSES = ("emerging-classes", "varying-ratio")
DATA = {"distribution-shift": "variants", "co-evolution": "others"} | dict.fromkeys(OF_CLASSES, "datasets")
"""Scenario -> the field of the spec that holds its data."""


@dataclass(frozen=True, kw_only=True)
class DynamicSettings:
    """Fields of a spec of dynamic scenarios and of its tasks."""

    levels: tuple[float, ...] = scenarios.LEVELS  # of change, increasing, in [0, 1]
    class_limit: int = 100  # most classes of a view in co-evolution
    image_limit: int = 10_000  # and most images
    shift_limit: int | None = None  # most images of a view in a distribution shift; None for all of the smaller side
    shots: int = 16  # training images of each class, at least 1


@dataclass(frozen=True)
class DynamicTask(DynamicSettings, Learning):
    """One unit's share of a spec: one learner, its settings resolved, one seed, and what it is tuned on."""

    learner: LearnerSpec
    seed: int
    data: DatasetSpec
    scenarios: tuple[Scenario, ...]  # all of classes (tuned on base classes), or all with a source
    variants: tuple[DatasetSpec, ...]
    others: tuple[DatasetSpec, ...]
    encoding = encoding_of

    @property
    def name(self) -> str:
        """What people call the unit."""
        return f"{self.learner.label}, {self.data}, {self.tuned_on}, seed {self.seed}"

    @property
    def tuned_on(self) -> str:
        """Which classes are, in words."""
        if not self.of_classes:
            return "all classes"
        return "base classes" if self.data.says_classes else "base half"

    @property
    def of_classes(self) -> bool:
        """Whether base classes are tuned on, not all."""
        return self.scenarios[0] in OF_CLASSES

    @cached_property
    def split(self) -> ClassSplit:
        """The classes tuned on, which are base, and the new ones of the same data set, in the seed's order."""
        names = self.data.classnames
        order = class_order(len(names), self.seed)
        if not self.of_classes:
            return ClassSplit(names, order, order[:0])
        if not self.data.says_classes:
            return ClassSplit.of(names, order)
        is_base = np.isin(order, self.data.split.base)
        return ClassSplit(names, order[is_base], order[~is_base])

    @property
    def sources(self) -> dict[str, ImageSelection]:
        """The image sets that the unit reads: shots, test images, and those that take over."""
        classes = tuple(sorted(self.split.base.tolist())) if self.of_classes else None
        train = self.data.images("train", seed=self.seed, shots=self.shots, draw=self.draw, only=classes)
        against = {f"{kind} {place}": entry for kind, place, entry in self.against}
        tests = {"test": self.data} | against
        return {"train": train} | {part: entry.images() for part, entry in tests.items()}

    @property
    def whole_sources(self) -> tuple[ImageSelection, ...]:
        """All of them: none may lack an image of a class."""
        return tuple(self.sources.values())

    @property
    def against(self) -> Iterator[tuple[Scenario, int, DatasetSpec]]:
        """(scenario, number, image set) of all that take over from the source."""
        for scenario, entries in (("distribution-shift", self.variants), ("co-evolution", self.others)):
            for place, entry in enumerate(entries if scenario in self.scenarios else ()):
                yield scenario, place, entry


@dataclass(frozen=True, eq=False)
class PooledRuns:
    """Scenario runs that show the same classes on one pool."""

    pool: ImagePool
    runs: dict[Scenario, ScenarioRun]
    against: DatasetSpec | None = None  # what takes over from the source
    sources: tuple[str, ...] = ("test",)  # of the task's, those of the pool's images


def pooled_runs(task: DynamicTask, parts: Mapping[str, Features]) -> Iterator[PooledRuns]:
    """Prepare the scenario runs of a task on the encoded image sets of its sources, one pool at a time."""
    test, base, new = parts["test"], task.split.base, task.split.new
    if task.of_classes:
        generators = {"emerging-classes": scenarios.emerging_classes, "varying-ratio": scenarios.varying_ratio}
        runs = {name: generators[name](test.labels, base, new, task.levels) for name in task.scenarios}
        yield PooledRuns(ImagePool((test,), test.classnames), runs)
    for scenario, place, data in task.against:
        part, shifts = f"{scenario} {place}", scenario == "distribution-shift"
        pool = joined(test, parts[part], same_names=shifts)
        run = (_shift if shifts else _take_over)(task, pool)
        yield PooledRuns(pool, {scenario: run}, data, ("test", part))


def _shift(task: DynamicTask, pool: ImagePool) -> ScenarioRun:
    """The classes are the variant's, in the seed's order."""
    kept = task.split.base[np.isin(task.split.base, pool.parts[1].labels)]
    limit = task.shift_limit
    return scenarios.distribution_shift(pool.labels, pool.origin == 1, kept, task.seed, task.levels, image_limit=limit)


def _take_over(task: DynamicTask, pool: ImagePool) -> ScenarioRun:
    """Of classes that both sides name, the source's is left out: no view could tell them apart."""
    names = [normalise_class_name(name) for name in pool.names]
    count = len(pool.parts[0].classnames)
    source = [place for place in range(count) if names[place] not in set(names[count:])]
    limits = {"class_limit": task.class_limit, "image_limit": task.image_limit}
    new = range(count, len(names))
    return scenarios.co_evolution(pool.labels, source, new, task.seed, task.levels, **limits)
