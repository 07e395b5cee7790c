"""How many images and classes a data set has: published, so that it need not be there, or counted where it comes along.

Where no count is published it follows from ImageNet's: 50 test images of a class, about 1,300 training images, 10 of
each ImageNetV2.
"""

from openworld.datasets import PUBLISHED, SHIFTED
from openworld.evaluations.image_selection import DatasetSpec

_CARDS = PUBLISHED | SHIFTED
_TRAIN_PER_TEST = 26  # of ImageNet's classes: about 1,300 and 50
_V2_SHARE = 0.2
_REGION_SHARE = 0.2  # of FMoW: five regions


def count_classes(dataset: str, domain: str | None = None) -> int:
    """Number of classes of a data set."""
    return _CARDS[dataset].classes if dataset in _CARDS else len(DatasetSpec(dataset, domain).classnames)


def count_images(dataset: str, domain: str | None, part: str) -> int:
    """Number of images of a part in a domain, about; of a training part, all that shots are drawn from.

    >>> count_images("cifar10.2", None, "train"), count_images("living17", "target imagenetv2", "test")
    (10000, 340)
    """
    if dataset not in _CARDS:
        return len(DatasetSpec(dataset, domain).images(part).load())
    known = _CARDS[dataset].pictures
    whole = known.get(part) or _TRAIN_PER_TEST * known["test"]
    variant = (domain or "").rpartition(" ")[2]
    if variant.startswith("imagenetv2"):
        return round(_V2_SHARE * whole)
    if variant == "imagenet-r":
        return PUBLISHED[variant].pictures["test"]
    return round(_REGION_SHARE * whole) if dataset == "fmow" and domain else whole
