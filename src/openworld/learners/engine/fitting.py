"""How learners are fitted: one from its `start` by its `loss`, and several seeds of one as one batched pass.

Together, every text pass serves all seeds at once: the loss is mapped over a leading seed axis of parameters and
batches (`torch.func.vmap`). Seeds stay apart, because a sum of their losses has each one's own gradient, and SGD and
Adam work entry by entry. Every seed draws its start, its shuffles and its views as it does alone, so the result is that
of separate fits up to the order of floating-point sums.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import repeat
from typing import Any

import numpy as np
import torch
from torch import Tensor

from openworld.backbones import DualEncoder
from openworld.core.errors import OpenworldError
from openworld.core.types import checked
from openworld.features import Features
from openworld.learners.engine.fitted import FittedLearner, Learner, TrainedLearner
from openworld.learners.engine.images import Consumes, Images, Tensors, lifting, select_images
from openworld.learners.engine.text_bank import require_distinct
from openworld.learners.engine.training import PLAIN, Loop, Schedule, draw_batches, draw_batches_by_class, minimise


def fit_prompts(learner: TrainedLearner, clip: DualEncoder, features: Features, *, seed: int) -> FittedLearner:
    """Train a learner from its `start` by its `loss` under its `schedule`, and its `loop` where it has one."""
    require_trainable(learner, features)
    loop = getattr(learner, "loop", PLAIN)
    generator = torch.Generator().manual_seed(seed)
    start = learner.start(clip, features.classnames, generator)
    prepared = learner.prepare(clip, features.classnames)

    def loss(parameters: Tensors, images: Images, labels: Tensor) -> Tensors:
        return learner.loss(clip, parameters, images, labels, prepared)

    batches = batches_of(learner, clip, features, generator, loop)
    learned, history = minimise(start, loss, batches, learner.schedule, loop)
    return FittedLearner(learner, clip, tuple(features.classnames), learned, history)


def require_trainable(learner: Learner, features: Features) -> None:
    """Refuse to fit on no image, and on names that no prompt could tell apart."""
    if not len(features):
        raise OpenworldError(f"there is no image to fit {learner.name} on; give at least one shot of a class.")
    require_distinct(features.classnames)


def batches_of(
    learner: TrainedLearner,
    clip: Any,
    features: Features,
    generator: torch.Generator,
    loop: Loop = PLAIN,
    schedule: Schedule | None = None,
    consumes: Consumes | None = None,
):
    """Return, for `train`, a function from epoch to images and labels of its steps, one view of each."""
    labels = torch.as_tensor(features.labels, device=clip.device)
    schedule, consumes = schedule or learner.schedule, consumes or learner.consumes
    augmented, views_of = consumes != "embeddings", features.views
    if augmented and views_of is None:
        raise OpenworldError(
            f"{learner.name} trains on augmented views of images, and these features hold none; encode images with "
            "`encoding_for(learner, Encoding(views=...))`. On embeddings of your own, take a learner without views."
        )
    number = 0 if views_of is None else views_of.shape[1]
    if augmented and features.fresh_views and number < schedule.epochs:
        raise OpenworldError(
            f"{learner.name} trains {schedule.epochs} epochs, and of every image {number} fresh views "
            "came; encode one for every epoch."
        )
    draws = loop.draws(generator) if loop.draws else repeat(None)
    lifted = lifting(learner, clip) if hasattr(learner, "lift") else None

    def rows_of_steps() -> list[Tensor]:
        if loop.by_class:
            return draw_batches_by_class(labels.cpu(), schedule, generator)
        return draw_batches(len(features), schedule, generator)

    def batches(epoch: int) -> Iterator[tuple[Images, Tensor]]:
        for rows in rows_of_steps():
            views: Any = None
            if augmented and features.fresh_views:
                views = np.full(len(rows), epoch)
            elif augmented:
                views = torch.randint(number, (len(rows),), generator=generator).numpy()
            images = select_images(features, clip, consumes, rows.numpy(), views)
            pixels = lifted(list(zip(rows.tolist(), views, strict=True)), images.pixels) if lifted else None
            yield replace(images, draw=next(draws), rows=pixels), labels[rows.to(labels.device)]

    return batches


@checked
def fit_together(
    learner: TrainedLearner, clip: DualEncoder, trains: Sequence[Features], *, seeds: Sequence[int]
) -> list[FittedLearner]:
    """One `FittedLearner` per seed, as `learner.fit` gives it.

    Learners that run the image tower, train in stages, bring their own gradient or draw at random in a step are fitted
    one by one, and so are image sets that differ in names or size.

    Args:
        learner: of `LEARNERS`, with its settings.
        clip: the frozen backbone.
        trains: encoded training images of each seed.
        seeds: as many seeds.

    Raises:
        OpenworldError: not as many image sets as seeds, and what `fit` raises.
    """
    if len(trains) != len(seeds) or not seeds:
        raise OpenworldError(f"got {len(trains)} training sets for {len(seeds)} seeds; give one for each.")
    alike = len({(train.classnames, len(train)) for train in trains}) == 1
    loop = getattr(learner, "loop", PLAIN)
    one_stage = hasattr(learner, "schedule") and not getattr(learner, "in_stages", False)
    shares_passes = one_stage and learner.consumes != "pixels" and loop.gradient is None and loop.draws is None
    if not alike or not shares_passes:
        return [learner.fit(clip, train, seed=seed) for train, seed in zip(trains, seeds, strict=True)]
    names = trains[0].classnames
    generators = [torch.Generator().manual_seed(seed) for seed in seeds]
    for train_set in trains:
        require_trainable(learner, train_set)
    start = _side_by_side([learner.start(clip, names, generator) for generator in generators])
    loss = _map_over_seeds(learner, clip, learner.prepare(clip, names))
    each = [batches_of(learner, clip, *pair) for pair in zip(trains, generators, strict=True)]

    def batches(epoch: int) -> Iterator[tuple[Images, Tensor]]:
        for step in zip(*(of_one(epoch) for of_one in each), strict=True):
            images, labels = zip(*step, strict=True)
            yield Images(**_side_by_side(list(map(vars, images)))), torch.stack(labels)

    learned, history = minimise(start, loss, batches, learner.schedule, loop)
    fitted = []
    for place in range(len(seeds)):
        parameters = {name: tensor[place].clone() for name, tensor in learned.items()}
        mark = f"{place} "
        terms = tuple({key.removeprefix(mark): value for key, value in epoch.items() if key.startswith(mark)}
                      for epoch in history)  # fmt: skip
        fitted.append(FittedLearner(learner, clip, tuple(names), parameters, terms))
    return fitted


def _map_over_seeds(learner: TrainedLearner, clip: DualEncoder, prepared):
    """Return the loss of all seeds: every term of every seed under its place, and the sum of the totals."""

    def of_one(values: Tensors, tensors: Tensors, labels: Tensor) -> Tensors:
        return learner.loss(clip, values, Images(**tensors), labels, prepared)

    def loss(parameters: Tensors, images: Images, labels: Tensor) -> Tensors:
        tensors = {name: tensor for name, tensor in vars(images).items() if tensor is not None}
        terms = torch.func.vmap(of_one)(parameters, tensors, labels)
        apart = {f"{place} {name}": value for name, term in terms.items() for place, value in enumerate(term.detach())}
        return apart | {"total": terms["total"].sum()}

    return loss


def _side_by_side(each: list[Tensors]) -> Tensors:
    """Return the tensors of several seeds, where there are such, with a leading axis of seeds."""
    names = [name for name, tensor in each[0].items() if tensor is not None]
    return {name: torch.stack([tensors[name] for tensors in each]) for name in names}
