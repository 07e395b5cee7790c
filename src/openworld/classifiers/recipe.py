"""How a classifier is trained: optimiser, learning rates, epochs, what images are made to look like; and by whom so.

ATC: Garg et al., "Leveraging unlabeled data to predict out-of-distribution performance", 2022, and
saurabhgarg1996/ATC_code @ 6f1e336; COT: Lu et al., "Characterizing out-of-distribution error via optimal transport",
2023, and luyuzhe111/COT @ 392c0ff; FRAP follows them, says epochs "different" without a list, and takes the seeds 0, 1
and 10. Where ATC and COT differ, COT's numbers stand in recipes.toml: FRAP reports its rows on COT's data. What the
table cannot say: torchvision moves images over a black edge, we repeat the last row; weights begin as torch begins
them.
"""

import math
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from openworld.core.arrays import LARGEST, MOST, require_at_least
from openworld.core.errors import OpenworldError
from openworld.core.plain_files import facts
from openworld.core.types import Count, Positive, Range, Share, checked

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
        batch_size: images per step, at least 1; a last, smaller batch is trained on unless it is of one image.
        epochs: passes over the training images, at least 1.
        decay: "steps": times `gamma` at every epoch in `milestones`; "epochs": times `gamma` after every epoch;
            "cosine": to 0 over all steps; "none".
        milestones: numbers of epochs already done, ascending; for "steps" alone.
        gamma: in (0, 1].
        flip: mirror every second image.
        shift: move images by up to so many pixels each way, edges repeated.
        side: of the images, in pixels; resize: what their shorter side is brought to before they are cut, None for
            `side`.
        pretrained: begin from published weights (timm's models alone).
        checkpoints: epochs whose weights are kept, ascending; () for the last one.

    Raises:
        OpenworldError: a number outside its range, a checkpoint or milestone beyond the last epoch.

    >>> Recipe(epochs=30, checkpoints=(10, 30)).kept
    (10, 30)
    """

    optimiser: Optimiser = "sgd"
    learning_rate: Annotated[float, Range(0, LARGEST)] = 0.03
    momentum: Share = 0.9
    weight_decay: Annotated[float, Range(0, LARGEST)] = 5e-4
    batch_size: Positive = 64
    epochs: Annotated[int, Range(1, MOST["epochs"])] = 12
    decay: Decay = "cosine"
    milestones: tuple[int, ...] = ()
    gamma: Annotated[float, Range(0, 1, "(]")] = 0.1
    flip: bool = False
    shift: Count = 2
    side: Annotated[int, Range(1, MOST["side"])] = 32
    resize: int | None = None
    pretrained: bool = False
    checkpoints: tuple[int, ...] = ()

    def __post_init__(self):
        require_at_least(self.side, resize=self.side if self.resize is None else self.resize)
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


@checked
@dataclass(frozen=True)
class PublishedTraining:
    """What a paper trains on a data set.

    Args:
        architectures: names for `build`.
        recipe: settings, with the checkpoints that are judged.
        source: whose.
    """

    architectures: tuple[str, ...]
    recipe: Recipe
    source: str


SEEDS = (0, 1, 10)
"""Of COT and FRAP; ATC takes 42, 1111, 1234 and 9999."""


def _published() -> dict[str, PublishedTraining]:
    said = facts("openworld.classifiers", "recipes.toml")
    recipes: dict[str, Recipe] = {}
    for name, settings in said["recipes"].items():
        values: Any = {key: tuple(value) if isinstance(value, list) else value for key, value in settings.items()}
        like = recipes[values.pop("like")] if "like" in values else Recipe()
        recipes[name] = replace(like, **values)
    return {
        dataset: PublishedTraining(tuple(said["networks"][one["networks"]]), recipes[one["recipe"]], one["source"])
        for dataset, one in said["trainings"].items()
    }


PUBLISHED: dict[str, PublishedTraining] = _published()
"""Data set -> how it is trained on."""


EMBEDDED = PublishedTraining(("convnet", "resnet-8", "densenet-18"), Recipe(checkpoints=(4, 8, 12)), "ours")
"""For the embedded world, and wherever no paper says better: a minute of one core each, judged three times on the way
from a half to nineteen twentieths right (concepts, four styles, 16 shots)."""


@checked
def published(dataset: str) -> Recipe:
    """The recipe of a data set; that of the embedded world for one that no paper names.

    >>> published("cifar10").milestones, published("emoji-concepts").checkpoints
    ((100, 200), (4, 8, 12))
    """
    return PUBLISHED.get(dataset, EMBEDDED).recipe


@checked
def published_architectures(dataset: str) -> tuple[str, ...]:
    """The networks of a data set; three small ones for one that no paper names.

    >>> published_architectures("mnist")
    ('convnet',)
    """
    return PUBLISHED.get(dataset, EMBEDDED).architectures
