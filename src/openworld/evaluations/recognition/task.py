"""Open-world recognition (OpenworldAUC, Hua et al., 2025, section 6): tune on base classes, meet base and new ones.

Classes in label order are cut into a base half, first ceil(n / 2), and a new half. A learner sees some shots of the
base half; then every test image is scored: is it base or new, and which name of its half is it? Every (learner, shots,
seed) is one unit. Test images choose nothing: settings under `choose` are decided on validation images of base
classes, and the threshold under `operating` on validation images, once the learner is fitted.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from openworld import datasets
from openworld.datasets import DATASETS
from openworld.evaluations.entries import LearnerSpec, split_of
from openworld.evaluations.image_columns import with_names
from openworld.evaluations.image_selection import DatasetSpec, ImageSelection
from openworld.evaluations.recognition.class_imbalance import other_mixes
from openworld.evaluations.recognition.hyperparameters import choose_settings
from openworld.evaluations.recognition.operating_point import (
    OperatingSpec,
    ScoredValidation,
    choose_operating_point,
    require_sides,
    scored_validation,
)
from openworld.evaluations.recognition.outcome import ImageScores
from openworld.evaluations.recognition.record import RecognitionRecord, TrainingImages, numbers_of
from openworld.evaluations.recognition.spec import RecognitionSpec
from openworld.evaluations.recognition_metrics import score, shots_asked, training_images
from openworld.evaluations.runtime import Machine, encoded_parts
from openworld.evaluations.tasks import require_learnable, resolve
from openworld.evaluations.thumbnails import thumbnails
from openworld.features import Encoding
from openworld.learners import FittedLearner, configure, encoding_for, find_learner
from openworld.runs import UnitResult

ALGORITHM_VERSION = 5


@dataclass(frozen=True)
class Task:
    """One unit's share of a spec: one learner, its settings resolved, one number of shots, and one seed."""

    learner: LearnerSpec
    seed: int
    dataset: str
    train_domain: str | None
    test_domain: str | None
    backbone: str
    shots: int
    views: int
    crop_scale: tuple[float, float]
    imbalance_factor: float
    ratios: tuple[float, ...]
    resamples: int
    threads: int
    keep_learners: bool
    operating: OperatingSpec | None
    scored_validation: ScoredValidation

    @property
    def name(self) -> str:
        """What people call the unit."""
        return f"{self.learner.label}, seed {self.seed}"

    @property
    def sources(self) -> dict[str, ImageSelection]:
        """The image sets that the unit reads: shots, test images, and validation images where they are needed."""
        trained, tested = DatasetSpec(self.dataset, self.train_domain), DatasetSpec(self.dataset, self.test_domain)
        sources = {
            "train": trained.images("train", seed=self.seed, shots=self.shots, base_only=True),
            "test": tested.images("test"),
        }
        if self.learner.choose or self.scored_validation != "nothing":
            base_only = self.scored_validation != "all"
            sources["validation"] = trained.images("validation", base_only=base_only)
        return sources

    @property
    def whole_sources(self) -> tuple[ImageSelection, ...]:
        """Those in which no class that is asked for may lack an image; a threshold needs but some of a side."""
        whole = [source for part, source in self.sources.items() if part != "validation"]
        chosen_on = [replace(self.sources["validation"], base_only=True)] if self.learner.choose else []
        return (*whole, *chosen_on)

    def encoding(self, part: str) -> Encoding:
        """What is encoded of a part: what the learner consumes, and views of training images alone."""
        drawn = Encoding(self.views, self.crop_scale, self.seed) if part == "train" else Encoding()
        return encoding_for(find_learner(self.learner.learner), drawn)


def tasks(spec: RecognitionSpec) -> list[Task]:
    """Every (learner, shots, seed), learners in the order of the spec."""
    own = ("learner", "seed", "shots", "scored_validation")
    shared = {name: getattr(spec, name) for name in Task.__annotations__ if name not in own}
    shared["scored_validation"] = scored_validation(
        spec.dataset, spec.train_domain, spec.operating, spec.keep_validation
    )
    resolved = [resolve(entry, spec.dataset, spec.published) for entry in spec.learners]
    return [
        Task(learner=learner, shots=shots, seed=seed, **shared)
        for learner in resolved
        for shots in spec.every_shots
        for seed in spec.seeds
    ]


