"""FMoW-WILDS: what land is used for, from above, over years and regions (Christie et al., 2018; Koh et al., 2021).

The folder is WILDS' own: rgb_metadata.csv (a row per picture, in the order of the picture files), country_code_
mapping.csv and images/rgb_img_ROW.png. Parts are cut by time, as p-lambda/wilds @ 8018dd0 does ("official"): pictures
from before 2013 train and validate, those of 2013 to 2015 are its out-of-distribution validation, and those from 2016
on its test.
"""

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from openworld._errors import OpenworldError
from openworld._plain import reading
from openworld.datasets.formats.split_files import ImageRows

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

_IN_ORDER = """
    airport airport_hangar airport_terminal amusement_park aquaculture archaeological_site barn border_checkpoint
    burial_site car_dealership construction_site crop_field dam debris_or_rubble educational_institution
    electric_substation factory_or_powerplant fire_station flooded_road fountain gas_station golf_course
    ground_transportation_station helipad hospital impoverished_settlement interchange lake_or_pond lighthouse
    military_facility multi-unit_residential nuclear_powerplant office_building oil_or_gas_facility park
    parking_lot_or_garage place_of_worship police_station port prison race_track railway_bridge recreational_facility
    road_bridge runway shipyard shopping_mall single-unit_residential smokestack solar_farm space_facility stadium
    storage_tank surface_mine swimming_pool toll_booth tower tunnel_opening waste_disposal water_treatment_facility
    wind_farm zoo
"""

NAMES = tuple(_IN_ORDER.split())
"""The 62 classes in label order."""

_COLUMNS = ("split", "category", "country_code", "timestamp")


def read_fmow(folder: Path, part: str, region: str = "") -> ImageRows:
    """Return the images of a part, of one region or of all (""), in the order of rgb_metadata.csv."""
    # All includes those that lie in no region.
    split, first, end = PARTS[part]
    countries = _rows(folder / "country_code_mapping.csv", ("alpha-3", "region")) if region else ()
    regions = {row["alpha-3"]: row["region"] for row in countries}
    labels = {name: label for label, name in enumerate(NAMES)}
    listing, paths, found = folder / "rgb_metadata.csv", [], []
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
        found.append(labels[row["category"]])
    return ImageRows(tuple(paths), np.array(found, dtype=np.int64))


def _rows(path: Path, columns: tuple[str, ...]) -> Iterator[dict[str, str]]:
    with reading(path, "a table", csv.Error, UnicodeDecodeError), path.open(newline="", encoding="utf-8") as file:
        rows = csv.DictReader(file)
        missing = [column for column in columns if column not in (rows.fieldnames or ())]
        if missing:
            raise OpenworldError(f"{path} has no column {missing[0]!r}; get it again.")
        yield from rows
