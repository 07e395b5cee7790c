"""The cards say what the papers' table of data sets says."""

import pytest

from openworld.datasets import DATASETS, PUBLISHED, SHIFTED, templates
from openworld.datasets.published.catalogue import cards
from openworld.datasets.published.class_folders import ClassFolders
from openworld.datasets.published.downloaded import READERS


def test_each_is_listed_with_addresses_and_a_sentence():
    for name, card in (PUBLISHED | SHIFTED).items():
        assert DATASETS[name] is card and card.download
        assert name in templates.TEMPLATES or name in SHIFTED
        if name in PUBLISHED and name != "fgvc_aircraft":  # whose lists lie in its archive
            assert set(card.listings) <= {what for what, _ in card.sources}


@pytest.mark.parametrize("card", cards().values(), ids=cards())
def test_every_card_of_the_file_is_whole(card):
    assert card.family in ("coop", "shifted", "openood", "") and card.title and card.into and card.licence
    assert card.files or card.needs
    assert all(file.address.startswith("http") and file.what for file in card.files)
    assert set(card.needs) <= set(cards())
    assert bool(card.place) is not bool(card.family)
    if card.family:
        assert card.classes > 1 and card.what and card.parts and "test" in card.parts
        assert all(count is None or count > 0 for count in card.counts.values())
        assert len(set(card.domains)) == len(card.domains) and set(card.alike) <= set(card.domains)
    if card.family in ("coop", "shifted"):
        assert card.folder and (card.folder in card.into or card.name == "imagenet-200")
        assert card.has_lists or card.reader in READERS
        assert isinstance(card.layout, ClassFolders) is (card.reader == "class folders")
        assert card.layout is None or set(card.layout.places) == set(card.parts)
    for own in (*card.listed.values(), *card.sets.values()):
        assert own.group in ("id", "near", "far", "full-spectrum", "validation")
        assert own.title and own.archive and own.images.startswith("images_")
        assert own.lists and all(place.endswith(".txt") for place in own.lists)
