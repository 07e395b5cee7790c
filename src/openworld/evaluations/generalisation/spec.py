"""Open-world generalisation (OpenworldAUC, Hua et al., 2025, section 6): tuned here, met there.

A learner is tuned once on the base half of a source. Domain generalisation then scores it on variants, which show the
same classes in other pictures, base ones and new ones; cross-data-set generalisation puts the classes of other data
sets, as new ones, beside the source's own base pictures, save those that are base classes there already. Every
(learner, seed) is one unit, scored on the source itself and on every target.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from openworld._arrays import require_at_least, require_seeds
from openworld._errors import OpenworldError
from openworld.backbones import known_name
from openworld.backbones.precision import Precision
from openworld.evaluations.entries import LearnerSpec, usual_crop_scale
from openworld.evaluations.generalisation.predictions import answer_stages
from openworld.evaluations.generalisation.task import (
    Other,
    Stage,
    Task,
    described,
    left_out_of,
    source_names,
    stages,
)
from openworld.evaluations.image_columns import with_names
from openworld.evaluations.image_selection import DatasetSpec
from openworld.evaluations.recognition_metrics import image_table, recognition_metrics, shots_asked, training_images
from openworld.evaluations.runtime import Machine, encoded_parts
from openworld.evaluations.tasks import resolve
from openworld.evaluations.thumbnails import thumbnails
from openworld.features import Encoding
from openworld.learners import FittedLearner, configure, find_learner
from openworld.learners import PublishedSetting as PublishedTask
from openworld.runs import UnitResult

ALGORITHM_VERSION = 3


@dataclass(frozen=True)
class GeneralisationSpec:
    """Tune on one data set, then meet its variants and other data sets (OpenworldAUC, Hua et al., 2025).

    Args:
        learners: what is compared; the order is the order of the tables.
        source: its first ceil(n / 2) classes, in label order, are tuned on.
        variants: each shows some or all of the source's classes, under the same names, in other pictures.
        others: the classes of each are new beside the source's base pictures; those that are base classes of the
            source are left out, and listed in the records.
        wordnet: a class is a base class of the source, too, if its name is one that WordNet gives that class; the names
            of ImageNet's classes in WordNet come along, and a source without WordNet ids is compared by its own names.
        backbone: a name of `openworld list backbones`, a folder, or a hub repository.
        seeds: of few-shot draws, initial prompts and shuffles, not negative; every learner runs once per seed.
        shots: training pictures of each base class, at least 1.
        views: augmented views encoded of every training picture; at least 1 where a learner trains on them.
        crop_scale: smallest and largest share of the picture that a view keeps, in (0, 1]; left out, the published
            0.08 to 1, and 0.5 to 1 for the small pictures of the embedded world.
        published: whose settings the learners start from; sentences are the source's, at every target.
        threads: CPU threads of each unit, at least 1; fixed, because the last bits of a sum may depend on it.
        precision: in which the frozen towers compute, "float32", "tf32", "bfloat16" or "float16"; what is learned stays
            in float32.
        keep_learners: keep what was learned in the run's folder, for `openworld predict`.

    Raises:
        OpenworldError: no learner or seed, neither variants nor others, repeated ones, the source among its targets, a
            number outside its range, a setting under `choose`.
    """

    learners: tuple[LearnerSpec, ...]
    protocol: Literal["generalisation"] = "generalisation"
    source: DatasetSpec = DatasetSpec("emoji-concepts")
    variants: tuple[DatasetSpec, ...] = ()
    others: tuple[DatasetSpec, ...] = ()
    wordnet: bool = True
    backbone: str = "embedded"
    seeds: tuple[int, ...] = (1, 2, 3)
    shots: int = 16
    views: int = 8
    crop_scale: tuple[float, float] | None = None
    published: PublishedTask = "base-to-new"
    threads: int = 1
    precision: Precision = "float32"
    keep_learners: bool = True

    def __post_init__(self):
        object.__setattr__(self, "backbone", known_name(self.backbone))
        self._require_sound()
        self._require_targets()
        object.__setattr__(self, "crop_scale", self.crop_scale or usual_crop_scale(self.source.dataset))
        Encoding(self.views, self.crop_scale)  # refuses shares that are none

    def _require_sound(self) -> None:
        on_views = any(find_learner(one.learner).consumes != "embeddings" for one in self.learners)
        require_at_least(int(on_views), views=self.views)
        require_at_least(1, shots=self.shots, threads=self.threads)
        require_seeds(self.seeds)
        labels = [learner.label for learner in self.learners]
        for name, entries in {"labels": labels, "seeds": self.seeds}.items():
            if not entries or len(set(entries)) < len(entries):
                raise OpenworldError(f"{name} must be distinct, and at least one; they are {list(entries)}.")
        for one in self.learners:
            if one.choose:
                raise OpenworldError(
                    f"{one.label} has settings under choose; decide them in a recognition run, and give them here."
                )

    def _require_targets(self) -> None:
        if not self.variants and not self.others:
            raise OpenworldError("there is no target; give variants, others, or both.")
        for name in ("variants", "others"):
            entries = getattr(self, name)
            if len(set(entries)) < len(entries):
                raise OpenworldError(f"{name} must be distinct; they are {[str(one) for one in entries]}.")
        if self.source in self.variants or self.source.dataset in {one.dataset for one in self.others}:
            raise OpenworldError(
                f"{self.source} is the source; a variant has another domain or name, an other another name."
            )


def tasks(spec: GeneralisationSpec) -> list[Task]:
    """Every (learner, seed), learners in the order of the spec; each knows which classes are left out."""
    own = ("learner", "seed", "others", "wordnet")
    shared = {name: getattr(spec, name) for name in Task.__annotations__ if name not in own}
    by_wordnet = spec.wordnet and bool(source_names(spec.source).wordnet_ids)
    others = tuple(Other(one, left_out_of(spec.source, one, by_wordnet)) for one in spec.others)
    resolved = [resolve(one, spec.source.dataset, spec.published) for one in spec.learners]
    return [
        Task(learner=one, seed=seed, others=others, wordnet=by_wordnet, **shared)
        for one in resolved
        for seed in spec.seeds
    ]


def summary(spec: GeneralisationSpec) -> list[str]:
    """What is run on what, in a few words each."""
    counts = {"variant": len(spec.variants), "other data set": len(spec.others)}
    told = [f"{count} {name}{'s' * (count > 1)}" for name, count in counts.items() if count]
    shots = shots_asked(spec.shots, spec.source.dataset)
    return [f"{spec.source} → {' and '.join(told)}", f"{len(spec.learners)} learners", shots]


def evaluate(task: Task, machine: Machine) -> UnitResult:
    """Fit one learner once, score it at every target, compute every metric of each."""
    clip = machine.backbone(task.backbone)
    parts = encoded_parts(task, machine)
    staged = list(stages(task, parts))
    started = time.perf_counter()
    learner = configure(find_learner(task.learner.learner), task.learner.settings)
    shots = parts["train"].of_classes(np.arange(staged[0].base_count))
    fitted = learner.fit(clip, shots, seed=task.seed)
    fitted_at = time.perf_counter()
    answers = answer_stages(fitted, staged)
    tables = [image_table(answer, stage, stage.base_count) for stage, answer in zip(staged, answers, strict=True)]
    scored_at = time.perf_counter()
    targets = [described(task, stage) | recognition_metrics(table) for stage, table in zip(staged, tables, strict=True)]
    learned = {f"learner/{name}": content for name, content in fitted.files().items()} if task.keep_learners else {}
    return UnitResult(
        outputs={"images": _stacked(list(map(partial(_named, task), staged, tables)))},
        metrics=_described(task, fitted) | {"training_images": training_images(shots), "targets": targets},
        attachments=dict(_pictures(task, staged, tables)) | learned,
        timing={"seconds": {"fit": fitted_at - started, "score": scored_at - fitted_at}, "device": machine.device},
    )


def _described(task: Task, fitted: FittedLearner) -> dict:
    return {
        "protocol": "generalisation",
        "source": task.source,
        "wordnet": task.wordnet,
        "backbone": task.backbone,
        "learner": task.learner.label,
        "seed": task.seed,
        "shots": task.shots,
        "epochs": fitted.learner.schedule.epochs if hasattr(fitted.learner, "schedule") else None,
        "tuned_parameters": fitted.tuned_parameters,
        "training_classnames": fitted.classnames,
        "detail": {"settings": task.learner.settings, "history": fitted.history},
    }


def _named(task: Task, stage: Stage, table: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """With paths, and names of classes."""

    def path_of(number: int) -> str:
        part, own = stage.picture(number)
        return task.sources[part].load().path_of(own)

    return with_names(table, (*stage.base_names, *stage.new_names), path_of)


def _stacked(tables: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """All tables one behind the other, with the number of the target in a further column."""
    target = np.repeat(np.arange(len(tables), dtype=np.int16), [len(table["id"]) for table in tables])
    return {"target": target} | {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}


def _pictures(task: Task, staged: list[Stage], tables: list[dict]) -> Iterator[tuple[str, bytes]]:
    """Thumbnails of every target, in a folder by its number."""
    for number, (stage, table) in enumerate(zip(staged, tables, strict=True)):
        yield from thumbnails(table, partial(_picture, task, stage), f"pictures/{number}").items()


def _picture(task: Task, stage: Stage, number: int):
    """The picture of an id of a stage."""
    part, own = stage.picture(number)
    return task.sources[part].load().image(own)
