"""Open-world recognition (OpenworldAUC, Hua et al., 2025, section 6): tune on base classes, meet base and new ones.

Classes in label order are cut into a base half, first ceil(n / 2), and a new half. A learner sees some shots of the
base half; then every test image is scored: is it base or new, and which name of its half is it? Every (learner, shots,
seed) is one unit. Test images choose nothing: settings under `choose` are decided on validation pictures of base
classes, and the threshold under `operating` on validation pictures, once the learner is fitted.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from openworld import datasets
from openworld._arrays import require_at_least, require_seeds
from openworld._errors import OpenworldError
from openworld.backbones import known_name
from openworld.backbones.precision import Precision
from openworld.datasets import DATASETS
from openworld.evaluations.entries import LearnerSpec, split_of, usual_crop_scale
from openworld.evaluations.image_columns import with_names
from openworld.evaluations.image_selection import DatasetSpec, ImageSelection
from openworld.evaluations.recognition.class_imbalance import other_mixes
from openworld.evaluations.recognition.hyperparameters import choose_settings
from openworld.evaluations.recognition.operating_point import Kept, OperatingSpec, judged, kept, require_sides
from openworld.evaluations.recognition.outcome import Outcome
from openworld.evaluations.recognition_metrics import recognition_metrics, score, shots_asked, training_images
from openworld.evaluations.runtime import Machine, encoded_parts
from openworld.evaluations.tasks import require_learnable, resolve
from openworld.evaluations.thumbnails import thumbnails
from openworld.features import Encoding, Features
from openworld.learners import FittedLearner, configure, encoding_for, find_learner
from openworld.learners import PublishedSetting as PublishedTask
from openworld.runs import UnitResult

ALGORITHM_VERSION = 5
PUBLISHED_RATIOS = (10.0, 5.0, 3.0, 2.0, 1.0, 0.7, 0.5, 0.3, 0.2, 0.1)


@dataclass(frozen=True)
class RecognitionSpec:
    """Tune on base classes, then meet base and new ones (OpenworldAUC, Hua et al., 2025).

    Args:
        dataset: a name of `openworld list datasets`, or a path to a folder of class folders.
        train_domain, test_domain: domains of the data set (styles, in the embedded world); equal ones give the
            same-drawing split there, different ones the redrawn split. Left out, the data set's first or only domain
            to train in, and the same to test in.
        backbone: a name of `openworld list backbones`, a folder, or a hub repository.
        learners: what is compared; the order is the order of the tables.
        seeds: of few-shot draws, initial prompts and shuffles, not negative; every learner runs once per seed.
        shots: training pictures of each base class, at least 1; a list such as (1, 2, 4, 8, 16) runs every learner with
            each of them, and the report gains OpenworldAUC against shots.
        views: augmented views encoded of every training picture; at least 1 where a learner trains on them.
        crop_scale: smallest and largest share of the picture that a view keeps, in (0, 1]; left out, the published
            0.08 to 1, and 0.5 to 1 for the small pictures of the embedded world.
        published: whose settings the learners start from: "base-to-new" (OpenworldAUC's comparison), "openpl" (OpenPL's
            unified setting) or "ood".
        imbalance_factor: by how much one half is shrunk for Table 3, class by class, at least 1.
        ratios: the sweep of Tables 11 and 12: r > 1 keeps 1/r of the base images, r < 1 keeps r of the new ones.
        resamples: how often each of these other mixes is drawn, at least 1; 1 as in the paper, which draws once.
        threads: CPU threads of each unit, at least 1; fixed, because the last bits of a sum may depend on it.
        precision: in which the frozen towers compute, "float32", "tf32", "bfloat16" or "float16"; what is learned stays
            in float32.
        keep_learners: keep what was learned in the run's folder, for `openworld predict`.
        operating: the rule that chooses each learner's threshold on validation pictures; left out, none is chosen.
        keep_validation: score validation pictures too, where the data set has any, for `openworld decide`; they touch
            nothing else.

    Raises:
        OpenworldError: no learner, no seed, labels or seeds that repeat, a number outside its range.
    """

    learners: tuple[LearnerSpec, ...]
    protocol: Literal["recognition"] = "recognition"
    dataset: str = "emoji-concepts"
    train_domain: str | None = None
    test_domain: str | None = None
    backbone: str = "embedded"
    seeds: tuple[int, ...] = (1, 2, 3)
    shots: int | tuple[int, ...] = 16
    views: int = 8
    crop_scale: tuple[float, float] | None = None
    published: PublishedTask = "base-to-new"
    imbalance_factor: float = 5.0
    ratios: tuple[float, ...] = PUBLISHED_RATIOS
    resamples: int = 20
    threads: int = 1
    precision: Precision = "float32"
    keep_learners: bool = True
    operating: OperatingSpec | None = None
    keep_validation: bool = True

    def __post_init__(self):
        object.__setattr__(self, "backbone", known_name(self.backbone))
        self._require_sound()
        card = DATASETS.get(self.dataset)
        train_domain = self.train_domain or (card.domains[0] if card else "") or None
        object.__setattr__(self, "train_domain", train_domain)
        object.__setattr__(self, "test_domain", self.test_domain or train_domain)
        object.__setattr__(self, "crop_scale", self.crop_scale or usual_crop_scale(self.dataset))
        Encoding(self.views, self.crop_scale)  # refuses shares that are none

    def _require_sound(self) -> None:
        on_views = any(find_learner(one.learner).consumes != "embeddings" for one in self.learners)
        require_at_least(int(on_views), views=self.views)
        require_at_least(1, threads=self.threads, imbalance_factor=self.imbalance_factor, resamples=self.resamples)
        require_at_least(1, **{f"shots{place}": shots for place, shots in _numbered(self.shots)})
        require_seeds(self.seeds)
        if not all(ratio > 0 for ratio in self.ratios):
            raise OpenworldError(f"ratios must be above 0; they are {list(self.ratios)}.")
        labels = [learner.label for learner in self.learners]
        if not labels or not self.seeds:
            raise OpenworldError("a run needs at least one learner and one seed.")
        if not self.every_shots or len(set(self.every_shots)) < len(self.every_shots):
            raise OpenworldError(f"shots must be distinct, and at least one; they are {list(self.every_shots)}.")
        if len(set(labels)) < len(labels) or len(set(self.seeds)) < len(self.seeds):
            raise OpenworldError(f"labels and seeds must be distinct; they are {labels} and {list(self.seeds)}.")

    @property
    def every_shots(self) -> tuple[int, ...]:
        """The numbers of shots, in the order of the run."""
        return self.shots if isinstance(self.shots, tuple) else (self.shots,)


def _numbered(shots: int | tuple[int, ...]) -> list[tuple[str, int]]:
    """(where it stands in the spec, number of shots)."""
    return [(f"[{place}]", one) for place, one in enumerate(shots)] if isinstance(shots, tuple) else [("", shots)]


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
    scored_validation: Kept

    @property
    def name(self) -> str:
        """What people call the unit."""
        return f"{self.learner.label}, seed {self.seed}"

    @property
    def sources(self) -> dict[str, ImageSelection]:
        """The image sets that the unit reads: shots, test pictures, and validation pictures where they are asked."""
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
        """Those in which no class that is asked for may lack a picture; a threshold needs but some of a side."""
        whole = [source for part, source in self.sources.items() if part != "validation"]
        chosen_on = [replace(self.sources["validation"], base_only=True)] if self.learner.choose else []
        return (*whole, *chosen_on)

    def encoding(self, part: str) -> Encoding:
        """What is encoded of a part: what the learner consumes, and views of training pictures alone."""
        drawn = Encoding(self.views, self.crop_scale, self.seed) if part == "train" else Encoding()
        return encoding_for(find_learner(self.learner.learner), drawn)


def tasks(spec: RecognitionSpec) -> list[Task]:
    """Every (learner, shots, seed), learners in the order of the spec."""
    own = ("learner", "seed", "shots", "scored_validation")
    shared = {name: getattr(spec, name) for name in Task.__annotations__ if name not in own}
    shared["scored_validation"] = kept(spec.dataset, spec.train_domain, spec.operating, spec.keep_validation)
    resolved = [resolve(one, spec.dataset, spec.published) for one in spec.learners]
    return [
        Task(learner=one, shots=shots, seed=seed, **shared)
        for one in resolved
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
    table = score(fitted, parts["test"], base, new)
    scored_at = time.perf_counter()
    outputs, operating = {"images": table}, {}
    if task.scored_validation != "nothing":
        outputs["validation"] = score(fitted, parts["validation"], base, new)
    if task.operating:
        validation, test = Outcome({}, outputs["validation"]), Outcome({}, table)
        operating = {"operating_point": judged(task.operating, validation, test, probability=True)}
    learned = {f"learner/{name}": content for name, content in fitted.files().items()} if task.keep_learners else {}
    mixes = {"factor": task.imbalance_factor, "ratios": task.ratios, "resamples": task.resamples}
    facts = {"chosen": settings, "choices": trail, "history": list(fitted.history)}
    names = parts["test"].classnames
    kept = {"images": "test", "validation": "validation"}
    outputs = {
        name: with_names(columns, names, task.sources[kept[name]].load().path_of) for name, columns in outputs.items()
    }
    return UnitResult(
        outputs=outputs,
        metrics=_described(task, fitted, parts["test"], len(base))
        | {"training_images": training_images(shots)}
        | recognition_metrics(table)
        | other_mixes(table, **mixes, seed=task.seed)
        | {"detail": facts}
        | operating,
        attachments=thumbnails(table, task.sources["test"].load().image) | learned,
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


def _described(task: Task, fitted: FittedLearner, test: Features, base_count: int) -> dict:
    same = task.train_domain == task.test_domain
    return {
        "protocol": "recognition",
        "task": task.dataset,
        "split": split_of(task.dataset, same_domain=same),
        "train_domain": task.train_domain,
        "test_domain": task.test_domain,
        "backbone": task.backbone,
        "learner": task.learner.label,
        "method": task.learner.learner,
        "seed": task.seed,
        "shots": task.shots,
        "epochs": fitted.learner.schedule.epochs if hasattr(fitted.learner, "schedule") else None,
        "tuned_parameters": fitted.tuned_parameters,
        "n_base_classes": base_count,
        "n_new_classes": len(test.classnames) - base_count,
        "group_name": DATASETS[task.dataset].group_name if task.dataset in DATASETS else "",
        "classnames": list(test.classnames),
    }
