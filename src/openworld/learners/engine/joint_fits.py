"""Several seeds of one learner as one batched pass: every text pass serves all seeds at once.

The loss is mapped over a leading seed axis of parameters and batches (`torch.func.vmap`). Seeds stay apart, because a
sum of their losses has each one's own gradient, and SGD and Adam work entry by entry. Every seed draws its start, its
shuffles and its views as it does alone, so the result is that of separate fits up to the order of floating-point sums.
"""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from openworld.backbones import DualEncoder
from openworld.core.errors import OpenworldError
from openworld.core.types import checked
from openworld.features import Features
from openworld.learners.engine.fitted import FittedLearner, TrainedLearner, batches_of, require_trainable
from openworld.learners.engine.images import Images, Tensors
from openworld.learners.engine.training import PLAIN, minimise


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
    start = _stack([learner.start(clip, names, generator) for generator in generators])
    loss = _map_over_seeds(learner, clip, learner.prepare(clip, names))
    each = [batches_of(learner, clip, *pair) for pair in zip(trains, generators, strict=True)]
    learned, history = minimise(start, loss, lambda epoch: _side_by_side(each, epoch), learner.schedule, loop)
    fitted = []
    for place in range(len(seeds)):
        own = {name: tensor[place].clone() for name, tensor in learned.items()}
        mark = f"{place} "
        terms = tuple({key.removeprefix(mark): value for key, value in epoch.items() if key.startswith(mark)}
                      for epoch in history)  # fmt: skip
        fitted.append(FittedLearner(learner, clip, tuple(names), own, terms))
    return fitted


def _map_over_seeds(learner: TrainedLearner, clip: DualEncoder, prepared):
    """Return the loss of all seeds: every term of every seed under its place, and the sum of the totals."""

    def of_one(values: Tensors, given: Tensors, labels: Tensor) -> Tensors:
        return learner.loss(clip, values, Images(**given), labels, prepared)

    def loss(parameters: Tensors, images: Images, labels: Tensor) -> Tensors:
        tensors = {name: tensor for name, tensor in vars(images).items() if tensor is not None}
        terms = torch.func.vmap(of_one)(parameters, tensors, labels)
        apart = {f"{place} {name}": value for name, term in terms.items() for place, value in enumerate(term.detach())}
        return apart | {"total": terms["total"].sum()}

    return loss


def _side_by_side(each: list, epoch: int) -> Iterator[tuple[Images, Tensor]]:
    for step in zip(*(batches(epoch) for batches in each), strict=True):
        images, labels = zip(*step, strict=True)
        tensors = [{name: tensor for name, tensor in vars(chunk).items() if tensor is not None} for chunk in images]
        yield Images(**_stack(tensors)), torch.stack(labels)


def _stack(each: list[Tensors]) -> Tensors:
    return {name: torch.stack([tensors[name] for tensors in each]) for name in each[0]}
