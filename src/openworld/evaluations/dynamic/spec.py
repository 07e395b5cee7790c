"""Dynamic scenarios (OpenPL, sections 3 and 4): classes and images keep changing after a learner was tuned.

Two scenarios tune on the base half of a data set's classes, cut in an order that every seed draws anew (or on the base
classes that the spec names, in the order that a seed draws): new classes emerge, or take the place of base ones. Two
tune on all classes of a source: its images give way to those of a variant, or its images and classes to another data
set. A unit is one learner with one seed on what it is tuned on; it is fitted once, for all scenarios of that kind.
Zero-shot CLIP is always among the learners: every curve is compared with its own.
"""

from dataclasses import dataclass
from typing import Literal

from openworld._arrays import require_at_least
from openworld._errors import OpenworldError
from openworld.backbones.precision import Precision
from openworld.evaluations.dynamic.curves import SCENARIOS, Scenario
from openworld.evaluations.dynamic.scenarios import require_levels
from openworld.evaluations.dynamic.task import BASELINE, DATA, OF_CLASSES, DynamicSettings, DynamicTask
from openworld.evaluations.entries import LearnerSpec, part_of, require_distinct, settle
from openworld.evaluations.image_selection import DatasetSpec
from openworld.evaluations.learning import Learning, require_learners, resolved
from openworld.evaluations.shots import shots_asked
from openworld.learners import PublishedSetting

ALGORITHM_VERSION = 4


@dataclass(frozen=True)
class DynamicSpec(DynamicSettings, Learning):
    """Tune once, then let classes and images change step by step (OpenPL).

    Args:
        learners: what is compared; zero-shot CLIP is put before them where it is missing.
        scenarios: of the four which.
        datasets: in each are the two scenarios of classes, "emerging-classes" and "varying-ratio"; an entry may say
            which classes are base and new.
        source: is tuned on for the two others, with all its classes.
        variants: each takes over from the source in "distribution-shift"; its classes are some or all of the source's.
        others: each takes over from the source in "co-evolution"; of classes that both name, the source's is left out.
        seeds: of class orders, few-shot draws, initial prompts, shuffles and orders of images; not negative.
        published: whose settings the learners start from; "openpl" is the paper's unified setting.
        precision: in which the frozen towers compute, "float32", "tf32", "bfloat16" or "float16"; what is learned stays
            in float32.

    Raises:
        OpenworldError: no learner, seed or scenario, or repeated ones, a scenario without data, a number outside its
            range, a setting under `choose`.
    """

    learners: tuple[LearnerSpec, ...]
    protocol: Literal["dynamic"] = "dynamic"
    scenarios: tuple[Scenario, ...] = SCENARIOS
    datasets: tuple[DatasetSpec, ...] = (DatasetSpec("emoji-concepts-200"),)
    source: DatasetSpec = DatasetSpec("emoji-concepts")
    variants: tuple[DatasetSpec, ...] = (
        DatasetSpec("emoji-concepts", "fluent-emoji-high-contrast"),
        DatasetSpec("emoji-concepts", "emojione-monotone"),
    )
    others: tuple[DatasetSpec, ...] = (DatasetSpec("emoji-concepts-b"), DatasetSpec("emoji-subgroups"))
    seeds: tuple[int, ...] = (1, 2, 3)
    published: PublishedSetting = "openpl"
    precision: Precision = "float32"

    @property
    def used(self) -> dict[str, tuple[DatasetSpec, ...]]:
        """Field of data -> its entries, none where no scenario needs them."""
        wanted = {DATA[scenario] for scenario in self.scenarios}
        return {field: getattr(self, field) if field in wanted else () for field in ("datasets", "variants", "others")}

    def __post_init__(self):
        if not any(entry.learner == BASELINE for entry in self.learners):
            settle(self, learners=(LearnerSpec(BASELINE), *self.learners))
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


def tasks(spec: DynamicSpec) -> list[DynamicTask]:
    """Every (data set tuned on, learner, seed), learners in the order of the spec."""
    return [
        part_of(spec, DynamicTask, learner=learner, seed=seed, data=data, **entries)
        for data, entries in _kinds(spec)
        for learner in resolved(spec, data.dataset)
        for seed in spec.seeds
    ]


def summary(spec: DynamicSpec) -> list[str]:
    """Scenarios with their numbers of data sets, learners and shots, in a few words each."""
    runs = [f"{len(getattr(spec, DATA[scenario]))} x {scenario}" for scenario in spec.scenarios]
    tuned_on = (spec.source, *spec.datasets)
    shots = shots_asked(spec.shots, *(entry.dataset for entry in tuned_on))
    cut = [f"{entry}: {entry.sides_in_words}" for entry in spec.used["datasets"] if entry.says_classes]
    return [", ".join(runs), *cut, f"{len(spec.learners)} learners", shots]


def _kinds(spec: DynamicSpec) -> list[tuple[DatasetSpec, dict]]:
    """(what is tuned on, its scenarios and what takes over from it) of either kind of scenario."""
    of_classes, against = (
        tuple(scenario for scenario in spec.scenarios if (scenario in OF_CLASSES) == kind) for kind in (True, False)
    )
    used = spec.used
    kinds = [(data, {"scenarios": of_classes, "variants": (), "others": ()}) for data in used["datasets"]]
    taking_over = {"scenarios": against, "variants": used["variants"], "others": used["others"]}
    return kinds + ([(spec.source, taking_over)] if against else [])
