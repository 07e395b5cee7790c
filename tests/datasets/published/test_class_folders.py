import shutil

import pytest
from trees import picture, plant

from openworld.core.errors import OpenworldError
from openworld.datasets import load
from openworld.datasets.published.class_folders import read_names


@pytest.mark.parametrize(
    ("listing", "message"),
    [
        ("n01 tench\nn02\n", "line 'n02'"),
        ("n02 goldfish\nn01 tench\n", "lists n01 after n02"),
        ("n01 tench\nn01 goldfish\n", "lists n01 after n01"),
    ],
)
def test_a_wrong_list_of_names_is_refused(tmp_path, listing, message):
    (tmp_path / "classnames.txt").write_text(listing)
    with pytest.raises(OpenworldError, match=message):
        read_names(tmp_path / "classnames.txt")


def test_a_missing_class_folder_never_shifts_labels(tmp_path):
    tree = plant(tmp_path, "imagenet")
    shutil.rmtree(tree.images / "val" / "n01443537")
    with pytest.raises(OpenworldError, match="lacks 1 of 12 class folders, such as n01443537"):
        load("imagenet", root=tmp_path)
    assert len(load("imagenet", root=tmp_path, part="train")) == 36


def test_a_folder_that_no_class_has_is_named(tmp_path):
    tree = plant(tmp_path, "imagenet-sketch")
    (tree.images / "n99999999").mkdir()
    with pytest.raises(OpenworldError, match="1 folder.* does not name, such as n99999999"):
        load("imagenet-sketch", root=tmp_path)


def test_hidden_files_and_other_files_are_passed_over(tmp_path):
    tree = plant(tmp_path, "imagenet-r")
    picture(tree.images / "n01440764" / "._x.jpg", 1)
    (tree.images / "n01440764" / "notes.txt").write_text("x")
    assert len(load("imagenet-r", root=tmp_path)) == 6
