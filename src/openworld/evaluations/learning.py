"""Specs of learners, which are their tasks too, and their records: from the shared fields to the fitted learner."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import torch

from openworld.backbones import known_name
from openworld.core.arrays import require_at_least, require_seeds
from openworld.core.errors import OpenworldError
from openworld.datasets import DATASETS, Draw
from openworld.evaluations.encoding import EncodingStage, in_order
from openworld.evaluations.entries import LearnerSpec, require_distinct, settle
from openworld.evaluations.evaluation import Spec, entry_of
from openworld.evaluations.image_selection import ImageSelection
from openworld.evaluations.runtime import Machine
from openworld.features import Encoding, Features
from openworld.features.encoding import PUBLISHED_CROP, usual_crop_scale
from openworld.learners import (
    FittedLearner,
    Learner,
    PublishedSetting,
    configure,
    encoding_for,
    find_learner,
    origin,
    override,
)
from openworld.learners.engine.fitted import schedules_of
from openworld.learners.engine.requirements import require_able

FRESH = "fresh"


@dataclass(frozen=True, kw_only=True)
class Learning(Spec):
    """Fields of every spec of learners.

    A task adds `image_sets`, those that its unit reads by the part that each plays ("train" is what is learned
    from), and `whole_sets`, those in which no class that is asked for may lack an image.

    Args:
        learners: what is compared; the order is the order of the tables.
        seeds: of few-shot draws, initial prompts, views and shuffles, not negative; every learner runs once per seed.
        published: whose settings the learners start from: "base-to-new" (OpenworldAUC's comparison), "openpl" (OpenPL's
            unified setting) or "ood".
        backbone: a name of `openworld list backbones`, a folder, or a hub repository.
        views: augmented views encoded of every training image; at least 1 where a learner trains on them. "fresh": one
            for every epoch of each learner, so that no crop is seen twice, as in the papers' code.
        crop_scale: smallest and largest share of the image that a view keeps, in (0, 1]; left out, the published
            0.08 to 1, and 0.5 to 1 for the small images of the embedded world.
        threads: CPU threads of each unit, at least 1; fixed, because the last bits of a sum may depend on it.
        draw: whose few-shot draw of training images: "coop", as all other papers, or "openworldauc", as its released
            code (`datasets.reseeded_few_shot`).
    """

    learners: tuple[LearnerSpec, ...] = field(kw_only=False)
    seeds: tuple[int, ...] = (1, 2, 3)
    published: PublishedSetting = "base-to-new"
    backbone: str = "embedded"
    views: int | Literal["fresh"] = 8
    crop_scale: tuple[float, float] | None = None
    threads: int = 1
    draw: Draw = "coop"
    learner = entry_of("learners")
    if TYPE_CHECKING:  # what tasks add

        @property
        def image_sets(self) -> Mapping[str, ImageSelection]: ...
        def tasks(self) -> Sequence[Self]: ...

    @property
    def name(self) -> str:
        return f"{self.learner.label}, seed {self.seed}"

    @property
    def compared(self) -> tuple[LearnerSpec, ...]:
        return self.learners

    @property
    def whole_sets(self) -> Collection[ImageSelection]:
        return self.image_sets.values()

    def resolved(self, dataset: str) -> list[LearnerSpec]:
        """Return the learners, their settings written out whole with what is published for a data set."""
        kinds = [(entry, find_learner(entry.learner)) for entry in self.compared]
        return [
            replace(entry, settings=asdict(configure(kind, entry.settings, dataset, self.published)))
            for entry, kind in kinds
        ]

    def encoding(self, part: str) -> Encoding:
        """Return what is encoded of a part of a task: what its learner consumes, and views of training images alone."""
        kind, settings = find_learner(self.learner.learner), self.learner.settings
        if part != "train":
            return encoding_for(kind)
        crop = self.crop_scale or usual_crop_scale(self.image_sets["train"].sources[0].dataset)
        tried = [{name: value} for name, values in self.learner.choose.items() for value in values]
        views = (count_views(self.views, configure(kind, override(settings, changed))) for changed in ({}, *tried))
        return encoding_for(kind, Encoding(max(views), crop, self.seed))

    def inputs(self, machine: Machine) -> dict[str, str]:
        """Return fingerprints of what a task reads, and what else its result depends on."""
        package = origin(self.learner.learner)
        precision = "" if machine.precision == "float32" else machine.precision
        beside = {name: value for name, value in {"plug-in": package, "precision": precision}.items() if value}
        images = {part: source.fingerprint for part, source in self.image_sets.items()}
        return {"weights": machine.backbone(self.backbone).fingerprint} | beside | images

    @classmethod
    def require(cls, tasks: Sequence[Self], machine: Machine) -> None:
        """Refuse a class without an image, and a learner that needs more than the backbone has."""
        for images in {images: None for task in tasks for images in task.whole_sets}:
            images.require_every_class()
        wanted = {(task.backbone, task.learner.learner): task.learner for task in tasks}
        for (name, learner), entry in wanted.items():
            require_able(machine.backbone(name), configure(find_learner(learner), entry.settings))

    @classmethod
    def order(cls, tasks: Sequence[Self], machine: Machine) -> list[Self]:
        return in_order(tasks, machine)

    def effort(self, machine: Machine) -> tuple[float, ...]:
        """Return steps of training, and among equals how many numbers are learned; (0, 0) where nothing is."""
        if machine.cache_limit is not None:
            return ()  # training sets decide the order then
        learner = configure(find_learner(self.learner.learner), self.learner.settings)
        if not schedules_of(learner):
            return 0, 0
        images, clip = self.image_sets["train"].load(), machine.backbone(self.backbone)
        start = learner.start(clip, images.classnames, torch.Generator().manual_seed(0))
        steps = sum(schedule.epochs * schedule.steps(len(images)) for schedule in schedules_of(learner))
        return steps, sum(tensor.numel() for tensor in start.values())

    def artifacts(self, machine: Machine) -> tuple:
        """Return the stage that encodes what the tasks read."""
        return (EncodingStage(self.tasks(), machine),)

    def backbones(self) -> tuple[str, ...]:
        return (self.backbone,)


def require_learners(spec, *, may_choose: bool = False) -> None:
    """Name the backbone of a spec as it is known, and check its learners, seeds and fields of `Learning`."""
    settle(spec, backbone=known_name(spec.backbone))
    on_views = any(find_learner(entry.learner).consumes != "embeddings" for entry in spec.compared)
    if spec.views != FRESH:
        require_at_least(int(on_views), views=spec.views)
    require_at_least(1, threads=spec.threads)
    require_seeds(spec.seeds)
    Encoding(crop_scale=spec.crop_scale or PUBLISHED_CROP)  # refuses shares outside their range
    require_distinct({"labels of learners": [entry.label for entry in spec.compared], "seeds": spec.seeds})
    for entry in spec.learners:
        if entry.choose and not may_choose:
            raise OpenworldError(
                f"{entry.label} has settings under choose; decide them in a recognition run, and give them here."
            )


def count_views(views: int | Literal["fresh"], learner: Learner) -> int:
    """How many augmented views of every training image a learner needs: of fresh ones, one for every epoch.

    >>> from openworld.learners import LEARNERS
    >>> count_views(8, LEARNERS["MaPLe"]()), [count_views(FRESH, LEARNERS[name]()) for name in ("MaPLe", "GMoP")]
    (8, [5, 0])
    """
    if views != FRESH:
        return views
    return 0 if learner.consumes == "embeddings" else max(stage.epochs for stage in schedules_of(learner))


def fit(task, shots: Features, machine: Machine, settings: dict[str, Any] | None = None) -> FittedLearner:
    """Return the learner of a task, fitted on shots; with other settings than the task's where they are given."""
    settings = task.learner.settings if settings is None else settings
    learner = configure(find_learner(task.learner.learner), settings)
    shots = replace(shots, fresh_views=task.views == FRESH)
    return learner.fit(machine.backbone(task.backbone), shots, seed=task.seed)


