"""How the papers train the models whose accuracy they estimate: one recipe per data set.

ATC: Garg et al., "Leveraging unlabeled data to predict out-of-distribution performance", 2022, and
saurabhgarg1996/ATC_code @ 6f1e336; COT: Lu et al., "Characterizing out-of-distribution error via optimal transport",
2023, and luyuzhe111/COT @ 392c0ff; FRAP follows them, says epochs "different" without a list, and takes the seeds 0, 1
and 10. Where ATC and COT differ, COT's numbers stand here: FRAP reports its rows on COT's data.

What the table cannot say: torchvision moves pictures over a black edge, we repeat the last row; weights begin as torch
begins them.
"""

from dataclasses import dataclass, replace

from openworld._types import checked
from openworld.classifiers.recipe import Recipe


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


def _every(step: int, epochs: int) -> tuple[int, ...]:
    return tuple(range(step, epochs + 1, step))


_FINE_TUNED = Recipe(
    optimiser="adam", learning_rate=1e-4, weight_decay=0.0, decay="epochs", gamma=0.96, batch_size=64, epochs=50,
    flip=True, shift=0, side=224, resize=256, pretrained=True, checkpoints=_every(5, 50),
)  # fmt: skip
_CIFAR = Recipe(
    learning_rate=0.1, weight_decay=5e-4, batch_size=200, epochs=300, decay="steps", milestones=(100, 200),
    flip=True, shift=4, checkpoints=(300,),
)  # fmt: skip
_BREEDS = Recipe(
    learning_rate=0.1, weight_decay=1e-2, batch_size=128, epochs=450, decay="steps", milestones=(150, 300),
    flip=True, shift=0, side=224, resize=256, checkpoints=(450,),
)  # fmt: skip
_MNIST = Recipe(
    learning_rate=0.01, weight_decay=1e-5, batch_size=200, epochs=50, decay="none", shift=0, side=28,
    checkpoints=_every(5, 50),
)  # fmt: skip

_SMALL = ("resnet-18", "densenet-121")
_LARGE = ("timm:resnet50", "timm:densenet121")

_ONE_RATE = replace(_FINE_TUNED, decay="none", epochs=10, checkpoints=(10,))
_ENTITY = replace(_BREEDS, epochs=300, milestones=(100, 200), checkpoints=(300,))

PUBLISHED: dict[str, PublishedTraining] = {
    "mnist": PublishedTraining(("convnet",), _MNIST, "ATC's settings for its fully connected network; FRAP's ConvNet"),
    "cifar10": PublishedTraining(_SMALL, _CIFAR, "COT (ATC: 350 epochs, steps at 150 and 250, judged after 300)"),
    "cifar100": PublishedTraining(_SMALL, _CIFAR, "COT (ATC: 350 epochs, steps at 150 and 250, judged after 300)"),
    "imagenet": PublishedTraining(_LARGE, _ONE_RATE, "ATC, COT"),
    "imagenet-200": PublishedTraining(_LARGE, _FINE_TUNED, "ATC, COT"),
    "tiny-imagenet": PublishedTraining(_LARGE, _FINE_TUNED, "ATC's and COT's settings for ImageNet-200"),
    "fmow": PublishedTraining(_LARGE, _FINE_TUNED, "ATC, COT"),
    **{name: PublishedTraining(_LARGE, _BREEDS, "COT (ATC: weight decay 1e-4, batches of 100, steps at 150 and 250)")
       for name in ("living17", "nonliving26")},
    **{name: PublishedTraining(_LARGE, _ENTITY, "COT (ATC: weight decay 1e-4, batches of 100)")
       for name in ("entity13", "entity30")},
}  # fmt: skip
"""Data set -> how it is trained on; the large networks for BREEDS begin untrained."""


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
