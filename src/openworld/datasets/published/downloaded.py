"""Loading what people downloaded, below one folder of all data sets; every file is read as it is published."""

import csv
import os
import shlex
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from openworld.core.errors import OpenworldError, unknown_name
from openworld.core.plain_files import reading
from openworld.core.types import checked
from openworld.datasets.formats import files
from openworld.datasets.formats.files import ImageRows, Split
from openworld.datasets.image_set import ImageSet
from openworld.datasets.published import imagenet_variants, openood, small_images
from openworld.datasets.published.catalogue import VARIABLE, DatasetCard, cards, find, find_root
from openworld.datasets.published.class_folders import find_listing, read_names
from openworld.datasets.splits import coop_draw, draw_shots


def load(
    name: str,
    *,
    root: str | Path | None = None,
    domain: str | None = None,
    part: str = "test",
    shots: int | None = None,
    seed: int = 0,
) -> ImageSet:
    """Return a part of a data set that was downloaded, in the order of its lists.

    Of "validation", `shots` are the min(shots, 4) per class that CoOp draws after those of "train". The draw is over
    all classes: runs on base classes and on all of them share their images. Domains are a region of FMoW, "source" or
    "target" of BREEDS, "fog 3" of CIFAR-10-C (an underscore or a space in "gaussian_noise 3"), a variant or a
    corruption for ImageNet-200, a set of a benchmark; None is the first. The options are those of `datasets.load`.
    Raises OpenworldError without a root, for an unknown domain or part, and for files that are missing or not as
    expected.
    """
    card = find(name)
    if card.family == "openood":
        domain = domain or ""
        images = openood.read(name, root, domain, part)
    else:
        if domain and card.domains == ("",):
            raise OpenworldError(f"{name!r} has no domains, so no {domain!r}; leave the domain out.")
        by_page = {one.replace("_", " "): one for one in card.domains}  # pages write spaces
        domain = card.domains[0] if domain is None else by_page.get(domain.replace("_", " "), domain)
        for kind, value, known in (("domain", domain, card.domains), ("part", part, card.parts)):
            if value not in known:
                raise unknown_name(f"{kind} of {name}", value, [one or "''" for one in known])
        folder = find_root(root)
        if card.has_lists:
            return _listed(card, folder, part, shots, seed)
        _require_folder(card, folder)
        images = READERS[card.reader](card, folder, domain, part)
    if shots is not None:
        images = images.subset(draw_shots(images.labels, shots, seed))
    return replace(images, name=name, domain=domain)


def read(name: str, root: str | Path | None, parts: tuple[str, ...]) -> Split:
    """What a data set's lists say: class names, WordNet ids and images, whether or not these are there."""
    card, folder = find(name), find_root(root)
    _require_folder(card, folder)
    return card.split(folder, parts)


@checked
def imagenet_labels(name: str, root: str | Path | None = None) -> np.ndarray:
    """Return ImageNet's label of every class of ImageNet or a variant, int64[C], increasing, joined by WordNet id.

    `name` is "imagenet", "imagenetv2", "imagenet-sketch", "imagenet-a" or "imagenet-r"; `root` as for `load`. There are
    1,000 labels, 200 for A and R. Raises OpenworldError for another data set, or files that are missing.
    """
    card = find(name)
    if card.layout is None:
        raise OpenworldError(f"{name!r} has no WordNet ids; only ImageNet and its variants have.")
    every, _ = read_names(find_listing(find_root(root) / card.folder))
    place = {wordnet_id: label for label, wordnet_id in enumerate(every)}
    return np.array([place[one] for one in read(name, root, ("test",)).wordnet_ids], dtype=np.int64)


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


def _require_folder(card: DatasetCard, root: Path) -> None:
    place = card.folder_in(root)
    if not place.is_dir():
        raise OpenworldError(
            f"there is no folder {place}. {_check_says(card.name, root)} what to download and where to put it."
        )


