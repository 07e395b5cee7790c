"""Dynamic scenarios (OpenPL, sections 3 and 4): classes and images keep changing after a learner was tuned.

Two scenarios tune on the base half of a data set's classes, cut in an order that every seed draws anew: new classes
emerge, or take the place of base ones. Two tune on all classes of a source: its images give way to those of a
variant, or its images and classes to another data set. A unit is one learner with one seed on what it is tuned on;
it is fitted once, for all scenarios of that kind. Zero-shot CLIP is always among the learners: every curve is
compared with its own.
"""

from dataclasses import dataclass
from typing import Literal

from openworld._arrays import require_at_least, require_seeds
from openworld._errors import OpenworldError
from openworld.backbones import known_name
from openworld.backbones.precision import Precision
from openworld.evaluations.dynamic.scenarios import LEVELS, SCENARIOS, Scenario, require_levels
from openworld.evaluations.dynamic.task import BASELINE, DATA, OF_CLASSES, Task
from openworld.evaluations.entries import PUBLISHED_CROP, LearnerSpec
from openworld.evaluations.image_selection import DatasetSpec
from openworld.evaluations.recognition_metrics import shots_asked
from openworld.evaluations.tasks import resolve
from openworld.features import Encoding
from openworld.learners import PublishedSetting as PublishedTask
from openworld.learners import find_learner

ALGORITHM_VERSION = 3


@dataclass(frozen=True)
class DynamicSpec:
    """Tune once, then let classes and images change step by step (OpenPL).

    Args:
        learners: what is compared; zero-shot CLIP is put before them where it is missing.
        scenarios: of the four which.
        datasets: in each are the two scenarios of classes, "emerging-classes" and "varying-ratio".
        source: is tuned on for the two others, with all its classes.
        variants: each takes over from the source in "distribution-shift"; its classes are some or all of the source's.
        others: each takes over from the source in "co-evolution"; of classes that both name, the source's is left out.
        levels: of change, increasing, in [0, 1].
        class_limit, image_limit: most classes and images of a view in co-evolution.
        shift_limit: most images of a view in a distribution shift; left out, as many as the smaller side has.
        backbone: a name of `openworld list backbones`, a folder, or a hub repository.
        seeds: of class orders, few-shot draws, initial prompts, shuffles and orders of images; not negative.
        shots: training images of each class, at least 1.
        views: augmented views encoded of every training image; at least 1 where a learner trains on them.
        crop_scale: smallest and largest share of the image that a view keeps, in (0, 1]; left out, the published
            0.08 to 1, and 0.5 to 1 for the small images of the embedded world.
        published: whose settings the learners start from; "openpl" is the paper's unified setting.
        threads: CPU threads of each unit, at least 1; fixed, because the last bits of a sum may depend on it.
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
    levels: tuple[float, ...] = LEVELS
    class_limit: int = 100
    image_limit: int = 10_000
    shift_limit: int | None = None
    backbone: str = "embedded"
    seeds: tuple[int, ...] = (1, 2, 3)
    shots: int = 16
    views: int = 8
    crop_scale: tuple[float, float] | None = None
    published: PublishedTask = "openpl"
    threads: int = 1
    precision: Precision = "float32"

    @property
    def used(self) -> dict[str, tuple[DatasetSpec, ...]]:
        """Field of data -> its entries, none where no scenario needs them."""
        wanted = {DATA[scenario] for scenario in self.scenarios}
        return {field: getattr(self, field) if field in wanted else () for field in ("datasets", "variants", "others")}

    def __post_init__(self):
        object.__setattr__(self, "backbone", known_name(self.backbone))
        if not any(one.learner == BASELINE for one in self.learners):
            object.__setattr__(self, "learners", (LearnerSpec(BASELINE), *self.learners))
        self._require_sound()
        self._require_data()
        require_levels(self.levels)
        Encoding(self.views, self.crop_scale or PUBLISHED_CROP)  # refuses shares that are none

    def _require_sound(self) -> None:
        on_views = any(find_learner(one.learner).consumes != "embeddings" for one in self.learners)
        require_at_least(int(on_views), views=self.views)
        require_at_least(1, shots=self.shots, threads=self.threads, class_limit=self.class_limit)
        limits = {name: getattr(self, name) for name in ("image_limit", "shift_limit")}
        require_at_least(1, **{name: limit for name, limit in limits.items() if limit is not None})
        require_seeds(self.seeds)
        for one in self.learners:
            if one.choose:
                raise OpenworldError(
                    f"{one.label} has settings under choose; decide them in a recognition run, and give them here."
                )

    def _require_data(self) -> None:
        labels = [learner.label for learner in self.learners]
        for name, entries in {"labels": labels, "seeds": self.seeds, "scenarios": self.scenarios}.items():
            if not entries or len(set(entries)) < len(entries):
                raise OpenworldError(f"{name} must be distinct, and at least one; they are {list(entries)}.")
        for scenario in self.scenarios:
            entries = getattr(self, DATA[scenario])
            if not entries or len(set(entries)) < len(entries):
                raise OpenworldError(
                    f"{scenario} needs at least one entry under {DATA[scenario]}, each one once; they are "
                    f"{[str(one) for one in entries]}."
                )


def tasks(spec: DynamicSpec) -> list[Task]:
    """Every (data set tuned on, learner, seed), learners in the order of the spec."""
    return [
        Task(learner=resolve(one, data.dataset, spec.published), seed=seed, data=data, scenarios=scenarios, **shared)
        for data, scenarios, shared in _kinds(spec)
        for one in spec.learners
        for seed in spec.seeds
    ]


def summary(spec: DynamicSpec) -> list[str]:
    """Scenarios with their numbers of data sets, learners and shots, in a few words each."""
    runs = [f"{len(getattr(spec, DATA[one]))} x {one}" for one in spec.scenarios]
    tuned_on = (spec.source, *spec.datasets)
    shots = shots_asked(spec.shots, *(one.dataset for one in tuned_on))
    return [", ".join(runs), f"{len(spec.learners)} learners", shots]


def _kinds(spec: DynamicSpec) -> list[tuple[DatasetSpec, tuple[Scenario, ...], dict]]:
    """(what is tuned on, its scenarios, the rest of a task) of either kind of scenario."""
    own = ("learner", "seed", "data", "scenarios", "variants", "others")
    shared = {name: getattr(spec, name) for name in Task.__annotations__ if name not in own}
    of_classes = tuple(one for one in spec.scenarios if one in OF_CLASSES)
    against = tuple(one for one in spec.scenarios if one not in OF_CLASSES)
    kinds = [(data, of_classes, shared | {"variants": (), "others": ()}) for data in spec.used["datasets"]]
    entries = {name: spec.used[name] for name in ("variants", "others")}
    return kinds + ([(spec.source, against, shared | entries)] if against else [])
