"""Image sets, class names, splits, few-shot draws, and the embedded world of drawings.

train = datasets.load("emoji-concepts", domain="twemoji", part="train", shots=16, seed=1)
test = datasets.load("emoji-concepts", domain="emojione-monotone")
mine = datasets.load("path/to/pictures", part="test")
"""

from openworld.datasets import composite, drawings, emoji, folder, splits, templates
from openworld.datasets.cards import DATASETS, DatasetCard, load
from openworld.datasets.image_set import ImageSet
from openworld.datasets.splits import base_new_split, few_shot

__all__ = [
    "DATASETS",
    "DatasetCard",
    "ImageSet",
    "base_new_split",
    "composite",
    "drawings",
    "emoji",
    "few_shot",
    "folder",
    "load",
    "splits",
    "templates",
]