def _listed(card: DatasetCard, root: Path, part: str, shots: int | None, seed: int) -> ImageSet:
    """Return the images of a data set with lists; of a draw, only those that are drawn are looked for."""
    beside = part == "validation" and shots is not None
    rows = (split := read(card.name, root, ("train", part) if beside else (part,))).parts
    if beside:
        chosen = coop_draw(rows["train"].labels, rows[part].labels, shots, seed)[1]
    else:
        chosen = draw_shots(rows[part].labels, shots, seed)
    try:
        return files.image_set(card.name, root / card.folder / card.images, split.classnames, rows[part], chosen)
    except OpenworldError as error:
        raise OpenworldError(f"{error} {_check_says(card.name, root)} all that is missing or wrong.") from error


FMOW_PARTS = {
    "train": ("train", 0, 2013),
    "validation": ("val", 0, 2013),
    "id_test": ("test", 0, 2013),
    "ood_validation": ("val", 2013, 2016),
    "test": ("test", 2016, 9999),
}
"""Part of FMoW-WILDS -> the split that rgb_metadata.csv names, the first year, and the year after the last. WILDS calls
"validation" id_val, and "ood_validation" val. Parts are cut by time, as p-lambda/wilds @ 8018dd0 does ("official"):
images from before 2013 train and validate, those of 2013 to 2015 are its out-of-distribution validation, and those from
2016 on its test."""

FMOW_NAMES: tuple[str, ...] = cards()["fmow"].classnames
"""Its 62 classes in label order."""

_FMOW_COLUMNS = ("split", "category", "country_code", "timestamp")


def _read_fmow(card: DatasetCard, root: Path, region: str, part: str) -> ImageSet:
    """Return the images of a part of FMoW, of one region or of all (""), in the order of rgb_metadata.csv.

    FMoW-WILDS shows what land is used for, from above, over years and regions (Christie et al., 2018; Koh et al.,
    2021). The folder is WILDS' own: rgb_metadata.csv (a row per image, in the order of the image files),
    country_code_mapping.csv and images/rgb_img_ROW.png.
    """
    # All includes those that lie in no region.
    folder, (split, first, end) = card.folder_in(root), FMOW_PARTS[part]
    countries = _rows(folder / "country_code_mapping.csv", ("alpha-3", "region")) if region else ()
    regions = {row["alpha-3"]: row["region"] for row in countries}
    labels = {name: label for label, name in enumerate(FMOW_NAMES)}
    listing, paths, labelled = folder / "rgb_metadata.csv", [], []
    for number, row in enumerate(_rows(listing, _FMOW_COLUMNS)):
        if row["split"] != split:
            continue
        year = (row["timestamp"] or "")[:4]  # such as 2016-02-04T17:36:37Z; all are in UTC, so the year alone decides
        if not year.isdecimal():
            raise OpenworldError(f"{listing}, row {number}: time {row['timestamp']!r}, expected a date; get it again.")
        if not first <= int(year) < end:
            continue
        if region and regions.get(row["country_code"]) != region:
            continue
        if row["category"] not in labels:
            raise OpenworldError(f"{listing}, row {number} has the unknown class {row['category']!r}; get it again.")
        paths.append(f"images/rgb_img_{number}.png")
        labelled.append(labels[row["category"]])
    return files.image_set(card.name, folder, FMOW_NAMES, ImageRows(tuple(paths), np.array(labelled, dtype=np.int64)))


def _rows(path: Path, columns: tuple[str, ...]) -> Iterator[dict[str, str]]:
    with reading(path, "a table", csv.Error, UnicodeDecodeError), path.open(newline="", encoding="utf-8") as file:
        rows = csv.DictReader(file)
        missing = [column for column in columns if column not in (rows.fieldnames or ())]
        if missing:
            raise OpenworldError(f"{path} has no column {missing[0]!r}; get it again.")
        yield from rows


READERS: dict[str, Callable[[DatasetCard, Path, str, str], ImageSet]] = {
    **dict.fromkeys(small_images.TABLES, small_images.read),
    "fmow": _read_fmow,
    "imagenet-200": imagenet_variants.read_200,
    "imagenet-c": imagenet_variants.read_c,
    "breeds": imagenet_variants.read_breeds,
    "tiny-imagenet": imagenet_variants.read_tiny,
    "tiny-imagenet-c": imagenet_variants.read_tiny_c,
}
"""Reader of a card -> what makes its image set of (card, folder of all data sets, domain, part); lists and class
folders are read by the card itself."""
