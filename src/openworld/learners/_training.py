"""The one training loop of the prompt learners that need only cached image embeddings."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from openworld._arrays import require_at_least
from openworld._errors import OpenworldError

WARMUP_RATE = 1e-5


@dataclass(frozen=True)
class Schedule:
    """SGD with a cosine per epoch, as Dassl runs it.

    Args:
        epochs: passes over the training images, at least 1.
        batch_size: images per step, at least 1.
        learning_rate: at the top of the cosine, not negative.
        momentum, weight_decay: of SGD, not negative; weight decay acts on the prompts too.
        warmup: the first epoch runs at a constant 1e-5, and the cosine starts after it.
        cosine_epochs: half period T_max of the cosine, in epochs, at least 1; None for `epochs`.
        drop_last: leave out the last, smaller batch of an epoch when there is a full one.

    Raises:
        OpenworldError: a number outside its range.
    """

    epochs: int = 50
    batch_size: int = 32
    learning_rate: float = 2e-3
    momentum: float = 0.9
    weight_decay: float = 5e-4
    warmup: bool = True
    cosine_epochs: int | None = None
    drop_last: bool = True

    def __post_init__(self):
        require_at_least(1, epochs=self.epochs, batch_size=self.batch_size, cosine_epochs=self._period)
        require_at_least(0, learning_rate=self.learning_rate, momentum=self.momentum, weight_decay=self.weight_decay)

    def rate(self, epoch: int) -> float:
        """The learning rate of one epoch, counted from 0.

        >>> [round(Schedule(epochs=50).rate(epoch), 8) for epoch in (0, 1, 2, 49)]
        [1e-05, 0.002, 0.00199803, 7.89e-06]
        """
        if self.warmup and epoch == 0:
            return WARMUP_RATE
        position = (epoch - self.warmup) / self._period
        return 0.5 * self.learning_rate * (1 + math.cos(math.pi * position))

    @property
    def _period(self) -> int:
        return self.epochs if self.cosine_epochs is None else self.cosine_epochs


def train(
    parameters: dict[str, Tensor],
    loss: Callable[[Tensor, Tensor], dict[str, Tensor]],
    sample: Callable[[Tensor], tuple[Tensor, Tensor]],
    count: int,
    schedule: Schedule,
    generator: torch.Generator,
) -> tuple[dict[str, float], ...]:
    """Minimise `loss` in place.

    Args:
        parameters: leaf tensors by name; changed in place.
        loss: (embeddings, labels) of a batch to its terms; "total" is minimised.
        sample: rows int64[b] to (embeddings, labels) of a batch.
        count: number of training images.
        schedule: epochs, batches, learning rates.
        generator: CPU generator of the shuffles.

    Returns:
        The mean of every loss term, one dict per epoch.
    """
    optimizer = torch.optim.SGD(
        parameters.values(), lr=0.0, momentum=schedule.momentum, weight_decay=schedule.weight_decay
    )
    history = []
    for epoch in range(schedule.epochs):
        for group in optimizer.param_groups:
            group["lr"] = schedule.rate(epoch)
        batches = _batches(count, schedule, generator)
        history.append(_mean_terms([_step(optimizer, loss, *sample(rows)) for rows in batches]))
    return tuple(history)


def _batches(count: int, schedule: Schedule, generator: torch.Generator) -> list[Tensor]:
    batches = list(torch.randperm(count, generator=generator).split(schedule.batch_size))
    ragged = schedule.drop_last and len(batches) > 1 and len(batches[-1]) < schedule.batch_size
    return batches[:-1] if ragged else batches


def _step(optimizer, loss, embeddings: Tensor, labels: Tensor) -> dict[str, Tensor]:
    optimizer.zero_grad()
    terms = loss(embeddings, labels)
    terms["total"].backward()
    optimizer.step()
    return {name: term.detach() for name, term in terms.items()}


def _mean_terms(steps: list[dict[str, Tensor]]) -> dict[str, float]:
    means = {name: float(torch.stack([step[name] for step in steps]).mean()) for name in steps[0]}
    if not math.isfinite(means["total"]):
        raise OpenworldError("training diverged: the loss is not finite; lower the learning rate.")
    return means
