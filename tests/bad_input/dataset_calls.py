"""Settings and functions of `openworld.datasets`."""

import os
import random
from functools import wraps
from unittest import mock

import numpy as np
from generated import generated
from judging import new_folder
from PIL import Image

from openworld import datasets
from openworld.core.arrays import ArrayLike
from openworld.datasets import ClassSplit, ImageSet

FOLDER = new_folder()
LABELS = np.array([0, 1, 2, 1, 0, 2])


def white(number):
    return Image.new("RGB", (4, 4), (number, 255, 255))


def drawn(labels: ArrayLike, shots: int, generator: random.Random):
    """From the same state of the generator, call by call."""
    is_one = isinstance(generator, random.Random)
    return datasets.few_shot(labels, shots, random.Random(0) if is_one else generator)


@wraps(datasets.use_root)
def use_root(root):
    with mock.patch.dict(os.environ):
        return datasets.use_root(root)


PATHS = {"path": np.array([f"cat/{number}_1.png" for number in range(6)], object)}
SIX = ImageSet("six", "", ("cat", "dog", "owl"), LABELS, np.arange(6), "white squares", white, columns=PATHS)


CALLS = {
    "ClassSplit": generated(
        ClassSplit, {"names": ("cat", "dog", "owl"), "base": np.array([0, 1]), "new": np.array([2])}
    ),
    "ClassSplit.of": generated(ClassSplit.of, {"names": ("cat", "dog", "owl"), "order": np.array([2, 0, 1])}),
    "ClassSplit.by_names": generated(ClassSplit.by_names, {"names": ("cat", "dog", "owl"), "base": ["owl"]}),
    "ImageSet": generated(
        ImageSet,
        {"name": "six", "domain": "", "classnames": SIX.classnames, "labels": LABELS, "groups": np.arange(6)}
        | {"content": "white", "read": white},
        free=("name", "domain", "content"),
    ),
    "ImageSet.subset": generated(SIX.subset, {"indices": np.array([0, 5])}),
    "ImageSet.image": generated(SIX.image, {"index": 0}),
    "base_new_split": generated(datasets.base_new_split, {"classes": 3, "order": np.array([2, 0, 1])}),
    "check": generated(datasets.check, {"name": "dtd", "root": FOLDER}, free=("root",)),
    "coop_draw": generated(datasets.coop_draw, {"train": LABELS, "validation": LABELS, "shots": 1, "seed": 1}),
    "cut_by_names": generated(datasets.cut_by_names, {"images": SIX, "base": ["owl"]}),
    "few_shot": generated(drawn, {"labels": LABELS, "shots": 1, "generator": random.Random(0)}),
    "grouped": generated(datasets.grouped, {"images": SIX, "pattern": "(.)_1"}, like_taken=[("pattern", "empty text")]),
    "has_part": generated(datasets.has_part, {"name": "emoji-concepts", "part": "test"}, free=("name", "domain")),
    "load": generated(
        datasets.load,
        {"name": "emoji-groups", "part": "train", "shots": 2},
        free=("root",),
        like_taken=[("domain", "empty text")],
    ),
    "require_places": generated(datasets.require_places, {"names": ["emoji-groups"]}, free=("names", "root")),
    "reseeded_few_shot": generated(datasets.reseeded_few_shot, {"labels": LABELS, "shots": 1, "seed": 1}),
    "use_root": generated(use_root, {"root": FOLDER}, like_taken=[("root", "empty text")]),
}
RESULTS = frozenset({"DatasetCard"})
"""Classes of visible dicts; nobody makes them by hand."""
ELSEWHERE = {"Draw": "an annotation", "imagenet_labels": "the files of ImageNet, in tests/datasets/published"}
