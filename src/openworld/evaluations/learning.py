"""Specs of learners, their tasks and their records: what all of them share, from the fields to the fitted learner."""

from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from openworld._arrays import require_at_least, require_seeds
from openworld._errors import OpenworldError
from openworld.backbones import known_name
from openworld.datasets import DATASETS, Draw
from openworld.evaluations.entries import LearnerSpec, require_distinct, settle
from openworld.evaluations.runtime import Machine
from openworld.features import Encoding, Features
from openworld.features.encoding import PUBLISHED_CROP, usual_crop_scale
from openworld.learners import FittedLearner, Learner, PublishedSetting, configure, encoding_for, find_learner, override
from openworld.learners.engine.fitted import schedules_of

FRESH = "fresh"


@dataclass(frozen=True, kw_only=True)
class Learning:
    """Fields of every spec of learners and of its tasks.

    Args:
        backbone: a name of `openworld list backbones`, a folder, or a hub repository.
        views: augmented views encoded of every training image; at least 1 where a learner trains on them. "fresh": one
            for every epoch of each learner, so that no crop is seen twice, as in the papers' code.
        crop_scale: smallest and largest share of the image that a view keeps, in (0, 1]; left out, the published
            0.08 to 1, and 0.5 to 1 for the small images of the embedded world.
        threads: CPU threads of each unit, at least 1; fixed, because the last bits of a sum may depend on it.
        draw: whose few-shot draw of training images: "coop", as all other papers, or "openworldauc", as its released
            code (`datasets.reseeded_few_shot`).
    """

    backbone: str = "embedded"
    views: int | Literal["fresh"] = 8
    crop_scale: tuple[float, float] | None = None
    threads: int = 1
    draw: Draw = "coop"


def require_learners(spec, *, may_choose: bool = False) -> None:
    """Name the backbone of a spec as it is known, and check its learners, seeds and fields of `Learning`."""
    settle(spec, backbone=known_name(spec.backbone))
    on_views = any(find_learner(entry.learner).consumes != "embeddings" for entry in spec.learners)
    if spec.views != FRESH:
        require_at_least(int(on_views), views=spec.views)
    require_at_least(1, threads=spec.threads)
    require_seeds(spec.seeds)
    Encoding(crop_scale=spec.crop_scale or PUBLISHED_CROP)  # refuses shares outside their range
    require_distinct({"labels of learners": [entry.label for entry in spec.learners], "seeds": spec.seeds})
    for entry in spec.learners:
        if entry.choose and not may_choose:
            raise OpenworldError(
                f"{entry.label} has settings under choose; decide them in a recognition run, and give them here."
            )


def resolved(spec, dataset: str) -> list[LearnerSpec]:
    """Return the learners of a spec, their settings written out whole with what is published for the data set."""
    published: PublishedSetting = spec.published
    return [
        replace(entry, settings=asdict(configure(find_learner(entry.learner), entry.settings, dataset, published)))
        for entry in spec.learners
    ]


def encoding_of(task, part: str) -> Encoding:
    """Return what is encoded of a part of a task: what its learner consumes, and views of training images alone."""
    crop = task.crop_scale or usual_crop_scale(task.sources["train"].sources[0].dataset)
    kind = find_learner(task.learner.learner)
    if part != "train":
        return encoding_for(kind)
    every = [
        task.learner.settings,
        *({name: value} for name, values in task.learner.choose.items() for value in values),
    ]
    learners = [configure(kind, override(task.learner.settings, settings)) for settings in every]
    return encoding_for(kind, Encoding(max(count_views(task.views, learner) for learner in learners), crop, task.seed))


def count_views(views: int | str, learner: Learner) -> int:
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
        "learner": task.learner.label,
        "seed": task.seed,
        "backbone": task.backbone,
        "epochs": fitted.learner.schedule.epochs if hasattr(fitted.learner, "schedule") else None,
        "tuned_parameters": fitted.tuned_parameters,
        "training_images": {"fewest": int(images.min()), "most": int(images.max())},
    }


def split_name(dataset: str, *, same_domain: bool) -> str:
    """Return how test images differ from those tuned on: by drawing in the embedded world, else by domain.

    >>> split_name("emoji-concepts", same_domain=False), split_name("path/to/images", same_domain=True)
    ('redrawn', 'same domain')
    """
    card = DATASETS.get(dataset)
    drawn = card is not None and card.group_name == "drawing"
    return ("same-drawing" if drawn else "same domain") if same_domain else ("redrawn" if drawn else "other domain")