def summary(spec: RecognitionSpec) -> list[str]:
    """What is run on what, in a few words each."""
    count = len(DatasetSpec(spec.dataset, spec.test_domain).classnames)
    domain = spec.test_domain if spec.train_domain == spec.test_domain else f"{spec.train_domain} → {spec.test_domain}"
    return [
        spec.dataset + (f" in {domain} style" if domain else ""),
        f"{count - count // 2} base + {count // 2} new classes",
        shots_asked(" ".join(map(str, spec.every_shots)), spec.dataset),
    ]


def evaluate(task: Task, machine: Machine) -> UnitResult:
    """Fit one learner on one draw of shots, score every test image, compute every metric."""
    clip = machine.backbone(task.backbone)
    parts = encoded_parts(task, machine)
    base, new = datasets.base_new_split(len(parts["test"].classnames))
    shots = parts["train"].of_classes(base)
    learner = find_learner(task.learner.learner)
    settings, trail = task.learner.settings, []
    if task.learner.choose:
        settings, trail = choose_settings(task.learner, clip, shots, parts["validation"].of_classes(base), task.seed)
    started = time.perf_counter()
    fitted = configure(learner, settings).fit(clip, shots, seed=task.seed)
    fitted_at = time.perf_counter()
    tables = {"images": score(fitted, parts["test"], base, new)}
    scored_at = time.perf_counter()
    if task.scored_validation != "nothing":
        tables["validation"] = score(fitted, parts["validation"], base, new)
    learned = {f"learner/{name}": content for name, content in fitted.files().items()} if task.keep_learners else {}
    names, read = parts["test"].classnames, {"images": "test", "validation": "validation"}
    record = _record(task, fitted, tables, names, len(base))
    detail = {"chosen": settings, "choices": trail, "history": list(fitted.history)}
    record = replace(record, training_images=TrainingImages(**training_images(shots)), detail=detail)
    return UnitResult(
        outputs={
            name: with_names(columns, names, task.sources[read[name]].load().path_of)
            for name, columns in tables.items()
        },
        metrics=asdict(record),
        attachments=thumbnails(tables["images"], task.sources["test"].load().image) | learned,
        timing={"seconds": {"fit": fitted_at - started, "score": scored_at - fitted_at}, "device": machine.device},
    )


def title(spec: RecognitionSpec, task: Task) -> str:
    """Return what people call a unit, with its shots where the run has several numbers of them."""
    shots = "" if len(spec.every_shots) == 1 else f"{task.shots} shots, "
    return f"{task.learner.label}, {shots}seed {task.seed}"


def require(tasks: Sequence[Task], machine: Machine) -> None:
    """Refuse what no learner could learn, and validation images on which the rule could choose no threshold."""
    require_learnable(tasks, machine)
    task = tasks[0]  # the same in all of them
    if task.scored_validation != "nothing":
        names = task.sources["test"].load().classnames
        require_sides(task.sources["validation"].load(), names, task.operating)


def _record(
    task: Task, fitted: FittedLearner, tables: Mapping[str, Mapping], names, base_count: int
) -> RecognitionRecord:
    """The metrics of a fitted learner, from what it said of the test images, and of validation images."""
    same = task.train_domain == task.test_domain
    mixes = {"factor": task.imbalance_factor, "ratios": task.ratios, "resamples": task.resamples}
    point = None
    if task.operating:
        validation, test = ImageScores(tables["validation"]), ImageScores(tables["images"])
        point = choose_operating_point(task.operating, validation, test, probability=True)
    return RecognitionRecord(
        task=task.dataset,
        split=split_of(task.dataset, same_domain=same),
        train_domain=task.train_domain,
        test_domain=task.test_domain,
        backbone=task.backbone,
        learner=task.learner.label,
        method=task.learner.learner,
        seed=task.seed,
        shots=task.shots,
        epochs=fitted.learner.schedule.epochs if hasattr(fitted.learner, "schedule") else None,
        tuned_parameters=fitted.tuned_parameters,
        n_base_classes=base_count,
        n_new_classes=len(names) - base_count,
        group_name=DATASETS[task.dataset].group_name if task.dataset in DATASETS else "",
        classnames=tuple(names),
        operating_point=point,
        **numbers_of(tables["images"]),
        **other_mixes(tables["images"], **mixes, seed=task.seed),
    )
