"""How a classifier is trained: optimiser, learning rates, epochs, what pictures are made to look like."""

import math
from dataclasses import dataclass
from typing import Literal

from openworld._arrays import require_at_least, require_at_most
from openworld._errors import OpenworldError
from openworld._types import checked

Optimiser = Literal["sgd", "adam"]
Decay = Literal["steps", "epochs", "cosine", "none"]


@checked
@dataclass(frozen=True)
class Recipe:
    """The settings of one training; the defaults are those of the embedded world.

    Args:
        optimiser: "sgd", or "adam" (betas 0.9 and 0.999, `momentum` unused).
        learning_rate: the largest, not negative.
        momentum: in [0, 1]. weight_decay: not negative; weight decay is added to the gradient of every weight.
        batch_size: pictures per step, at least 1; a last, smaller batch is trained on unless it is of one picture.
        epochs: passes over the training pictures, at least 1.
        decay: "steps": times `gamma` at every epoch in `milestones`; "epochs": times `gamma` after every epoch;
            "cosine": to 0 over all steps; "none".
        milestones: numbers of epochs already done, ascending; for "steps" alone.
        gamma: in (0, 1].
        flip: mirror every second picture.
        shift: move pictures by up to so many pixels each way, edges repeated.
        side: of the pictures, in pixels; resize: what their shorter side is brought to before they are cut, None for
            `side`.
        pretrained: begin from published weights (timm's models alone).
        checkpoints: epochs whose weights are kept, ascending; () for the last one.

    Raises:
        OpenworldError: a number outside its range, a checkpoint or milestone beyond the last epoch.

    >>> Recipe(epochs=30, checkpoints=(10, 30)).kept
    (10, 30)
    """

    optimiser: Optimiser = "sgd"
    learning_rate: float = 0.03
    momentum: float = 0.9
    weight_decay: float = 5e-4
    batch_size: int = 64
    epochs: int = 12
    decay: Decay = "cosine"
    milestones: tuple[int, ...] = ()
    gamma: float = 0.1
    flip: bool = False
    shift: int = 2
    side: int = 32
    resize: int | None = None
    pretrained: bool = False
    checkpoints: tuple[int, ...] = ()

    def __post_init__(self):
        require_at_least(1, epochs=self.epochs, batch_size=self.batch_size, side=self.side)
        require_at_least(0, learning_rate=self.learning_rate, momentum=self.momentum, weight_decay=self.weight_decay)
        require_at_most(1, momentum=self.momentum)
        require_at_least(0, shift=self.shift)
        require_at_least(self.side, resize=self.side if self.resize is None else self.resize)
        if not 0 < self.gamma <= 1:
            raise OpenworldError(f"gamma is {self.gamma}, expected a factor in (0, 1].")
        for name, places in (("checkpoints", self.checkpoints), ("milestones", self.milestones)):
            if list(places) != sorted(set(places)) or not all(1 <= place <= self.epochs for place in places):
                raise OpenworldError(f"{name} are {places}, expected ascending epochs from 1 to {self.epochs}.")

    @property
    def kept(self) -> tuple[int, ...]:
        """The epochs whose weights are kept."""
        return self.checkpoints or (self.epochs,)

    def rate(self, epoch: float) -> float:
        """The learning rate after so many epochs, fractions of one included.

        >>> steps = Recipe(learning_rate=1, decay="steps", epochs=30, milestones=(10, 20))
        >>> [round(steps.rate(epoch), 4) for epoch in (0, 9.9, 10, 25)]
        [1.0, 1.0, 0.1, 0.01]
        """
        factor = {
            "steps": self.gamma ** sum(epoch >= milestone for milestone in self.milestones),
            "epochs": self.gamma ** int(epoch),
            "cosine": (1 + math.cos(math.pi * epoch / self.epochs)) / 2,
            "none": 1,
        }[self.decay]
        return self.learning_rate * factor
