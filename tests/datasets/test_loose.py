"""Pictures without labels: every file once, in the order of their names."""

import pytest
from PIL import Image

from openworld import OpenworldError
from openworld.datasets import loose


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "below").mkdir()
    for name in ("b.png", "a.png", "below/c.png"):
        Image.new("RGB", (2, 2), "red").save(tmp_path / name)
    (tmp_path / "notes.txt").write_text("no picture")
    return tmp_path


def test_files_and_folders_each_once(folder):
    found = loose.find_pictures([folder / "b.png", folder])
    assert [path.name for path in found] == ["b.png", "a.png", "c.png"]
    images = loose.load(found, "mine")
    assert len(images) == 3 and images.name == "mine" and images.image(1).getpixel((0, 0)) == (255, 0, 0)


def test_what_is_not_there(folder):
    with pytest.raises(OpenworldError, match="there is no file or folder"):
        loose.find_pictures([folder / "z.png"])
    (folder / "empty").mkdir()
    with pytest.raises(OpenworldError, match="empty holds no picture ending in"):
        loose.find_pictures([folder / "empty"])
