"""The cards say what the papers' table of data sets says."""

import pytest

from openworld.datasets import DATASETS, PUBLISHED, SHIFTED, base_new_split, templates
from openworld.datasets.published.catalogue import cards
from openworld.datasets.published.class_folders import ClassFolders
from openworld.datasets.published.downloaded import READERS

TABLE = {  # classes, base, new, train, validation, test
    "imagenet": (1000, 500, 500, 1_281_167, None, 50_000),
    "caltech101": (100, 50, 50, 4128, 1649, 2465),
    "oxford_pets": (37, 19, 18, 2944, 736, 3669),
    "stanford_cars": (196, 98, 98, 6509, 1635, 8041),
    "oxford_flowers": (102, 51, 51, 4093, 1633, 2463),
    "food101": (101, 51, 50, 50_500, 20_200, 30_300),
    "fgvc_aircraft": (100, 50, 50, 3334, 3333, 3333),
    "sun397": (397, 199, 198, 15_880, 3970, 19_850),
    "dtd": (47, 24, 23, 2820, 1128, 1692),
    "eurosat": (10, 5, 5, 13_500, 5400, 8100),
    "ucf101": (101, 51, 50, 7639, 1898, 3783),
    "imagenetv2": (1000, 500, 500, None, None, 10_000),
    "imagenet-sketch": (1000, 500, 500, None, None, 50_889),
    "imagenet-a": (200, 100, 100, None, None, 7500),
    "imagenet-r": (200, 100, 100, None, None, 30_000),
}


def test_counts_are_the_published_ones():
    for name, expected in TABLE.items():
        card = PUBLISHED[name]
        counts = [card.counts.get(part) for part in ("train", "validation", "test")]
        assert (card.classes, *map(len, base_new_split(card.classes)), *counts) == expected, name


def test_each_is_listed_with_addresses_and_a_sentence():
    for name, card in (PUBLISHED | SHIFTED).items():
        assert DATASETS[name].download and DATASETS[name].domains == card.domains
        assert DATASETS[name].parts == card.parts
        assert all(address.startswith("http") for _, address in card.sources)
        assert name in templates.TEMPLATES or name in SHIFTED
        if name in PUBLISHED and name != "fgvc_aircraft":  # whose lists lie in its archive
            assert set(card.listings) <= {what for what, _ in card.sources}


@pytest.mark.parametrize("card", cards().values(), ids=cards())
def test_every_card_of_the_file_is_whole(card):
    assert card.family in ("coop", "shifted", "openood", "") and card.title and card.into and card.licence
    assert card.files or card.needs
    assert set(card.needs) <= set(cards())
    assert bool(card.place) is not bool(card.family)
    if card.family:
        assert card.classes > 1 and card.what and card.parts and "test" in card.parts
        assert all(count is None or count > 0 for count in card.counts.values())
        assert len(set(card.domains)) == len(card.domains) and set(card.alike) <= set(card.domains)
    if card.family in ("coop", "shifted"):
        assert card.folder
        assert card.has_lists or card.reader in READERS
        assert isinstance(card.layout, ClassFolders) is (card.reader == "class folders")
        assert card.layout is None or set(card.layout.places) == set(card.parts)
    for own in (*card.listed.values(), *card.sets.values()):
        assert own.group in ("id", "near", "far", "full-spectrum", "validation")
        assert own.title and own.archive and own.images.startswith("images_")
        assert own.lists and all(place.endswith(".txt") for place in own.lists)
