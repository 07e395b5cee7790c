"""A unit of the dynamic scenarios: what it is tuned on, what it reads, and the courses that it plays."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from openworld import datasets
from openworld.datasets.names.forms import normalise_class_name
from openworld.evaluations.dynamic import scenarios as play
from openworld.evaluations.dynamic.predictions import Pool, joined
from openworld.evaluations.dynamic.scenarios import Course, Scenario, class_order
from openworld.evaluations.entries import LearnerSpec, usual_crop_scale
from openworld.evaluations.image_selection import DatasetSpec, ImageSelection
from openworld.features import Encoding, Features
from openworld.learners import encoding_for, find_learner

OF_CLASSES = ("emerging-classes", "varying-ratio")


@dataclass(frozen=True)
class Task:
    """One unit's share of a spec: one learner, its settings resolved, one seed, and what it is tuned on.

    `scenarios` are all of classes (tuned on the base half), or all with a source (tuned on all its classes).
    """

    learner: LearnerSpec
    seed: int
    data: DatasetSpec
    scenarios: tuple[Scenario, ...]
    variants: tuple[DatasetSpec, ...]
    others: tuple[DatasetSpec, ...]
    levels: tuple[float, ...]
    class_limit: int
    image_limit: int
    shift_limit: int | None
    backbone: str
    shots: int
    views: int
    crop_scale: tuple[float, float] | None
    threads: int

    @property
    def name(self) -> str:
        """What people call the unit."""
        tuned = "base half" if self.of_classes else "all classes"
        return f"{self.learner.label}, {self.data}, {tuned}, seed {self.seed}"

    @property
    def of_classes(self) -> bool:
        """Whether the base half of the classes is tuned on, not all."""
        return self.scenarios[0] in OF_CLASSES

    @cached_property
    def halves(self) -> tuple[np.ndarray, np.ndarray]:
        """The classes tuned on, and the new ones of the same data set, in the seed's order."""
        classes = len(self.data.classnames)
        order = class_order(classes, self.seed)
        return datasets.base_new_split(classes, order) if self.of_classes else (order, order[:0])

    @property
    def sources(self) -> dict[str, ImageSelection]:
        """The image sets that the unit reads: shots, test pictures, and those of whoever takes over."""
        classes = tuple(sorted(self.halves[0].tolist())) if self.of_classes else None
        train = self.data.images("train", seed=self.seed, shots=self.shots, only=classes)
        against = {f"{kind} {place}": one for kind, place, one in self.against}
        tests = {"test": self.data} | against
        return {"train": train} | {part: one.images() for part, one in tests.items()}

    @property
    def whole_sources(self) -> tuple[ImageSelection, ...]:
        """All of them: none may lack a picture of a class."""
        return tuple(self.sources.values())

    @property
    def against(self) -> Iterator[tuple[Scenario, int, DatasetSpec]]:
        """(scenario, number, image set) of all that take over from the source."""
        for scenario, entries in (("distribution-shift", self.variants), ("co-evolution", self.others)):
            for place, one in enumerate(entries if scenario in self.scenarios else ()):
                yield scenario, place, one

    def encoding(self, part: str) -> Encoding:
        """What is encoded of a part: what the learner consumes, and views of training pictures alone."""
        crop = self.crop_scale or usual_crop_scale(self.data.dataset)
        drawn = Encoding(self.views, crop, self.seed) if part == "train" else Encoding()
        return encoding_for(find_learner(self.learner.learner), drawn)


@dataclass(frozen=True, eq=False)
class Scene:
    """Courses that play the same classes on one pool.

    Args:
        pool: the pictures.
        courses: by scenario.
        against: who takes over from the source; None where new classes come from the same data set.
        shown: of the task's sources, those of the pool's pictures, in order.
    """

    pool: Pool
    courses: dict[Scenario, Course]
    against: DatasetSpec | None = None
    shown: tuple[str, ...] = ("test",)

    @property
    def ordered(self) -> tuple[Course, ...]:
        """The courses in the order of their scenarios' names in `courses`."""
        return tuple(self.courses.values())


def scenes(task: Task, parts: Mapping[str, Features]) -> Iterator[Scene]:
    """Every scene of a task, one at a time.

    Args:
        task: says which scenarios.
        parts: the encoded image sets of `task.sources`.
    """
    test, (base, new) = parts["test"], task.halves
    if task.of_classes:
        generators = {"emerging-classes": play.emerging_classes, "varying-ratio": play.varying_ratio}
        courses = {one: generators[one](test.labels, base, new, task.levels) for one in task.scenarios}
        yield Scene(Pool((test,), test.classnames), courses)
    for scenario, place, data in task.against:
        taking_over = f"{scenario} {place}"
        other = parts[taking_over]
        shifts = scenario == "distribution-shift"
        pool = joined(test, other, same_names=shifts)
        yield Scene(pool, {scenario: (_shift if shifts else _take_over)(task, pool)}, data, ("test", taking_over))


def _shift(task: Task, pool: Pool) -> Course:
    """The classes are the variant's, in the seed's order."""
    shown = task.halves[0][np.isin(task.halves[0], pool.parts[1].labels)]
    limit = task.shift_limit
    return play.distribution_shift(pool.labels, pool.origin == 1, shown, task.seed, task.levels, image_limit=limit)


def _take_over(task: Task, pool: Pool) -> Course:
    """Of classes that both sides name, the source's is left out: no view could tell them apart."""
    names = [normalise_class_name(name) for name in pool.names]
    count = len(pool.parts[0].classnames)
    source = [place for place in range(count) if names[place] not in set(names[count:])]
    limits = {"class_limit": task.class_limit, "image_limit": task.image_limit}
    return play.co_evolution(pool.labels, source, range(count, len(names)), task.seed, task.levels, **limits)
