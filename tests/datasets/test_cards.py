import pytest

from openworld.core.errors import OpenworldError
from openworld.datasets import DATASETS, ImageSet, load


@pytest.mark.parametrize("name", [name for name, card in DATASETS.items() if not card.download])
def test_every_card_loads_every_part_in_its_default_domain(name):
    card = DATASETS[name]
    for part in card.parts:
        images = load(name, part=part)
        assert isinstance(images, ImageSet)
        assert images.name == name
        assert images.domain == card.domains[0]
    assert card.summary


def test_a_domain_is_passed_on():
    assert load("emoji-groups", domain="noto-v1").domain == "noto-v1"


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("emoji-concept", {}, "did you mean 'emoji-concepts'"),
        ("/no/such/folder", {}, "no folder /no/such/folder"),
        ("emoji-groups", {"domain": "twitter"}, "unknown style"),
        ("emoji-groups", {"part": "test", "shots": 4}, "test images are fixed"),
    ],
)
def test_what_is_not_there_is_named(name, options, message):
    with pytest.raises(OpenworldError, match=message):
        load(name, **options)