def training_facts(task, fitted: FittedLearner, shots: Features) -> dict[str, Any]:
    """Return the fields that records of all learners have: who learned, how long, and from how many images."""
    # Of a class there may be fewer than the shots, where a data set holds no more.
    images = np.bincount(shots.labels, minlength=len(shots.classnames))
    return {
        "protocol": task.protocol,
        "learner": task.learner.label,
        "method": task.learner.learner,
        "seed": task.seed,
        "shots": task.shots,
        "backbone": task.backbone,
        "epochs": schedule.epochs if (schedule := getattr(fitted.learner, "schedule", None)) else None,
        "tuned_parameters": fitted.tuned_parameters,
        "training_images": {"fewest": int(images.min()), "most": int(images.max())},
        "training_classnames": fitted.classnames,
        "detail": {"settings": task.learner.settings, "history": list(fitted.history)},
    }


def learned_files(task, fitted: FittedLearner) -> dict[str, bytes]:
    """Return the attachments of a record from which the learner can be loaded; none where it is not to be kept."""
    return {f"learner/{name}": content for name, content in fitted.files().items()} if task.keep_learners else {}


def split_name(dataset: str, *, same_domain: bool) -> str:
    """Return how test images differ from those tuned on: by drawing in the embedded world, else by domain.

    >>> split_name("emoji-concepts", same_domain=False), split_name("path/to/images", same_domain=True)
    ('redrawn', 'same domain')
    """
    card = DATASETS.get(dataset)
    drawn = card is not None and card.group_name == "drawing"
    return ("same-drawing" if drawn else "same domain") if same_domain else ("redrawn" if drawn else "other domain")
