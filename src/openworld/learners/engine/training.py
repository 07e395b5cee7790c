"""The one training loop of the prompt learners: schedule, steps, and the few places where a learner may step in."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from torch import Tensor

from openworld.core.errors import OpenworldError
from openworld.core.gpu_memory import keeping_batch
from openworld.core.types import NotNegative, Positive, Share, checked
from openworld.learners.engine.images import Images, Tensors

Decay = Literal["per epoch", "per step", "none"]
Optimizer = Literal["SGD", "Adam", "AdamW"]

WARMUP_RATE = 1e-5


@checked
@dataclass(frozen=True)
class Schedule:
    """SGD with a cosine per epoch, as Dassl runs it, unless told otherwise.

    Args:
        epochs: passes over the training images, at least 1.
        batch_size: images per step, at least 1.
        learning_rate: at the top of the cosine, not negative.
        momentum: in [0, 1].
        weight_decay: not negative; it acts on the prompts too (added to the gradient; AdamW takes it off the numbers
            themselves).
        warmup: the first epoch runs at a constant 1e-5, and the cosine starts after it.
        cosine_epochs: half period T_max of the cosine, in epochs (in steps where it decays per step), at least 1; None
            for `epochs`.
        decay: whether the cosine moves on with every epoch or with every step, or the rate stays ("none").
        optimizer: "SGD", or "Adam" or "AdamW" (betas 0.9 and 0.999, `momentum` unused).
        adam_epsilon: of Adam and AdamW, not negative.
        drop_last: leave out the last, smaller batch of an epoch when there is a full one.

    Raises:
        OpenworldError: a number outside its range.
    """

    epochs: Positive = 50
    batch_size: Positive = 32
    learning_rate: NotNegative = 2e-3
    momentum: Share = 0.9
    weight_decay: NotNegative = 5e-4
    warmup: bool = True
    cosine_epochs: Positive | None = None
    decay: Decay = "per epoch"
    optimizer: Optimizer = "SGD"
    adam_epsilon: NotNegative = 1e-8
    drop_last: bool = True

    def rate(self, epoch: int, step: int = 0) -> float:
        """The learning rate of one epoch, counted from 0; where it decays per step, of one step of the whole training.

        >>> [round(Schedule(epochs=50).rate(epoch), 8) for epoch in (0, 1, 2, 49)]
        [1e-05, 0.002, 0.00199803, 7.89e-06]
        """
        if self.warmup and epoch == 0:
            return WARMUP_RATE
        if self.decay == "none":
            return self.learning_rate
        position = (step if self.decay == "per step" else epoch - self.warmup) / (self.cosine_epochs or self.epochs)
        return 0.5 * self.learning_rate * (1 + math.cos(math.pi * position))

    def steps(self, count: int) -> int:
        """Steps of one epoch over so many images.

        >>> Schedule(batch_size=32).steps(100), Schedule(batch_size=32, drop_last=False).steps(100)
        (3, 4)
        """
        whole, rest = divmod(count, self.batch_size)
        return whole + bool(rest and (not self.drop_last or not whole))


@checked
@dataclass(frozen=True)
class Loop:
    """Where a learner's training differs from plain descent on its total loss.

    Args:
        gradient: (loss terms, parameters) to the gradient of every parameter by name, in place of that of "total".
        draws: a CPU generator to one random tensor per step, without end; a step finds it in `Images.draw`.
        epoch_weights: a weight per epoch; the result is the weighted sum of the parameters after each epoch.
        rate_factors: parameter name, or its part before the first dot, to factor on its learning rate (not in the
            warm-up epoch).
        warmup_rate: in the warm-up epoch.
        floor: the learning rate at which the cosine ends.
        by_class: whether all images of a step are of one class, where every class has enough of them.
    """

    gradient: Callable[[Tensors, Mapping[str, Tensor]], Mapping[str, Tensor]] | None = None
    draws: Callable[[torch.Generator], Iterator[Tensor]] | None = None
    epoch_weights: Sequence[float] | None = None
    rate_factors: Mapping[str, float] = field(default_factory=dict)
    warmup_rate: float = WARMUP_RATE
    floor: float = 0.0
    by_class: bool = False


PLAIN = Loop()
"""Descent on the total loss, and nothing else."""


def trainable(parameters: Tensors) -> Tensors:
    """Return the same tensors as leaves that collect gradients."""
    return {name: tensor.detach().requires_grad_(True) for name, tensor in parameters.items()}


def minimise(
    start: Tensors,
    loss: Callable[[Tensors, Images, Tensor], Tensors],
    batches: Callable[[int], Iterator[tuple[Images, Tensor]]],
    schedule: Schedule,
    loop: Loop = PLAIN,
) -> tuple[Tensors, tuple[dict[str, float], ...]]:
    """Lower `loss`, a function of tensors that begin as `start`; return them, and the mean terms of each epoch."""
    parameters = trainable(start)
    groups = [{"params": [tensor], "name": name} for name, tensor in parameters.items()]
    settings: Any = {"lr": 0.0, "weight_decay": schedule.weight_decay}
    if schedule.optimizer == "SGD":
        optimizer = torch.optim.SGD(groups, momentum=schedule.momentum, **settings)
    else:
        optimizer = getattr(torch.optim, schedule.optimizer)(groups, eps=schedule.adam_epsilon, **settings)
    steps, history = 0, []
    average = {name: torch.zeros_like(tensor) for name, tensor in parameters.items()}
    for epoch in range(schedule.epochs):
        terms = []
        for images, labels in batches(epoch):
            _set_rates(optimizer, schedule, loop, epoch, steps)
            with keeping_batch(schedule.batch_size):
                terms.append(_step(optimizer, parameters, loss(parameters, images, labels), loop.gradient))
            steps += 1
        history.append({name: float(torch.stack([step[name] for step in terms]).mean()) for name in terms[0]})
        if not math.isfinite(history[-1]["total"]):
            raise OpenworldError("training diverged: the loss is not finite; lower the learning rate.")
        if loop.epoch_weights is not None:
            for name, tensor in parameters.items():
                average[name] += loop.epoch_weights[epoch] * tensor.detach()
    last = {name: tensor.detach() for name, tensor in parameters.items()}
    return (last if loop.epoch_weights is None else average), tuple(history)


def draw_batches(count: int, schedule: Schedule, generator: torch.Generator) -> list[Tensor]:
    """Return the images int64[b] of every step of one epoch, shuffled by a CPU generator."""
    return list(torch.randperm(count, generator=generator).split(schedule.batch_size))[: schedule.steps(count)]


def draw_batches_by_class(labels: Tensor, schedule: Schedule, generator: torch.Generator) -> list[Tensor]:
    """Return the same, all of one class in a step, where every class has enough images for one."""
    size, batches = schedule.batch_size, []
    if int(labels.bincount().min()) < size:
        return draw_batches(len(labels), schedule, generator)
    for label in labels.unique():
        (rows,) = torch.nonzero(labels == label, as_tuple=True)
        shuffled = rows[torch.randperm(len(rows), generator=generator)]
        batches += [batch for batch in shuffled.split(size) if len(batch) == size]
    return [batches[place] for place in torch.randperm(len(batches), generator=generator).tolist()]


def _set_rates(optimizer: torch.optim.Optimizer, schedule: Schedule, loop: Loop, epoch: int, step: int) -> None:
    if schedule.warmup and epoch == 0:
        rate, factors = loop.warmup_rate, {}
    else:
        rate, factors = schedule.rate(epoch, step), loop.rate_factors
        rate += loop.floor * (1 - rate / schedule.learning_rate) if loop.floor else 0.0
    for group in optimizer.param_groups:
        name = group["name"]
        group["lr"] = rate * factors.get(name, factors.get(name.partition(".")[0], 1.0))


def _step(optimizer: torch.optim.Optimizer, parameters: Tensors, terms: Tensors, gradient: Callable | None) -> Tensors:
    optimizer.zero_grad()
    if gradient is None:
        terms["total"].backward()
    else:
        for name, value in gradient(terms, parameters).items():
            parameters[name].grad = value
    optimizer.step()
    return {name: term.detach() for name, term in terms.items()}
