"""Pictures without labels: every file once, in the order of their names."""

import os

import pytest
from PIL import Image

from openworld import OpenworldError
from openworld.datasets.formats import unlabelled_folder


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "below").mkdir()
    for name in ("b.png", "a.png", "below/c.png"):
        Image.new("RGB", (2, 2), "red").save(tmp_path / name)
    (tmp_path / "notes.txt").write_text("no picture")
    return tmp_path


def test_files_and_folders_each_once(folder):
    found = unlabelled_folder.find_pictures([folder / "b.png", folder])
    assert [path.name for path in found] == ["b.png", "a.png", "c.png"]
    images = unlabelled_folder.load(found, "mine")
    assert len(images) == 3 and images.name == "mine" and images.image(1).getpixel((0, 0)) == (255, 0, 0)


def test_what_is_not_there(folder):
    with pytest.raises(OpenworldError, match="there is no file or folder"):
        unlabelled_folder.find_pictures([folder / "z.png"])
    (folder / "empty").mkdir()
    with pytest.raises(OpenworldError, match="empty holds no image ending in"):
        unlabelled_folder.find_pictures([folder / "empty"])


def test_a_pipe_and_a_name_that_is_not_text_are_refused(folder):
    os.mkfifo(folder / "pipe.png")
    with pytest.raises(OpenworldError, match="pipe.png is no plain file"):
        unlabelled_folder.find_pictures([folder / "pipe.png"])
    assert "pipe.png" not in [path.name for path in unlabelled_folder.find_pictures([folder])]
    os.rename(folder / "pipe.png", folder / "pipe.txt")
    os.rename(folder / "a.png", os.fsencode(folder) + b"/caf\xe9.png")
    with pytest.raises(OpenworldError, match="not UTF-8"):
        unlabelled_folder.find_pictures([folder])


def test_hidden_files_and_folders_are_left_out_unless_they_are_named(folder):
    (folder / ".ipynb_checkpoints").mkdir()
    for name in (".ipynb_checkpoints/a.png", "below/._c.png"):
        Image.new("RGB", (2, 2)).save(folder / name)
    assert [path.name for path in unlabelled_folder.find_pictures([folder])] == ["a.png", "b.png", "c.png"]
    assert unlabelled_folder.find_pictures([folder / "below" / "._c.png"]) == [folder / "below" / "._c.png"]
    os.remove(folder / "below" / "c.png")
    with pytest.raises(OpenworldError, match=r"no image but hidden ones \(._c.png, ...\)"):
        unlabelled_folder.find_pictures([folder / "below"])
