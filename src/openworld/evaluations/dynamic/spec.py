"""Dynamic scenarios (OpenPL, sections 3 and 4): classes and images keep changing after a learner was tuned.

Two scenarios tune on the base half of a data set's classes, cut in an order that every seed draws anew (or on the base
classes that the spec names, in the order that a seed draws): new classes emerge, or take the place of base ones. Two
tune on all classes of a source: its images give way to those of a variant, or its images and classes to another data
set. A unit is one learner with one seed on what it is tuned on; it is fitted once, for all scenarios of that kind.
Zero-shot CLIP is always among the learners: every curve is compared with its own.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Self

import numpy as np

from openworld.backbones.devices import Precision
from openworld.core.arrays import require_at_least
from openworld.core.errors import OpenworldError
from openworld.datasets import ClassSplit
from openworld.datasets.names.forms import normalise_class_name
from openworld.evaluations.dynamic.curves import SCENARIOS, Scenario
from openworld.evaluations.dynamic.scenarios import LEVELS, class_order, require_levels
from openworld.evaluations.entries import LearnerSpec, require_distinct
from openworld.evaluations.evaluation import ClassList, Tuning, meeting, variants
from openworld.evaluations.image_selection import DatasetSpec, ImageSelection
from openworld.evaluations.learning import Learning, require_learners
from openworld.evaluations.shots import shots_asked
from openworld.learners import PublishedSetting

BASELINE = "zero-shot"  # the learner that tunes nothing, with which every other is compared

OF_CLASSES = ("emerging-classes", "varying-ratio")
DATA = {"distribution-shift": "variants", "co-evolution": "others"} | dict.fromkeys(OF_CLASSES, "datasets")
"""Scenario -> the field of the spec that holds its data."""


@dataclass(frozen=True, kw_only=True)
class DynamicSpec(Learning):
    """Tune once, then let classes and images change step by step (OpenPL).

    Args:
        learners: what is compared; zero-shot CLIP is run before them where it is missing.
        scenarios: of the four which.
        datasets: in each are the two scenarios of classes, "emerging-classes" and "varying-ratio"; an entry may say
            which classes are base and new.
        source: is tuned on for the two others, with all its classes.
        variants: each takes over from the source in "distribution-shift"; its classes are some or all of the source's.
        others: each takes over from the source in "co-evolution"; of classes that both name, the source's is left out.
        seeds: of class orders, few-shot draws, initial prompts, shuffles and orders of images; not negative.
        shots: training images of each class, at least 1.
        levels: of change, increasing, in [0, 1].
        class_limit, image_limit: most classes and most images of a view in co-evolution.
        shift_limit: most images of a view in a distribution shift; left out for all of the smaller side.
        published: whose settings the learners start from; "openpl" is the paper's unified setting.
        precision: in which the frozen towers compute, "float32", "tf32", "bfloat16" or "float16"; what is learned stays
            in float32.

    Raises:
        OpenworldError: no learner, seed or scenario, or repeated ones, a scenario without data, a number outside its
            range, a setting under `choose`.
    """

    protocol: Literal["dynamic"] = "dynamic"
    scenarios: tuple[Scenario, ...] = SCENARIOS
    datasets: tuple[DatasetSpec, ...] = (DatasetSpec("emoji-concepts-200"),)
    source: DatasetSpec = DatasetSpec("emoji-concepts")
    variants: tuple[DatasetSpec, ...] = (
        DatasetSpec("emoji-concepts", "fluent-emoji-high-contrast"),
        DatasetSpec("emoji-concepts", "emojione-monotone"),
    )
    others: tuple[DatasetSpec, ...] = (DatasetSpec("emoji-concepts-b"), DatasetSpec("emoji-subgroups"))
    shots: int = 16
    levels: tuple[float, ...] = LEVELS
    class_limit: int = 100
    image_limit: int = 10_000
    shift_limit: int | None = None
    published: PublishedSetting = "openpl"
    precision: Precision = "float32"

    def __post_init__(self):
        require_learners(self)
        require_at_least(1, shots=self.shots, class_limit=self.class_limit, image_limit=self.image_limit)
        require_at_least(1, shift_limit=1 if self.shift_limit is None else self.shift_limit)
        require_distinct({"scenarios": self.scenarios})
        for scenario in self.scenarios:
            entries = getattr(self, DATA[scenario])
            if not entries:
                raise OpenworldError(f"{scenario} needs at least one entry under {DATA[scenario]}.")
            require_distinct({DATA[scenario]: entries})
        for entry in (self.source, *self.variants, *self.others):
            if entry.says_classes:
                raise OpenworldError(
                    f"{entry} says which classes are base or new, and all its classes are tuned on or take over; "
                    "entries of datasets alone are cut."
                )
        require_levels(self.levels)

    @property
    def used(self) -> dict[str, tuple[DatasetSpec, ...]]:
        """Field of data -> its entries, none where no scenario needs them."""
        wanted = {DATA[scenario] for scenario in self.scenarios}
        return {field: getattr(self, field) if field in wanted else () for field in ("datasets", "variants", "others")}

    @property
    def compared(self) -> tuple[LearnerSpec, ...]:
        """The learners that are run: every curve is compared with that of zero-shot CLIP."""
        has_baseline = any(entry.learner == BASELINE for entry in self.learners)
        return self.learners if has_baseline else (LearnerSpec(BASELINE), *self.learners)

    @property
    def data(self) -> DatasetSpec:
        return self.datasets[0] if self.of_classes else self.source

    @property
    def name(self) -> str:
        return f"{self.learner.label}, {self.data}, {self.tuned_on}, seed {self.seed}"

    @property
    def tuned_on(self) -> str:
        if not self.of_classes:
            return "all classes"
        return "base classes" if self.data.says_classes else "base half"

    @property
    def of_classes(self) -> bool:
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
    def image_sets(self) -> dict[str, ImageSelection]:
        """The image sets that the unit reads: shots, test images, and those that take over."""
        classes = tuple(sorted(self.split.base.tolist())) if self.of_classes else None
        train = self.data.images("train", seed=self.seed, shots=self.shots, draw=self.draw, only=classes)
        against = {f"{kind} {place}": entry for kind, place, entry in self.against}
        tests = {"test": self.data} | against
        return {"train": train} | {part: entry.images() for part, entry in tests.items()}

    @property
    def against(self) -> Iterator[tuple[Scenario, int, DatasetSpec]]:
        """(scenario, number, image set) of all that take over from the source."""
        for scenario, entries in (("distribution-shift", self.variants), ("co-evolution", self.others)):
            for place, entry in enumerate(entries if scenario in self.scenarios else ()):
                yield scenario, place, entry

    def tasks(self) -> list[Self]:
        """Return every (data set tuned on, learner, seed), learners in the order of the spec."""
        used, kinds = self.used, []
        of_classes, against = (
            tuple(scenario for scenario in self.scenarios if (scenario in OF_CLASSES) == kind) for kind in (True, False)
        )
        nothing_else = {"source": DynamicSpec.source, "variants": (), "others": ()}
        for data in used["datasets"]:
            kinds.append((data, {"scenarios": of_classes, "datasets": (data,), **nothing_else}))
        if against:
            kinds.append((self.source, {**used, "scenarios": against, "datasets": ()}))
        return [
            self.only(learner=learner, seed=seed, **cut)
            for data, cut in kinds
            for learner in self.resolved(data.dataset)
            for seed in self.seeds
        ]

    def summary(self) -> list[str]:
        runs = [f"{len(getattr(self, DATA[scenario]))} x {scenario}" for scenario in self.scenarios]
        shots = shots_asked(self.shots, *(entry.dataset for entry in (self.source, *self.datasets)))
        cut = [f"{entry}: {entry.sides_in_words}" for entry in self.used["datasets"] if entry.says_classes]
        return [", ".join(runs), *cut, f"{len(self.compared)} learners", shots]

    def class_lists(self) -> Iterator[ClassList]:
        """Yield the names of all data; every seed cuts those of `datasets` anew where the spec does not."""
        used = self.used
        for entry in used["datasets"]:
            yield (
                ClassList.of(entry) if entry.says_classes else ClassList(str(entry), entry.dataset, entry.classnames, 0)
            )
        if not used["variants"] and not used["others"]:
            return
        source = self.source.classnames
        yield ClassList(str(self.source), self.source.dataset, source, len(source))
        yield from variants(used["variants"], self.source)
        for other in used["others"]:
            names = other.classnames
            taken_over = set(map(normalise_class_name, names))  # the source's class of that name is left out there
            left = tuple(name for name in source if normalise_class_name(name) not in taken_over)
            yield from meeting(other, names, {str(self.source): left})

    def tunings(self) -> Iterator[Tuning]:
        if set(self.scenarios) & set(OF_CLASSES):
            yield from ((data, (data,), True) for data in self.datasets)
        if set(self.scenarios) - set(OF_CLASSES):
            used = self.used
            yield self.source, (self.source, *used["variants"], *used["others"]), False
