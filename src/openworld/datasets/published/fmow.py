"""FMoW-WILDS: what land is used for, from above, over years and regions (Christie et al., 2018; Koh et al., 2021).

The folder is WILDS' own: rgb_metadata.csv (a row per image, in the order of the image files), country_code_
mapping.csv and images/rgb_img_ROW.png. Parts are cut by time, as p-lambda/wilds @ 8018dd0 does ("official"): images
from before 2013 train and validate, those of 2013 to 2015 are its out-of-distribution validation, and those from 2016
on its test.
"""

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from openworld.core.errors import OpenworldError
from openworld.core.plain_files import reading
from openworld.datasets.formats import files
from openworld.datasets.formats.split_files import ImageRows
from openworld.datasets.image_set import ImageSet
from openworld.datasets.published.catalogue import DatasetCard, cards

PARTS = {
    "train": ("train", 0, 2013),
    "validation": ("val", 0, 2013),
    "id_test": ("test", 0, 2013),
    "ood_validation": ("val", 2013, 2016),
    "test": ("test", 2016, 9999),
}
"""Part -> the split that rgb_metadata.csv names, the first year, and the year after the last. WILDS calls
"validation" id_val, and "ood_validation" val."""

REGIONS = ("Africa", "Americas", "Asia", "Europe", "Oceania")

NAMES: tuple[str, ...] = cards()["fmow"].classnames
"""The 62 classes in label order."""

_COLUMNS = ("split", "category", "country_code", "timestamp")


def read(card: DatasetCard, root: Path, region: str, part: str) -> ImageSet:
    """Return the images of a part, of one region or of all (""), in the order of rgb_metadata.csv."""
    # All includes those that lie in no region.
    folder, (split, first, end) = card.folder_in(root), PARTS[part]
    countries = _rows(folder / "country_code_mapping.csv", ("alpha-3", "region")) if region else ()
    regions = {row["alpha-3"]: row["region"] for row in countries}
    labels = {name: label for label, name in enumerate(NAMES)}
    listing, paths, labelled = folder / "rgb_metadata.csv", [], []
    for number, row in enumerate(_rows(listing, _COLUMNS)):
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
    return files.image_set(card.name, folder, NAMES, ImageRows(tuple(paths), np.array(labelled, dtype=np.int64)))


def _rows(path: Path, columns: tuple[str, ...]) -> Iterator[dict[str, str]]:
    with reading(path, "a table", csv.Error, UnicodeDecodeError), path.open(newline="", encoding="utf-8") as file:
        rows = csv.DictReader(file)
        missing = [column for column in columns if column not in (rows.fieldnames or ())]
        if missing:
            raise OpenworldError(f"{path} has no column {missing[0]!r}; get it again.")
        yield from rows
