"""Which parts a data set has, told before any picture is read."""

import pytest

from openworld import OpenworldError
from openworld.datasets import has_part


def test_of_data_sets_by_name():
    assert has_part("emoji-groups", "validation") and has_part("dtd", "validation")
    assert not has_part("imagenet", "validation") and not has_part("imagenet-r", "train")


@pytest.mark.parametrize("name", ["validation", "val"])
def test_of_a_folder(tmp_path, name):
    (tmp_path / "photos" / name / "cat").mkdir(parents=True)
    assert has_part(str(tmp_path), "validation", "photos")
    assert not has_part(str(tmp_path), "validation")
    assert not has_part(str(tmp_path), "test", "photos")


def test_of_a_list(tmp_path):
    (tmp_path / "mine.csv").write_text("path,label,split\na.png,cat,train\nb.png,cat,val\n")
    (tmp_path / "plain.csv").write_text("path,label\na.png,cat\n")
    assert [has_part(str(tmp_path / "mine.csv"), part) for part in ("train", "validation", "test")] == [1, 1, 0]
    assert [has_part(str(tmp_path / "plain.csv"), part) for part in ("train", "validation", "test")] == [0, 0, 1]


def test_of_shards(tmp_path):
    for part in ("train", "val"):
        (tmp_path / f"{part}-000.tar").touch()
    pattern = str(tmp_path / "{part}-*.tar")
    assert [has_part(pattern, part) for part in ("train", "validation", "test")] == [1, 1, 0]
    assert has_part(str(tmp_path / "*-000.tar"), "test") and not has_part(str(tmp_path / "*-000.tar"), "validation")


def test_an_unknown_part_is_refused():
    with pytest.raises(OpenworldError, match="unknown part 'valid'"):
        has_part("emoji-groups", "valid")
