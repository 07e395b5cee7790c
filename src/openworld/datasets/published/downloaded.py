"""Loading what people downloaded: the published data sets below one folder, laid out as CoOp does."""

import os
import random
import shlex
from pathlib import Path

import numpy as np

from openworld._errors import OpenworldError, unknown_name
from openworld._types import checked
from openworld.datasets.formats import files
from openworld.datasets.formats.split_files import Split
from openworld.datasets.image_set import ImageSet
from openworld.datasets.published.catalogue import PUBLISHED, PublishedSet
from openworld.datasets.published.class_folders import ClassFolders, find_listing, read_names
from openworld.datasets.splits import coop_draw, few_shot

VARIABLE = "OPENWORLD_DATA"
"""Environment variable that names the folder of all data sets."""


def load(
    name: str,
    *,
    root: str | Path | None = None,
    domain: str | None = None,
    part: str = "test",
    shots: int | None = None,
    seed: int = 0,
) -> ImageSet:
    """Return a part of a published data set, in the order of its lists; every image is a group.

    Of "validation", `shots` are the min(shots, 4) per class that CoOp draws after those of "train". The draw is over
    all classes: runs on base classes and on all of them share their images. The options are those of `datasets.load`.
    Raises OpenworldError without a root, for a part that is not there, and for files that are missing or not as
    expected.
    """
    card = find(name)
    if domain:
        raise OpenworldError(f"{name!r} has no domains, so no {domain!r}; leave the domain out.")
    if part not in card.parts:
        raise unknown_name(f"part of {name}", part, card.parts)
    drawing = part == "validation" and shots is not None
    split = read(name, root, ("train", part) if drawing else (part,))
    folder, chosen = find_root(root), _chosen(split, part, shots, seed)
    try:
        images = folder / card.folder / card.images
        return files.image_set(name, images, split.classnames, split.parts[part], chosen)
    except OpenworldError as error:
        raise OpenworldError(f"{error} {_check_says(name, folder)} all that is missing or wrong.") from error


def read(name: str, root: str | Path | None, parts: tuple[str, ...]) -> Split:
    """What a published data set's lists say: class names, WordNet ids and pictures, whether or not these are there."""
    card, folder = find(name), find_root(root)
    if not (folder / card.folder).is_dir():
        raise OpenworldError(
            f"there is no folder {folder / card.folder}. {_check_says(name, folder)} what to download and where to put "
            "it."
        )
    return card.read(folder, parts)


@checked
def imagenet_labels(name: str, root: str | Path | None = None) -> np.ndarray:
    """Return ImageNet's label of every class of ImageNet or a variant, int64[C], increasing, joined by WordNet id.

    `name` is "imagenet", "imagenetv2", "imagenet-sketch", "imagenet-a" or "imagenet-r"; `root` as for `load`. There are
    1,000 labels, 200 for A and R. Raises OpenworldError for another data set, or files that are missing.
    """
    card = find(name)
    if not isinstance(card.layout, ClassFolders):
        raise OpenworldError(f"{name!r} has no WordNet ids; only ImageNet and its variants have.")
    every, _ = read_names(find_listing(find_root(root) / card.folder))
    place = {wordnet_id: label for label, wordnet_id in enumerate(every)}
    return np.array([place[one] for one in read(name, root, ("test",)).wordnet_ids], dtype=np.int64)


def find(name: str) -> PublishedSet:
    """The card of a published data set by name."""
    if name not in PUBLISHED:
        raise unknown_name("data set to download", name, PUBLISHED)
    return PUBLISHED[name]


def find_root(root: str | Path | None) -> Path:
    """The folder of all data sets: `root`, or what `$OPENWORLD_DATA` names."""
    named = root or os.environ.get(VARIABLE)
    if not named:
        raise OpenworldError(
            f"where the data sets lie was not said; name their folder: --data of openworld run, --root of openworld "
            f"data, root in Python, or {VARIABLE} in the environment."
        )
    return Path(named).expanduser()


@checked
def use_root(root: str | Path) -> Path:
    """From now on find data sets below a folder, here and in every process that is started from here.

    The folder goes into `$OPENWORLD_DATA`, which worker processes inherit, and into nothing else: what a run computes
    depends on the images, whose fingerprints it keeps, and not on where they lie. Returns the folder as an absolute
    path; raises OpenworldError where there is none.
    """
    folder = Path(root).expanduser().absolute()
    if not folder.is_dir():
        raise OpenworldError(f"there is no folder {folder}; give the folder that holds the data sets.")
    os.environ[VARIABLE] = str(folder)
    return folder


def _check_says(name: str, root: Path) -> str:
    return f"openworld data check {name} --root {shlex.quote(str(root))} says"


def _chosen(split: Split, part: str, shots: int | None, seed: int) -> np.ndarray | None:
    """Which pictures of the part; None for all."""
    if shots is None:
        return None
    if part == "validation":
        return coop_draw(split.parts["train"].labels, split.parts[part].labels, shots, seed)[1]
    return few_shot(split.parts[part].labels, shots, random.Random(seed))
