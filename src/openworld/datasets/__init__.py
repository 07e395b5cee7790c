"""Image sets, class names, splits, few-shot draws; the embedded world of drawings, and the data sets of the papers.

`openworld.datasets.corruptions`, which needs SciPy's slower half, is imported by who wants it.

train = datasets.load("emoji-concepts", domain="twemoji", part="train", shots=16, seed=1)
test = datasets.load("emoji-concepts", domain="emojione-monotone")
mine = datasets.load("path/to/images", part="test")
pets = datasets.load("oxford_pets", root="path/to/data", part="train", shots=16, seed=1)
"""

from typing import TYPE_CHECKING

from openworld.core.lazy import lazily

if TYPE_CHECKING:
    from openworld.datasets import emoji, splits, templates
    from openworld.datasets.cards import DATASETS, DatasetCard, has_part, load
    from openworld.datasets.checking import check, require_places
    from openworld.datasets.emoji import composite, drawings
    from openworld.datasets.formats import folder, hub, listing, tars
    from openworld.datasets.image_set import ImageSet
    from openworld.datasets.names import taxonomy
    from openworld.datasets.pooling import cut_by_names, grouped
    from openworld.datasets.published import breeds, downloaded
    from openworld.datasets.published.catalogue import PUBLISHED, SHIFTED
    from openworld.datasets.published.downloaded import imagenet_labels, use_root
    from openworld.datasets.splits import ClassSplit, Draw, base_new_split, coop_draw, few_shot, reseeded_few_shot

__getattr__, __dir__ = lazily(__name__, __file__)

__all__ = [
    "ClassSplit",
    "Draw",
    "DATASETS",
    "DatasetCard",
    "PUBLISHED",
    "ImageSet",
    "SHIFTED",
    "base_new_split",
    "breeds",
    "check",
    "coop_draw",
    "composite",
    "downloaded",
    "drawings",
    "emoji",
    "cut_by_names",
    "few_shot",
    "reseeded_few_shot",
    "grouped",
    "folder",
    "has_part",
    "hub",
    "imagenet_labels",
    "listing",
    "load",
    "require_places",
    "splits",
    "tars",
    "taxonomy",
    "templates",
    "use_root",
]
