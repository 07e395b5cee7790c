"""Data sets by name: what loads one, and which parts it has, told before any image is read."""

import pytest

from openworld.core.errors import OpenworldError
from openworld.datasets import DATASETS, ImageSet, has_part, load
from openworld.datasets.cards import is_folder


@pytest.mark.parametrize("name", [name for name, card in DATASETS.items() if not card.download])
def test_every_card_loads_every_part_in_its_default_domain(name):
    card = DATASETS[name]
    for part in card.parts:
        images = load(name, part=part)
        assert isinstance(images, ImageSet)
        assert images.name == name and images.domain == card.domains[0]
    assert card.summary and load(name, domain="noto-v1").domain == "noto-v1"


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


def test_a_name_of_a_data_set_is_no_folder_whatever_lies_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("dtd", "mine"):
        (tmp_path / name).mkdir()
    assert [is_folder(name) for name in ("dtd", "mine", "list.csv", "other", "other/one")] == [0, 1, 0, 0, 1]


@pytest.mark.parametrize("name", ["validation", "val"])
def test_parts_of_a_folder_and_of_a_list(tmp_path, name):
    (tmp_path / "photos" / name / "cat").mkdir(parents=True)
    assert has_part(str(tmp_path), "validation", "photos")
    assert not has_part(str(tmp_path), "validation")
    assert not has_part(str(tmp_path), "test", "photos")
    (tmp_path / "mine.csv").write_text(f"path,label,split\na.png,cat,train\nb.png,cat,{name}\n")
    (tmp_path / "plain.csv").write_text("path,label\na.png,cat\n")
    assert [has_part(str(tmp_path / "mine.csv"), part) for part in ("train", "validation", "test")] == [1, 1, 0]
    assert [has_part(str(tmp_path / "plain.csv"), part) for part in ("train", "validation", "test")] == [0, 0, 1]
